# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How nodes stand, read with other eyes than the collection's."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tests.control_plane.space import Space

from .calling import PREFIX


def annotations(space: Space, node: str) -> dict[str, str]:
    found: dict[str, str] = space.node(node)["metadata"].get("annotations", {})
    return found


def standing(space: Space, node: str) -> tuple[dict[str, str], dict[str, Any]]:
    """What maintenance may touch: annotations and spec. The disks of its pods come and go."""
    return annotations(space, node), space.node(node)["spec"]


def clean(space: Space, node: str) -> bool:
    ours = [key for key in annotations(space, node) if key.startswith(PREFIX)]
    return not ours and "unschedulable" not in space.node(node)["spec"]


def terminating(space: Space, node: str) -> bool:
    pods = space.pods(node=node)
    return any(pod["metadata"].get("deletionTimestamp") for pod in pods)


def is_closed(node: dict[str, Any]) -> bool:
    return bool(node["spec"].get("unschedulable"))


@contextmanager
def counted(space: Space, sort: Callable[[dict[str, Any]], bool]) -> Iterator[list[int]]:
    """Appends, all the time, how many of the space's nodes are of this sort."""
    counts: list[int] = []
    over = threading.Event()
    api = space.plane.api()

    def count() -> None:
        while not over.wait(0.05):
            found = api.list("/api/v1/nodes", labelSelector=f"test-space={space.id}")
            counts.append(sum(sort(node) for node in found))

    thread = threading.Thread(target=count, daemon=True)
    thread.start()
    try:
        yield counts
    finally:
        over.set()
        thread.join(5.0)
