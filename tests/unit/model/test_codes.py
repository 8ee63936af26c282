# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The catalogue of codes is complete, free of doubles, and what its guide says."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Iterator

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.model import errors
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.codes import CODES

ROOT = Path(__file__).resolve().parents[3]
UTILS = ROOT / "plugins" / "module_utils"
NAMES = [code.name for code in CODES]

# Constructors whose argument at this position is a code.
CODE_ARGUMENT = {
    "Reason": 0,
    "Hold": 0,
    "Hurdle": 0,
    "NodeDecision": 1,
    "Refused": 1,
    "Outcome": 3,
    "Finding": 1,
}


def test_no_code_stands_twice_in_the_catalogue() -> None:
    assert sorted(set(NAMES)) == sorted(NAMES)


def test_every_meaning_and_remedy_is_a_sentence() -> None:
    for code in CODES:
        assert code.meaning.endswith("."), code
        assert not code.remedy or code.remedy.endswith("."), code


ERRORS = [
    error
    for error in (*errors.FleetError.__subclasses__(), *errors.ApiFailure.__subclasses__())
    if error.__module__ == errors.__name__
]


@pytest.mark.parametrize("error", ERRORS)
def test_every_error_has_a_code_of_the_catalogue(error: type[errors.FleetError]) -> None:
    assert error.code in NAMES


def test_every_code_that_is_written_in_the_collection_is_in_the_catalogue() -> None:
    found = {code for path in UTILS.rglob("*.py") for code in _codes_in(path)}
    assert len(found) > 50
    assert found - set(NAMES) == set()


def test_the_guide_is_what_the_catalogue_makes() -> None:
    from tools.codes_guide import GUIDE, guide

    assert GUIDE.read_text(encoding="utf-8") == guide(), "run python -m tools.codes_guide"


def _codes_in(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
            continue
        position = CODE_ARGUMENT.get(node.func.id)
        if position is None or len(node.args) <= position:
            continue
        argument = node.args[position]
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
            yield argument.value
