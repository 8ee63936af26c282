# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A plan in two parts: what is written once, packed and cut to pieces, and what changes as it runs.

The first part may be megabytes, the second is small and written often. Together they are the plan.
"""

from __future__ import annotations

import base64
import json
import zlib
from hashlib import sha256
from typing import Any, Mapping, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.plan.codec import (
    api_document,
    parse_plan,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.plan.document import (
    PLANNED,
    Plan,
)

Document = dict[str, Any]

# Of a piece's text. An object of the API may have a mebibyte and a half; this leaves room for it.
LARGEST_PIECE = 900 * 1024

_RUNNING = (
    "status", "updateTime", "executeTime", "completeTime", "errors", "executionProgress",
    "skippedReason", "skippedMessage",
)  # fmt: skip
_ACHIEVED = ("achievedDiff", "achieved")
_OF_STEP = ("state", "intentTime", "doneTime", "detail")
# With what a step is planned, it says nothing of how it went.
_UNTOUCHED = {"state": PLANNED, "detail": ""}


def divided(plan: Plan) -> tuple[Document, Document]:
    """Returns the fixed part and the running one."""
    fixed = api_document(plan)
    running = {name: fixed.pop(name) for name in _RUNNING if name in fixed}
    steps, fixed["steps"] = fixed["steps"], []
    touched = {}
    for step in steps:
        how = {name: step.pop(name) for name in _OF_STEP if name in step}
        fixed["steps"].append(step)
        if how != _UNTOUCHED:
            touched[step["id"]] = how
    if touched:
        running["steps"] = touched
    achieved = _achieved(fixed.get("configurations"))
    if achieved:
        running["configurations"] = achieved
    return fixed, running


def _achieved(configurations: Any) -> Document:
    """Takes out what is known only once the plan has run."""
    if configurations is None:
        return {}
    found = {name: configurations.pop(name) for name in _ACHIEVED if name in configurations}
    green = configurations["green"] = dict(configurations["green"])
    failed = green.pop("failedNodes", [])
    return {**found, "failedNodes": failed} if failed else found


def joined(fixed: Mapping[str, Any], running: Mapping[str, Any]) -> Plan:
    """Returns the plan of the two parts. Raises ValueError when they are none of one plan."""
    touched = running.get("steps") or {}
    document = {**fixed, **running}
    document["steps"] = [
        {**step, **touched.get(step.get("id"), {})} for step in fixed.get("steps") or ()
    ]
    if "configurations" in fixed:
        achieved = dict(running.get("configurations") or {})
        failed = achieved.pop("failedNodes", [])
        green = {**fixed["configurations"]["green"], "failedNodes": failed}
        document["configurations"] = {**fixed["configurations"], **achieved, "green": green}
    return parse_plan(document)


def packed(fixed: Mapping[str, Any], largest: int = LARGEST_PIECE) -> list[str]:
    """Returns the pieces of a fixed part, at least one: text of at most so many characters each."""
    text = json.dumps(fixed, sort_keys=True, separators=(",", ":"))
    coded = base64.b64encode(zlib.compress(text.encode(), 9)).decode()
    return [coded[start : start + largest] for start in range(0, len(coded), largest)]


def unpacked(pieces: Sequence[str]) -> Document:
    """Returns the fixed part. Raises ValueError when the pieces are none of it."""
    try:
        text = zlib.decompress(base64.b64decode("".join(pieces), validate=True))
    except zlib.error as error:
        raise ValueError(f"it cannot be unpacked ({error})") from error
    document: Document = json.loads(text)
    return document


def checksum_of(pieces: Sequence[str]) -> str:
    """By which pieces that somebody changed, or that are of another plan, are told."""
    return sha256("".join(pieces).encode()).hexdigest()
