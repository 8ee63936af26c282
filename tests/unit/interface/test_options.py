# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Parameters as Ansible gives them become the options' dataclass, or a refusal with a name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Optional

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.interface.options import (
    build_options,
    plain,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import InvalidOption
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.node_selection import (
    NodeSelection,
)


@dataclass(frozen=True)
class Options:
    selection: NodeSelection
    namespaces: tuple[str, ...] = ()
    force: bool = False
    grace_period_seconds: Optional[int] = None
    wait_timeout: float = 1800.0
    only_while: dict[str, str] = field(default_factory=dict)


GIVEN: dict[str, Any] = {
    "nodes": ["n1"],
    "node_selector": None,
    "where": None,
    "namespaces": None,
    "force": False,
    "grace_period_seconds": None,
    "wait_timeout": "30m",
    "only_while": None,
    "kubeconfig": "/not/an/option/of/the/function",
}


def options(**given: Any) -> Options:
    return build_options(Options, {**GIVEN, **given})


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param({}, Options(NodeSelection(nodes=("n1",))), id="nothing-given-leaves-defaults"),
        pytest.param(
            {"nodes": ["n1", " n2", ""]},
            Options(NodeSelection(nodes=("n1", "n2"))),
            id="blanks-around-names-and-a-last-comma",
        ),
        pytest.param(
            {"nodes": None, "node_selector": {"zone": "a", "spot": True, "rack": 7}},
            Options(NodeSelection(node_selector="zone=a,spot=true,rack=7")),
            id="labels-as-a-mapping",
        ),
        pytest.param(
            {"nodes": None, "node_selector": ["zone in (a,b)", "!spot"]},
            Options(NodeSelection(node_selector="zone in (a,b),!spot")),
            id="requirements-as-a-list",
        ),
        pytest.param(
            {"nodes": [], "where": " zone=='a' "},
            Options(NodeSelection(where="zone=='a'")),
            id="an-expression",
        ),
        pytest.param(
            {"namespaces": ["shop", " bank"], "grace_period_seconds": 0, "wait_timeout": "90"},
            Options(
                NodeSelection(nodes=("n1",)),
                namespaces=("shop", "bank"),
                grace_period_seconds=0,
                wait_timeout=90.0,
            ),
            id="a-list-becomes-a-tuple-and-zero-is-a-value",
        ),
    ],
)
def test_parameters_become_options(given: dict[str, Any], expected: Options) -> None:
    assert options(**given) == expected


@pytest.mark.parametrize(
    ("given", "option"),
    [
        pytest.param({"wait_timeout": "soon"}, "wait_timeout", id="a-word-is-no-duration"),
        pytest.param({"wait_timeout": "-5"}, "wait_timeout", id="a-negative-duration"),
        pytest.param(
            {"nodes": None, "node_selector": 7}, "node_selector", id="a-number-selects-nothing"
        ),
    ],
)
def test_a_wrong_value_is_refused_under_its_option_s_name(
    given: dict[str, Any], option: str
) -> None:
    with pytest.raises(InvalidOption) as refusal:
        options(**given)
    assert refusal.value.option == option
    assert str(refusal.value).startswith(f"{option}: ")


class TaggedText(str):
    __slots__ = ()

    def __str__(self) -> str:
        return "not the text itself"


class TaggedNumber(int):
    pass


def test_plain_leaves_no_subclass_of_a_built_in_type() -> None:
    value = plain({TaggedText("a"): [TaggedText("b"), TaggedNumber(3), True, None, 1.5]})
    assert value == {"a": ["b", 3, True, None, 1.5]}
    assert [type(key) for key in value] == [str]
    assert [type(item) for item in value["a"]] == [str, int, bool, type(None), float]
