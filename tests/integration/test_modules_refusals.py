# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What is wrong is told in one clear sentence, with the whole shape, before any write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.control_plane.space import Space

from .playing import ELSEWHERE, Stage


@pytest.fixture
def stage(space: Space, tmp_path: Path) -> Stage:
    return Stage(tmp_path, space.kubeconfig())


REFUSALS = [
    pytest.param(
        "cordon", {"nodes": "no-such-node"}, "unknown_nodes", "no-such-node", id="unknown-node"
    ),
    pytest.param("cordon", {}, "invalid_option", "exactly one of", id="no-selection"),
    pytest.param(
        "cordon",
        {"nodes": "n1", "where": "ready"},
        "invalid_option",
        "nodes and by where",
        id="two-selections",
    ),
    pytest.param(
        "cordon",
        {"node_selector": "no-such-label=x"},
        "nothing_selected",
        "no-such-label=x",
        id="a-selector-that-matches-nothing",
    ),
    pytest.param(
        "cordon", {"node_selector": "a in b"}, "invalid_option", "node_selector", id="bad-selector"
    ),
    pytest.param(
        "cordon", {"where": "zone=='a"}, "invalid_option", "position", id="bad-expression"
    ),
    pytest.param(
        "cordon", {"nodes": "n1", "state": "shut"}, "invalid_option", "state", id="bad-choice"
    ),
    pytest.param(
        "cordon", {"nodes": "n1", "colour": "red"}, "invalid_option", "colour", id="unknown-option"
    ),
    pytest.param(
        "settle",
        {"nodes": "n1", "wait_timeout": "soon"},
        "invalid_option",
        "wait_timeout: not a duration: 'soon'.",
        id="bad-duration",
    ),
    pytest.param(
        "cordon",
        {"nodes": "n1", "kubeconfig": "/no/such/file"},
        "invalid_option",
        "kubeconfig: ",
        id="no-such-kubeconfig",
    ),
    pytest.param(
        "cordon",
        {"nodes": "n1", "cluster": "production"},
        "wrong_cluster",
        "Cluster production",
        id="another-cluster-than-the-one-meant",
    ),
    pytest.param(
        "cordon",
        {
            "nodes": "n1",
            "host": "https://127.0.0.1:9",
            "api_key": "hush-hush",
            "validate_certs": False,
        },
        "unreachable",
        "127.0.0.1:9",
        id="unreachable",
    ),
]


@pytest.mark.parametrize(
    "way", [pytest.param({}, id="in-process"), pytest.param(ELSEWHERE, id="as-a-module")]
)
def test_a_refusal_is_a_sentence_with_a_code_and_nothing_is_written(
    space: Space, stage: Stage, way: dict[str, Any]
) -> None:
    """One play for the whole table: what costs time is the start of ansible-playbook."""
    rows = [row.values for row in REFUSALS]
    tasks = [{f"evenkeel.fleet.{module}": arguments, **way} for module, arguments, *_unused in rows]
    results = stage.play(tasks).results
    for (module, arguments, code, words), result in zip(rows, results):
        label = f"{module} {arguments}: {result['msg']}"
        assert result["failed"] is True, label
        assert result["changed"] is False, label
        assert result.get("code") == code, label
        assert words in result["msg"], label
        assert "hush-hush" not in str(result), label
        assert result["result"] == {"done": [], "skipped": [], "pending": [], "failed": []}, label
        assert result["duration"] >= 0, label
    assert space.writes() == []


def test_a_missing_verb_is_named_before_any_write(space: Space, tmp_path: Path) -> None:
    (name,) = space.nodes(1)
    roles = tmp_path / "roles.yml"
    roles.write_text(
        """
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reads-nodes}
rules:
  - {apiGroups: [""], resources: [nodes], verbs: [get, list, watch]}
"""
    )
    stage = Stage(tmp_path, space.kubeconfig("reader", roles=roles))
    result = stage.task("cordon", {"nodes": name, "allow_last": True})
    assert (result["failed"], result["changed"], result["code"]) == (True, False, "forbidden")
    assert "patch" in result["msg"]
    assert "nodes" in result["msg"]
    assert "unschedulable" not in space.node(name)["spec"]


def test_a_missing_library_is_named_with_the_interpreter_that_lacks_it(
    space: Space, stage: Stage, tmp_path: Path
) -> None:
    """The controller has it: the module is run by an interpreter that does not look there."""
    bare = tmp_path / "python-without-libraries"
    import sys

    bare.write_text(f'#!/bin/sh\nexec {sys._base_executable} -I -S "$@"\n')  # type: ignore[attr-defined]
    bare.chmod(0o755)
    result = stage.play(
        [
            {
                "evenkeel.fleet.cordon": {"nodes": "n1"},
                "vars": {"ansible_python_interpreter": str(bare)},
            }
        ]
    ).results[0]
    assert (result["failed"], result["changed"], result["code"]) == (True, False, "missing_library")
    assert "Python library kubernetes is missing for" in result["msg"]
