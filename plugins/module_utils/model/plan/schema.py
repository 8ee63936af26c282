# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The JSON Schema of stored plans, made of the dataclasses: what a field is stands in one place."""

from __future__ import annotations

from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime
from typing import Any, Union, get_args, get_origin

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.plan import status
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.plan.codec import (
    camel,
    types_of,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.plan.document import (
    STEP_STATES,
    Diff,
    ExecutionProgress,
    Plan,
    RebalancingError,
    Step,
    Totals,
)

Schema = dict[str, Any]

# An exact decimal: no exponent, and no zeros that say nothing.
_DECIMAL = {"pattern": r"^-?(0|[1-9][0-9]*)(\.[0-9]*[1-9])?$"}
_PLAIN: dict[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    bool: {"type": "boolean"},
    datetime: {"type": "string", "format": "date-time"},
}
_NARROWER: dict[tuple[type, str], Schema] = {
    (Plan, "status"): {"enum": list(status.STATUSES)},
    (Plan, "kind"): {"enum": list(status.KINDS)},
    (Plan, "skipped_reason"): {"enum": list(status.SKIPPED_REASONS)},
    (RebalancingError, "code"): {"enum": list(status.ERROR_CODES)},
    (ExecutionProgress, "budget_wait_state"): {"enum": list(status.WAIT_STATES)},
    (Step, "state"): {"enum": list(STEP_STATES)},
    **{(Totals, name): _DECIMAL for name in ("price_hourly", "price_monthly")},
    **{(Diff, name): _DECIMAL for name in types_of(Diff)},
}


def json_schema() -> Schema:
    """Returns the schema of an api_document, in draft 2020-12."""
    definitions: dict[str, Schema] = {}
    _define(Plan, definitions)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$ref": f"#/$defs/{Plan.__name__}",
        "$defs": definitions,
    }


def _define(kind: Any, definitions: dict[str, Schema]) -> Schema:
    if kind.__name__ not in definitions:
        definitions[kind.__name__] = {}
        hints = types_of(kind)
        definitions[kind.__name__] = {
            "type": "object",
            "properties": {
                camel(name): {**_schema(hint, definitions), **_NARROWER.get((kind, name), {})}
                for name, hint in hints.items()
            },
            "required": [camel(field.name) for field in fields(kind) if _required(field)],
            "additionalProperties": False,
        }
    return {"$ref": f"#/$defs/{kind.__name__}"}


def _required(field: Any) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _schema(hint: Any, definitions: dict[str, Schema]) -> Schema:
    if get_origin(hint) is Union:
        return _schema(get_args(hint)[0], definitions)
    if get_origin(hint) is tuple:
        return {"type": "array", "items": _schema(get_args(hint)[0], definitions)}
    return _define(hint, definitions) if is_dataclass(hint) else dict(_PLAIN[hint])
