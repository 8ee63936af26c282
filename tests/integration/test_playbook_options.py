# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Every option of the playbooks as text and as JSON, and what is refused in a sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.control_plane.space import Space

from .playbooks import DOCTOR, ENTER, EXIT, STATUS, Playbooks

# The value of each option that differs from its default least, as JSON gives it.
OPTIONS: dict[str, Any] = {
    "reason": "disk swap",
    "batch": 1,
    "exit_after": False,
    "settle": False,
    "settle_timeout": "5m",
    "delete_emptydir_data": False,
    "ignore_daemonsets": True,
    "force": False,
    "disable_eviction": False,
    "grace_period_seconds": 3,
    "fragile": "evict",
    "fenced": False,
    "allow_last": False,
    "max_parallel": 2,
    "wait_timeout": 120,
    "on_refusal": "continue",
    "protect_from_autoscalers": False,
    "rebooted": False,
    "back_timeout": "5m",
    "annotation_prefix": "fleet.evenkeel.dev/",
    "state_namespace": "kube-system",
    "cluster": "test",
}


@pytest.mark.parametrize("as_json", [pytest.param(True, id="json"), pytest.param(False, id="text")])
def test_each_option_is_taken_and_false_is_false(
    space: Space, tmp_path: Path, as_json: bool
) -> None:
    first, _second = space.nodes(2)
    space.deployment("web", 1, node=first)
    space.wait_running()
    books = Playbooks(tmp_path, space.kubeconfig())
    nodes = [first] if as_json else first

    ran = books.run(ENTER, {"nodes": nodes, **OPTIONS}, as_json=as_json).good()

    assert ran.named("Give the nodes back") == []
    assert ran.named("Wait until what moved") == []
    (posted,) = [write for write in space.writes() if write.subresource == "eviction"]
    assert posted.body["deleteOptions"]["gracePeriodSeconds"] == 3
    found = space.node(first)["metadata"]["annotations"]
    assert "karpenter.sh/do-not-disrupt" not in found
    assert found["fleet.evenkeel.dev/maintenance-message"] == "disk swap"
    assert books.run(EXIT, {"nodes": nodes, "rebooted": "false"}, as_json=as_json).good().changed


REFUSALS = [
    pytest.param(ENTER, {}, (), "Set exactly one of nodes, node_selector and where.", id="no-node"),
    pytest.param(ENTER, {"nodes": "no-such-node"}, (), "Node no-such-node: not in", id="unknown"),
    pytest.param(EXIT, {"nodes": ""}, (), "was given, but empty", id="exit-of-an-empty-variable"),
    pytest.param(EXIT, {"nodes": "no-such-node"}, (), "not in this cluster", id="exit-unknown"),
    pytest.param(STATUS, {"where": "zone=="}, (), "position", id="bad-expression"),
    pytest.param(DOCTOR, {"node_selector": "no=such"}, (), "matches none", id="nothing-selected"),
    pytest.param(
        ENTER,
        {"nodes": "n1", "maintenance_tasks": "typo.yml"},
        (),
        "Task file not found",
        id="no-such-task-file",
    ),
    pytest.param(
        ENTER,
        {"nodes": "n1"},
        ("-i", "web-1,", "--limit", "web-1"),
        "Choose nodes with -e nodes=",
        id="a-limit-that-hides-the-work",
    ),
]


@pytest.mark.parametrize(("name", "options", "flags", "words"), REFUSALS)
def test_a_refusal_is_a_sentence_and_nothing_is_written(
    space: Space,
    tmp_path: Path,
    name: str,
    options: dict[str, Any],
    flags: tuple[str, ...],
    words: str,
) -> None:
    ran = Playbooks(tmp_path, space.kubeconfig()).run(name, options, *flags)
    assert ran.returncode != 0
    assert words in ran.message
    assert space.writes() == []


def test_a_count_of_nodes_that_is_none_is_refused(space: Space, tmp_path: Path) -> None:
    (first,) = space.nodes(1)
    ran = Playbooks(tmp_path, space.kubeconfig()).run(ENTER, {"nodes": first, "batch": "half"})
    assert ran.returncode != 0
    assert "neither a count" in ran.stdout
    assert space.writes() == []


def test_nodes_are_chosen_by_where(space: Space, tmp_path: Path) -> None:
    first, second, _third = space.nodes(3, zones=("a", "b", "c"))
    space.patch_node(second, {"metadata": {"labels": {"mine": space.id}}})
    books = Playbooks(tmp_path, space.kubeconfig())
    books.run(ENTER, {"where": f"zone=='b' && labels.mine=='{space.id}'"}, as_json=True).good()
    closed = [name for name in space.node_names if space.node(name)["spec"].get("unschedulable")]
    assert closed == [second]
