# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The module cordon through ansible-playbook, in the controller's process and in one of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.control_plane.space import Space

from .playing import ELSEWHERE, Stage

pytestmark = pytest.mark.smoke

HERE: dict[str, Any] = {}
both_ways = pytest.mark.parametrize(
    "way", [pytest.param(HERE, id="in-process"), pytest.param(ELSEWHERE, id="as-a-module")]
)


@pytest.fixture
def stage(space: Space, tmp_path: Path) -> Stage:
    return Stage(tmp_path, space.kubeconfig())


@both_ways
def test_a_node_is_closed_once_and_the_second_run_changes_nothing(
    space: Space, stage: Stage, way: dict[str, Any]
) -> None:
    first, second = space.nodes(2)
    task = {"evenkeel.fleet.cordon": {"nodes": [first], "reason": "fan"}, **way}
    once, again = stage.play([task, task]).results
    assert (once["changed"], once["failed"], once["cordoned"]) == (True, False, [first])
    assert once["result"]["done"] == [
        {"workload": "", "node": first, "action": "cordon", "code": "cordoned", "detail": ""}
    ]
    assert (again["changed"], again["result"]["done"]) == (False, [])
    assert ("timeline" in once) is bool(way)
    assert space.node(first)["spec"]["unschedulable"] is True
    assert "unschedulable" not in space.node(second)["spec"]


@both_ways
def test_check_mode_predicts_with_a_diff_and_writes_nothing(
    space: Space, stage: Stage, way: dict[str, Any]
) -> None:
    (name,) = space.nodes(1)
    arguments = {"nodes": name}
    predicted, real = stage.play(
        [
            {"evenkeel.fleet.cordon": arguments, "check_mode": True, **way},
            {"evenkeel.fleet.cordon": arguments, **way},
        ]
    ).results
    assert predicted["result"] == real["result"]
    assert predicted["changed"] is real["changed"] is True
    assert set(predicted["diff"]) == {"before", "after"}
    assert [write.verb for write in space.writes() if write.resource == "nodes"] == ["patch"]


def test_diff_mode_shows_the_node_before_and_after(space: Space, stage: Stage) -> None:
    (name,) = space.nodes(1)
    played = stage.play([{"evenkeel.fleet.cordon": {"nodes": name}}], ["--diff", "--check"])
    assert "--- before" in played.stdout
    assert "+++ after" in played.stdout


@pytest.mark.parametrize(
    "nodes",
    [
        pytest.param("{first}", id="one-name"),
        pytest.param("{first},{second}", id="names-with-a-comma"),
        pytest.param("{first}, {second}", id="names-with-a-comma-and-a-blank"),
    ],
)
def test_nodes_are_given_as_text_on_the_command_line(
    space: Space, stage: Stage, nodes: str
) -> None:
    first, second = space.nodes(2)
    text = nodes.format(first=first, second=second)
    task = {"evenkeel.fleet.cordon": {"nodes": "{{ wanted }}"}}
    played = stage.play([task], ["-e", f"wanted='{text}'"])
    assert played.results[0]["cordoned"] == [first, second][: text.count(",") + 1]


def test_nodes_and_labels_are_given_as_json(space: Space, stage: Stage) -> None:
    names = space.nodes(2, labels={"rack": "true"})
    task = {
        "evenkeel.fleet.cordon": {
            "nodes": "{{ wanted | default(omit) }}",
            "node_selector": "{{ labels | default(omit) }}",
        }
    }
    by_name = stage.play([task], ["-e", f'{{"wanted": ["{names[0]}"]}}']).results[0]
    by_label = stage.play(
        [task], ["-e", f'{{"labels": {{"rack": true, "test-space": "{space.id}"}}}}']
    ).results[0]
    assert (by_name["cordoned"], by_label["cordoned"]) == ([names[0]], [names[1]])
