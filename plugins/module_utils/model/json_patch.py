# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The operations of a JSON patch (RFC 6902) and the paths in it, JSON pointers (RFC 6901)."""

from __future__ import annotations

from typing import Any

ANNOTATIONS = "/metadata/annotations"


def test(path: str, value: Any) -> dict[str, Any]:
    """The whole patch fails unless the member is this; None passes where it is absent, too."""
    return {"op": "test", "path": path, "value": value}


def add(path: str, value: Any) -> dict[str, Any]:
    """Sets the member, there or not. It cannot add into a map that is not there."""
    return {"op": "add", "path": path, "value": value}


def remove(path: str) -> dict[str, Any]:
    """Fails where the member is absent."""
    return {"op": "remove", "path": path}


def member(path: str, key: str) -> str:
    """Returns the path of this key of the map at `path`; annotation keys have a slash in them."""
    return f"{path}/{key.replace('~', '~0').replace('/', '~1')}"


def parts(path: str) -> list[str]:
    """Returns the keys that a path goes through, the reverse of `member`."""
    return [part.replace("~1", "/").replace("~0", "~") for part in path.split("/")[1:]]
