# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Plans as documents: in snake_case as modules return them, in camelCase as they are stored and as
the reference API has them."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import cache
from typing import Any, Callable, Mapping, Union, get_args, get_origin, get_type_hints

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.plan.document import Plan
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.times import (
    format_instant,
    parse_instant,
)

_Name = Callable[[str], str]


def snake_document(plan: Plan) -> dict[str, Any]:
    """Returns the plan as modules return it. What is None is not in it."""
    found: dict[str, Any] = _plain(plan, str)
    return found


def api_document(plan: Plan) -> dict[str, Any]:
    """Returns the plan as it is stored: the reference's schema, and our fields beside it."""
    found: dict[str, Any] = _plain(plan, camel)
    return found


def parse_plan(document: Mapping[str, Any]) -> Plan:
    """Returns the plan of an api_document. Raises ValueError for one that is none: a field that is
    missing or unknown, or of another type."""
    found: Plan = _parsed(Plan, document, "plan")
    return found


@cache
def camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.title() for part in rest)


def _plain(value: Any, name: _Name) -> Any:
    if is_dataclass(value):
        given = ((field.name, getattr(value, field.name)) for field in fields(value))
        return {name(key): _plain(one, name) for key, one in given if one is not None}
    if isinstance(value, tuple):
        return [_plain(one, name) for one in value]
    return format_instant(value) if isinstance(value, datetime) else value


def _parsed(kind: Any, document: Any, where: str) -> Any:
    if not isinstance(document, Mapping):
        raise ValueError(f"{where} is no map")
    hints = types_of(kind)
    names = {camel(name): name for name in hints}
    unknown = sorted(str(key) for key in document if key not in names)
    if unknown:
        raise ValueError(f"{where}.{unknown[0]} is unknown")
    values = {
        names[key]: _value(hints[names[key]], value, f"{where}.{key}")
        for key, value in document.items()
    }
    try:
        return kind(**values)
    except TypeError as error:
        raise ValueError(f"{where}: {error}") from error


@cache
def types_of(kind: Any) -> Mapping[str, Any]:
    """Returns the type of each field of a dataclass, Optional[...] included."""
    return get_type_hints(kind)


def _value(hint: Any, value: Any, where: str) -> Any:
    if get_origin(hint) is Union:
        hint = get_args(hint)[0]
    if get_origin(hint) is tuple:
        if not isinstance(value, list):
            raise ValueError(f"{where} is no list")
        inner = get_args(hint)[0]
        return tuple(_value(inner, one, f"{where}[{index}]") for index, one in enumerate(value))
    if is_dataclass(hint):
        return _parsed(hint, value, where)
    if hint is datetime:
        return parse_instant(value)
    if not isinstance(value, hint) or (isinstance(value, bool) and hint is not bool):
        raise ValueError(f"{where} is no {hint.__name__}")
    return value
