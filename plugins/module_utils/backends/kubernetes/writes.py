# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Whether a write that may have been carried out was: read the object, and compare.

A write is repeated when its answer was lost or was a 5xx. The repeat can then be refused because of
the first try: a create finds its own object, a replace an object that is newer than its
resourceVersion, a patch's `test` the value that the patch itself has put there. Then the object is
read: where it holds what the write asked for, the write is done; otherwise the refusal stands, and
somebody else has changed the object. Where two writers ask for exactly the same, either may be told
that it was its own write: the object is as both wanted it.
"""

from __future__ import annotations

from typing import Any, Mapping, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.model import json_patch

# What the server sets on each write, so that it never equals what was sent.
_SERVER_OWNED = ("resourceVersion", "uid", "creationTimestamp", "generation", "managedFields")
_ABSENT = object()


def contains(found: Any, wanted: Any) -> bool:
    """Does `found` have everything that `wanted` has? Lists are compared as a whole."""
    if isinstance(wanted, Mapping):
        return isinstance(found, Mapping) and all(
            key in found and contains(found[key], value)
            for key, value in wanted.items()
            if value is not None
        )
    return bool(found == wanted)


def wrote(found: Mapping[str, Any], body: Mapping[str, Any]) -> bool:
    """Is `found` what a create or a replace with `body` leaves?"""
    metadata = body.get("metadata") or {}
    kept = {key: value for key, value in metadata.items() if key not in _SERVER_OWNED}
    return contains(found, {**body, "metadata": kept})


def patched(found: Mapping[str, Any], operations: Sequence[Mapping[str, Any]]) -> bool:
    """Is `found` as these JSON patch operations (add, replace, remove, test) leave it?"""
    for operation in operations:
        value = _at(found, str(operation["path"]))
        if operation["op"] == "remove" and value is not _ABSENT:
            return False
        if operation["op"] in ("add", "replace") and value != operation["value"]:
            return False
    return True


def guarded(operations: Sequence[Mapping[str, Any]]) -> bool:
    """Has the patch a `test`? Only then is its repeat harmless."""
    return any(operation["op"] == "test" for operation in operations)


def _at(document: Any, pointer: str) -> Any:
    """The value at an RFC 6901 JSON pointer, or _ABSENT."""
    value = document
    for key in json_patch.parts(pointer):
        if isinstance(value, Mapping) and key in value:
            value = value[key]
        elif isinstance(value, Sequence) and key.isdigit() and int(key) < len(value):
            value = value[int(key)]
        else:
            return _ABSENT
    return value
