# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Every module keeps the promises that all of them make: docs, specification, options, action."""

from __future__ import annotations

import ast
import dataclasses
import importlib
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ansible", reason="what faces Ansible needs ansible-core")

import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.kubernetes.connection import (
    Connection,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.interface import argspec
from ansible_collections.evenkeel.fleet.plugins.module_utils.interface.options import (
    OPTION_NAMES,
    build_options,
)

COLLECTION = "ansible_collections.evenkeel.fleet"
ROOT = Path(__file__).parents[3]
NAMES = sorted(path.stem for path in (ROOT / "plugins" / "modules").glob("*.py"))
SHARED_RETURNS = ("changed", "msg", "code", "result", "duration", "diff", "timeline")

every_module = pytest.mark.parametrize("name", NAMES)


def module(name: str) -> Any:
    return importlib.import_module(f"{COLLECTION}.plugins.modules.{name}")


def options_documented(name: str) -> dict[str, Any]:
    document = yaml.safe_load(module(name).DOCUMENTATION)
    options = dict(document.get("options", {}))
    for fragment in document["extends_documentation_fragment"]:
        file, _unused, variable = fragment.removeprefix("evenkeel.fleet.").partition(".")
        holder = importlib.import_module(f"{COLLECTION}.plugins.doc_fragments.{file}")
        text = getattr(holder.ModuleDocFragment, variable.upper() or "DOCUMENTATION")
        options.update(yaml.safe_load(text).get("options", {}))
    return options


def given(name: str, **params: Any) -> dict[str, Any]:
    specification = module(name).MODULE.specification
    required = {
        option: declared.get("choices", ["x"])[0]
        for option, declared in specification.items()
        if declared.get("required")
    }
    validated = ArgumentSpecValidator(specification).validate({**required, **params})
    assert validated.error_messages == []
    return dict(validated.validated_parameters)


@every_module
def test_the_documentation_has_exactly_the_options_of_the_specification(name: str) -> None:
    documented = options_documented(name)
    specification = module(name).MODULE.specification
    for key in ("type", "default", "choices", "required", "elements", "aliases"):
        assert {option: text.get(key) for option, text in documented.items()} == {
            option: declared.get(key) for option, declared in specification.items()
        }, key


@every_module
def test_what_a_user_leaves_out_is_what_the_function_takes_by_default(name: str) -> None:
    declared = module(name).MODULE.options
    built = build_options(declared, given(name))
    defaults = {
        field.name: (
            field.default_factory()
            if field.default_factory is not dataclasses.MISSING
            else field.default
        )
        for field in dataclasses.fields(declared)
        if field.name != "selection"
    }
    assert {
        name: getattr(built, name)
        for name, default in defaults.items()
        if default is not dataclasses.MISSING
    } == {name: default for name, default in defaults.items() if default is not dataclasses.MISSING}


@every_module
def test_every_option_is_a_field_of_the_options_or_shared(name: str) -> None:
    declared = dataclasses.fields(module(name).MODULE.options)
    fields = {OPTION_NAMES.get(field.name, field.name) for field in declared}
    if "selection" in fields:
        fields = fields - {"selection"} | set(argspec.SELECTION)
    shared = set(argspec.COMMON) | set(argspec.AUTH)
    assert set(module(name).MODULE.specification) == fields | shared


def test_the_connection_takes_the_options_of_authentication_and_the_cluster_s_name() -> None:
    fields = {field.name for field in dataclasses.fields(Connection)}
    assert fields == set(argspec.AUTH) | {"cluster"}


@every_module
def test_every_module_documents_the_same_result(name: str) -> None:
    mine = yaml.safe_load(module(name).RETURN)
    reference = yaml.safe_load(module("cordon").RETURN)

    def meaning(text: Any) -> Any:
        if not isinstance(text, dict):
            return text
        return {key: meaning(value) for key, value in text.items() if key != "sample"}

    assert {key: meaning(mine[key]) for key in SHARED_RETURNS} == {
        key: meaning(reference[key]) for key in SHARED_RETURNS
    }


@every_module
def test_an_action_plugin_makes_the_same_call(name: str) -> None:
    action = importlib.import_module(f"{COLLECTION}.plugins.action.{name}")
    assert action.ActionModule.module is module(name).MODULE


def test_the_action_group_has_every_module() -> None:
    runtime = yaml.safe_load((ROOT / "meta" / "runtime.yml").read_text(encoding="utf-8"))
    assert sorted(runtime["action_groups"]["fleet"]) == NAMES


@every_module
def test_a_module_is_documents_and_forty_lines_of_code_at_most(name: str) -> None:
    source = (ROOT / "plugins" / "modules" / f"{name}.py").read_text(encoding="utf-8")
    statements = ast.parse(source).body
    code = [
        node
        for node in statements
        if not isinstance(node, (ast.Import, ast.ImportFrom))
        and not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant))
    ]
    lines = sum((node.end_lineno or node.lineno) - node.lineno + 1 for node in code)
    assert lines <= 40


def test_an_option_that_two_groups_declare_is_a_mistake_of_ours() -> None:
    with pytest.raises(AssertionError, match="declared twice: nodes"):
        argspec.merge({"nodes": {}}, {"nodes": {}})


def spellings(name: str, declared: dict[str, Any]) -> tuple[Any, Any]:
    """A value as `-e name=value` gives it, a text, and as JSON gives it."""
    if name in argspec.DURATIONS:
        return "90", 90
    if name == "node_selector":
        return "zone=a,spot=true", {"zone": "a", "spot": True}
    if name in argspec.TEXT_MAPPINGS:
        return '{"fleet.evenkeel.dev/maintenance": "true"}', {
            "fleet.evenkeel.dev/maintenance": True
        }
    if declared["type"] == "bool":
        return "yes", True
    if declared["type"] == "int":
        return "7", 7
    if declared["type"] == "float":
        return "7.5", 7.5
    if declared.get("elements") == "int":
        return "4, 5", [4, 5]
    if declared["type"] == "list":
        # Ansible itself compares with the choices, blanks included.
        comma = "," if "choices" in declared else ", "
        words = declared.get("choices", ["one", "two"])[:2]
        return comma.join(words), words
    if declared["type"] == "dict":
        return mapping(declared)
    word = declared.get("choices", ["word"])[0]
    return word, word


def mapping(declared: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    for suboption, kind in declared.get("options", {}).items():
        if kind["type"] == "bool":
            return f'{{"{suboption}": true}}', {suboption: True}
    return '{"user_agent": "us"}', {"user_agent": "us"}


@every_module
def test_every_option_means_the_same_as_a_text_and_as_json(name: str) -> None:
    """`workloads` is left out: Ansible reads no list of dictionaries from a text."""
    for option, declared in module(name).MODULE.specification.items():
        if declared.get("elements") == "dict":
            continue
        kind = Connection if option in {*argspec.AUTH, "cluster"} else module(name).MODULE.options
        of_text, of_json = (
            build_options(kind, given(name, **{option: value}))
            for value in spellings(option, declared)
        )
        assert of_text == of_json, option


def test_a_selection_is_optional_only_where_its_field_has_a_default() -> None:
    def selection(name: str) -> Any:
        return build_options(module(name).MODULE.options, given(name)).selection

    assert selection("fleet_info") is selection("preflight") is None
    assert selection("maintenance_info") is None
    assert selection("cordon").empty
    assert selection("evict").empty
    assert selection("maintenance").empty
