# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Rules about one node alone (room, ports, disks): verdicts are kept, and asked again only for the
nodes that changed since."""

from __future__ import annotations

from typing import Callable, Generic, Hashable, TypeVar

from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.nodes import (
    mask_of,
)

Key = TypeVar("Key", bound=Hashable)


class LocalMasks(Generic[Key]):
    """The nodes that pass, for each different need (`Key`).

    journal: the index of each node that changed, oldest first; it only grows.
    Cost: O(nodes) for a new need, then O(changes) for each question.
    """

    def __init__(self, size: int, journal: list[int], passes: Callable[[Key, int], bool]) -> None:
        self._size = size
        self._journal = journal
        self._passes = passes
        self._known: dict[Key, tuple[int, int]] = {}

    def mask(self, key: Key) -> int:
        mask, seen = self._known.get(key, (0, -1))
        now = len(self._journal)
        if seen == now:
            return mask
        if seen < 0 or now - seen > self._size:
            mask = mask_of((i for i in range(self._size) if self._passes(key, i)), self._size)
        else:
            for index in set(self._journal[seen:]):
                bit = 1 << index
                mask = mask | bit if self._passes(key, index) else mask & ~bit
        self._known[key] = (mask, now)
        return mask
