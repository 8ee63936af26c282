# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a client demands of a list or a deletion, and the demands that cannot be met.

Source: k8s.io/apimachinery pkg/apis/meta, internalversion/validation and v1/validation, 1.37.
"""

from __future__ import annotations

from typing import Any, Mapping

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.answers import (
    bad_request,
    invalid_options,
    too_new,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.messages import Request

_POLICIES = ("Foreground", "Background", "Orphan")
_MATCH = "resourceVersionMatch"


def check_list(request: Request, revision: int) -> None:
    """Raises Refusal: 422 for options that do not go together, 400 for a version that is none, 504
    for one that is still to come. revision: the present one."""
    version, match = request.query.get("resourceVersion", ""), request.query.get(_MATCH, "")
    if match:
        _check_match(version, match)
    if not version:
        return
    if not version.isdigit():
        raise bad_request(
            f'invalid resource version: resourceVersion: Invalid value: "{version}":'
            f' strconv.ParseUint: parsing "{version}": invalid syntax'
        )
    if int(version) > revision:
        raise too_new(int(version), revision)


def _check_match(version: str, match: str) -> None:
    if not version:
        text = f"Forbidden: {_MATCH} is forbidden unless resourceVersion is provided"
    elif match not in ("Exact", "NotOlderThan"):
        text = f'Unsupported value: "{match}": supported values: "Exact", "NotOlderThan", ""'
        raise invalid_options("ListOptions", [(_MATCH, "FieldValueNotSupported", text)])
    elif match == "Exact" and version == "0":
        text = f'Forbidden: {_MATCH} "exact" is forbidden for resourceVersion "0"'
    else:
        return
    raise invalid_options("ListOptions", [(_MATCH, "FieldValueForbidden", text)])


def propagation(options: Mapping[str, Any]) -> str:
    """The propagationPolicy of DeleteOptions, "" when they have none. Raises Refusal (422)."""
    policy, orphan = options.get("propagationPolicy") or "", options.get("orphanDependents")
    field = "propagationPolicy"
    if policy and orphan is not None:
        text = (
            f'Invalid value: "{policy}": orphanDependents and deletionPropagation cannot be both'
            " set"
        )
        raise invalid_options("DeleteOptions", [(field, "FieldValueInvalid", text)])
    if policy and policy not in _POLICIES:
        known = ", ".join(f'"{one}"' for one in (*_POLICIES, "nil"))
        text = f'Unsupported value: "{policy}": supported values: {known}'
        raise invalid_options("DeleteOptions", [(field, "FieldValueNotSupported", text)])
    if policy or orphan is None:
        return str(policy)
    return "Orphan" if orphan in (True, "true") else "Background"
