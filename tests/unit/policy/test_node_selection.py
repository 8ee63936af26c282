# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""policy/node_selection: exactly one way to select, unknown names, bad expressions."""

from __future__ import annotations

import sys

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import (
    InvalidOption,
    Refused,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.node_selection import (
    NodeSelection,
    check_selection,
    not_found,
    select,
)
from tests.unit.builders import fleet, node

ZONE = "topology.kubernetes.io/zone"
FLEET = fleet(
    node("n1", labels={ZONE: "z1", "pool": "web"}, kubelet_version="v1.36.4"),
    node("n2", labels={ZONE: "z1", "pool": "db"}),
    node("n3", labels={ZONE: "z2"}, kubelet_version="v1.36.4", cordoned=True),
    node("n4", labels={ZONE: "z2"}, allocatable={"cpu": 1, "memory": 1, "gpu": 2}),
)


@pytest.mark.parametrize(
    ("selection", "names"),
    [
        pytest.param(NodeSelection(nodes=("n3", "n1", "n3")), ["n1", "n3"], id="once-by-name"),
        pytest.param(NodeSelection(node_selector="pool in (web,db)"), ["n1", "n2"], id="labels"),
        pytest.param(
            NodeSelection(where="zone=='z1' && kubelet_minor < `37`"), ["n1"], id="an-expression"
        ),
        pytest.param(NodeSelection(where="!schedulable"), ["n3"], id="a-boolean-key"),
        pytest.param(NodeSelection(where="allocatable.gpu > `0`"), ["n4"], id="null-is-no-match"),
    ],
)
def test_selects(selection, names):
    assert [found.name for found in select(selection, FLEET)] == names


@pytest.mark.parametrize(
    ("selection", "option", "part"),
    [
        pytest.param(NodeSelection(), "nodes", "no node is selected", id="none-of-three"),
        pytest.param(
            NodeSelection(nodes=("n1",), where="ready"),
            "where",
            "selected by nodes and by where",
            id="two-of-three",
        ),
        pytest.param(NodeSelection(node_selector="a in b"), "node_selector", "", id="bad-labels"),
        pytest.param(
            NodeSelection(where="zone=='z1' && && ready"),
            "where",
            "at position 15, '&& ready'",
            id="position-of-the-wrong-token",
        ),
        pytest.param(
            NodeSelection(where="zone=='z1' &&"), "where", "at position 14", id="ends-too-early"
        ),
        pytest.param(NodeSelection(where="zone == #"), "where", "at position 9", id="bad-letter"),
    ],
)
def test_refuses_before_reading(selection, option, part):
    with pytest.raises(InvalidOption) as caught:
        check_selection(selection)
    assert caught.value.option == option
    assert part in str(caught.value)


@pytest.mark.parametrize(
    ("where", "part"),
    [
        ("zone", "gives 'z1' for node n1, which is not true or false"),
        ("kubelet_minor", "gives 36 for node n1"),
        ("length(ready)", "fails on node n1"),
        ("nonsense(ready)", "fails on node n1"),
    ],
)
def test_refuses_an_expression_that_does_not_answer(where, part):
    with pytest.raises(InvalidOption) as caught:
        select(NodeSelection(where=where), FLEET)
    assert part in str(caught.value)


@pytest.mark.parametrize(
    ("selection", "code", "part"),
    [
        (NodeSelection(nodes=("n9", "n1", "n7")), "unknown_nodes", "Nodes n7, n9: not in"),
        (NodeSelection(node_selector="pool=gpu"), "nothing_selected", "none of the 4 nodes"),
        (NodeSelection(where="zone=='z9'"), "nothing_selected", "none of the 4 nodes"),
    ],
)
def test_refuses_what_is_not_there(selection, code, part):
    with pytest.raises(Refused) as caught:
        select(selection, FLEET)
    assert caught.value.code == code
    assert part in str(caught.value)


def test_names_that_are_not_found_are_left_out_where_that_is_asked_for():
    some = NodeSelection(nodes=("n9", "n1", "n7"))
    assert [found.name for found in select(some, FLEET, ignore_not_found=True)] == ["n1"]
    assert not_found(some, FLEET) == ("n7", "n9")
    with pytest.raises(Refused):
        select(NodeSelection(node_selector="pool=gpu"), FLEET, ignore_not_found=True)


def test_names_and_labels_need_no_jmespath(monkeypatch):
    monkeypatch.setitem(sys.modules, "jmespath", None)
    assert [found.name for found in select(NodeSelection(nodes=("n1",)), FLEET)] == ["n1"]
    with pytest.raises(InvalidOption, match="pip install jmespath"):
        check_selection(NodeSelection(where="ready"))
