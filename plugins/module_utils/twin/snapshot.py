# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A snapshot file, as fleet_info writes it with `dest`, read for a twin."""

from __future__ import annotations

import gzip
import json
import os
import zlib
from typing import Any, Iterator

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.documents import VERSION
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import InvalidOption
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.resources import Resource
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.twin_objects import COLLECTIONS
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.loaded import check_places
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.spec import Made

_GZIP = b"\x1f\x8b"
_AGAIN = "Write it again: fleet_info with dest."


def read(path: str) -> tuple[Made, ...]:
    """Returns the objects of the file, with names, UIDs and status; in an order in which they can
    be put into a twin.

    Raises InvalidOption (snapshot), one sentence and a remedy: no such file, no JSON or cut off,
    another version, an unknown kind, a pod on a node that is not in it.
    """
    path = os.path.expanduser(path)
    objects = _objects(path, _document(path, _text(path)))
    made = tuple(
        one for resource in COLLECTIONS for one in _made(path, resource, objects.get(resource.key))
    )
    check_places(made, path)
    return made


def _text(path: str) -> bytes:
    """What is gzipped is told by its first bytes: a file may have been renamed."""
    try:
        with open(path, "rb") as file:
            data = file.read()
        return gzip.decompress(data) if data.startswith(_GZIP) else data
    except (gzip.BadGzipFile, zlib.error) as error:
        raise _bad(path, f"it is damaged ({error}).", _AGAIN) from error
    except EOFError as error:
        raise _cut(path) from error
    except OSError as error:
        remedy = "Name a file that fleet_info has written with dest."
        raise _bad(path, f"{error.strerror or error}.", remedy) from error


def _document(path: str, text: bytes) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        ends = error.pos >= len(text.rstrip()) or not text.rstrip().endswith(b"}")
        if text.lstrip().startswith(b"{") and ends:
            raise _cut(path) from error
        raise _bad(path, f"it is no JSON ({error}).", _AGAIN) from error
    except UnicodeDecodeError as error:
        raise _bad(path, "it is no JSON.", _AGAIN) from error


def _objects(path: str, document: Any) -> dict[str, Any]:
    version = document.get("version") if isinstance(document, dict) else None
    if not isinstance(version, int):
        raise _bad(path, "it is no snapshot of a fleet: it has no version.", _AGAIN)
    if version < VERSION:
        raise _bad(
            path,
            f"it is of version {version}, which says too little for a twin (version {VERSION}).",
            _AGAIN,
        )
    if version > VERSION:
        raise _bad(
            path,
            f"it is of version {version}, and this collection knows {VERSION}.",
            "Use the version of evenkeel.fleet that wrote it, or write it again with this one.",
        )
    objects = document.get("objects")
    if not isinstance(objects, dict):
        raise _bad(path, "it has no objects.", _AGAIN)
    unknown = sorted(objects.keys() - {resource.key for resource in COLLECTIONS})
    if unknown:
        raise _bad(path, f"objects has an unknown collection {unknown[0]}.", _AGAIN)
    return objects


def _made(path: str, resource: Resource[Any], listed: Any) -> Iterator[Made]:
    for number, raw in enumerate(listed or (), 1):
        metadata = raw.get("metadata") if isinstance(raw, dict) else None
        if not isinstance(metadata, dict) or not metadata.get("name") or not metadata.get("uid"):
            place = f"objects, {resource.key}, entry {number}"
            raise _bad(path, f"{place} has no name or no UID.", _AGAIN)
        yield Made(resource.key, metadata.get("namespace", ""), raw)


def _cut(path: str) -> InvalidOption:
    return _bad(path, "it is cut off.", "Copy it again as a whole, or write it again.")


def _bad(path: str, problem: str, remedy: str) -> InvalidOption:
    return InvalidOption("snapshot", f"{path}: {problem}", remedy)
