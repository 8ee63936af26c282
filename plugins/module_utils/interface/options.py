# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""From a module's parameters to the frozen dataclass that the function behind it takes."""

from __future__ import annotations

import dataclasses
from typing import Any, Mapping, TypeVar

from ansible_collections.evenkeel.fleet.plugins.module_utils.interface.argspec import (
    DURATIONS,
    TEXT_MAPPINGS,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.duration import parse_duration
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import InvalidOption
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.node_selection import (
    NodeSelection,
)

T = TypeVar("T")

# Fields whose option has another name: Ansible keeps `message` for itself.
OPTION_NAMES = {"message": "reason"}


def build_options(kind: type[T], params: Mapping[str, Any]) -> T:
    """Fills every field of `kind` from the parameter of its name; `selection` from its three.

    A parameter that was not given (None) leaves the field's own default, and so does a selection
    of nothing where the field has one (then it is optional). Raises InvalidOption.
    """
    values = {
        field.name: _value(field, params)
        for field in dataclasses.fields(kind)  # type: ignore[arg-type]
    }
    return kind(**{name: value for name, value in values.items() if value is not None})


def plain(value: Any) -> Any:
    """Copies into exact built-in types: what comes from a playbook carries tags (core 2.19)."""
    if isinstance(value, Mapping):
        return {plain(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    for kind in (str, int, float):
        if isinstance(value, kind) and not isinstance(value, bool):
            return kind.__str__(value) if kind is str else kind(value)
    return value


def _value(field: dataclasses.Field[Any], params: Mapping[str, Any]) -> Any:
    name = OPTION_NAMES.get(field.name, field.name)
    if name == "selection":
        selection = _selection(params)
        optional = field.default is not dataclasses.MISSING
        return None if optional and selection.empty else selection
    value = params[name]
    if name in DURATIONS and value is not None:
        return _duration(name, value)
    if name in TEXT_MAPPINGS and value is not None:
        return {str(key): _scalar(item) for key, item in value.items()}
    if isinstance(value, Mapping):
        # A suboption that was not given.
        return {key: item for key, item in value.items() if item is not None}
    return tuple(_words(value)) if isinstance(value, list) else value


def _selection(params: Mapping[str, Any]) -> NodeSelection:
    return NodeSelection(
        nodes=tuple(_words(params["nodes"] or [])),
        node_selector=_selector_text(params["node_selector"]),
        where=(params["where"] or "").strip(),
    )


def _words(items: list[Any]) -> list[Any]:
    """Ansible cuts "a, b" at its commas and leaves the blanks."""
    stripped = (item.strip() if isinstance(item, str) else item for item in items)
    return [item for item in stripped if item != ""]


def _selector_text(value: Any) -> str:
    """kubectl's text as it is; {"zone": "a"} and ["zone=a", "!spot"] as that text."""
    if value is None or isinstance(value, str):
        return (value or "").strip()
    if isinstance(value, Mapping):
        return ",".join(f"{label}={_scalar(item)}" for label, item in value.items())
    if isinstance(value, (list, tuple)):
        return ",".join(str(item) for item in value)
    raise InvalidOption(
        "node_selector",
        f"{value!r} is neither a text, a list nor a mapping.",
        'Write it as kubectl does: "zone=a,!spot".',
    )


def _scalar(value: Any) -> str:
    # YAML's true is Kubernetes' "true".
    return str(value).lower() if isinstance(value, bool) else str(value)


def _duration(name: str, value: Any) -> float:
    try:
        return parse_duration(value)
    except ValueError as error:
        raise InvalidOption(name, str(error)) from error
