# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Lists in pages: all pages of a list are of the moment at which its first one was read."""

from __future__ import annotations

import base64
import itertools
import json
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Mapping, Optional, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.answers import (
    bad_request,
    expired,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.base import Object

# Lists that are being read at the same time; the oldest one is forgotten, as compaction would.
_MOST = 256
_EXPIRED = (
    "The provided continue parameter is too old to display a consistent list result. You can start"
    " a new list without the continue parameter, or use the continue token in this response to"
    " retrieve the remainder of the results."
)


@dataclass(frozen=True)
class Page:
    """items of one page; metadata of the list: resourceVersion, continue, remainingItemCount."""

    items: Sequence[Object]
    metadata: Mapping[str, Any]


@dataclass(frozen=True)
class _Rest:
    """counted: each page says how many items are left behind it."""

    revision: int
    items: Sequence[Object]
    counted: bool


class Pages:
    """Not thread-safe: the store's lock is held."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._lists: OrderedDict[int, _Rest] = OrderedDict()

    def first(
        self, items: Sequence[Object], revision: int, limit: Optional[int], *, selected: bool
    ) -> Page:
        """selected: by labels or fields; the real server does not count what is left of those."""
        if not limit or not 0 < limit < len(items):
            return Page(items, {"resourceVersion": str(revision)})
        number = next(self._numbers)
        self._lists[number] = _Rest(revision, items, not selected)
        if len(self._lists) > _MOST:
            self._lists.popitem(last=False)
        return self._page(number, 0, limit)

    def next(self, token: str, limit: Optional[int]) -> Page:
        """Raises Refusal: 400 for a token that is none, 410 for one that is too old."""
        try:
            found = json.loads(base64.urlsafe_b64decode(token.encode()))
            number, start = int(found["list"]), int(found["start"])
        except (ValueError, KeyError, TypeError) as error:
            text = f"invalid continue token: continue key is not valid: {error}"
            raise bad_request(text) from error
        if number not in self._lists:
            raise expired(_EXPIRED)
        return self._page(number, start, limit or 0)

    def forget(self) -> None:
        """All continue tokens expire."""
        self._lists.clear()

    def _page(self, number: int, start: int, limit: int) -> Page:
        rest = self._lists[number]
        revision, items = rest.revision, rest.items
        stop = start + limit if limit else len(items)
        metadata: dict[str, Any] = {"resourceVersion": str(revision)}
        if stop < len(items):
            token = json.dumps({"list": number, "start": stop}).encode()
            metadata["continue"] = base64.urlsafe_b64encode(token).decode()
            if rest.counted:
                metadata["remainingItemCount"] = len(items) - stop
        else:
            del self._lists[number]
        return Page(items[start:stop], metadata)
