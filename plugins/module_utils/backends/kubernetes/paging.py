# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A whole collection, page by page, parsed into the model while the next page is on its way."""

from __future__ import annotations

import gc
import json
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Callable, Iterator, Mapping, Optional, TypeVar

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.base import Listing
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import Gone

T = TypeVar("T")

# The API server's own default of client-go. Larger pages save nothing: the time is in the parsing.
PAGE_SIZE = 500
# A continue token lives as long as etcd keeps its revision, five minutes by default. A collection
# whose token dies three times cannot be read with this connection.
_STARTS = 3

FetchPage = Callable[[Mapping[str, str]], bytes]


class _Collector:
    """The garbage collector of this process, which several threads may want to rest."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pauses = 0
        self._was_enabled = False

    @contextmanager
    def paused(self) -> Iterator[None]:
        """No collection inside: it costs three quarters of the time of json.loads, and finds
        nothing, as what JSON makes has no cycles. Nests, across threads too."""
        with self._lock:
            if self._pauses == 0:
                self._was_enabled = gc.isenabled()
                gc.disable()
            self._pauses += 1
        try:
            yield
        finally:
            with self._lock:
                self._pauses -= 1
                if self._pauses == 0 and self._was_enabled:
                    gc.enable()


_COLLECTOR = _Collector()


def read_all(
    fetch: FetchPage, parse: Callable[[Mapping[str, Any]], T], query: Mapping[str, str]
) -> Listing[T]:
    """Returns the collection as of one resourceVersion; all its pages are of that same version.

    A page that answers 410 (its continue token has expired) starts the listing again.
    """
    for start in range(1, _STARTS + 1):
        try:
            return _read_once(fetch, parse, query)
        except Gone:
            if start == _STARTS:
                raise
    raise AssertionError("unreachable: the last start returns or raises")


def _read_once(
    fetch: FetchPage, parse: Callable[[Mapping[str, Any]], T], query: Mapping[str, str]
) -> Listing[T]:
    items: list[T] = []
    first = {"limit": str(PAGE_SIZE), **query}
    with ThreadPoolExecutor(1, thread_name_prefix="page") as ahead, _COLLECTOR.paused():
        coming: Optional[Future[bytes]] = ahead.submit(fetch, first)
        version = ""
        while coming is not None:
            page = json.loads(coming.result())
            meta = page.get("metadata") or {}
            version = version or str(meta.get("resourceVersion") or "")
            token = meta.get("continue")
            coming = ahead.submit(fetch, {**first, "continue": token}) if token else None
            _take(page.get("items") or [], parse, items)
    return Listing(tuple(items), version)


def _take(raw: list[Any], parse: Callable[[Mapping[str, Any]], T], items: list[T]) -> None:
    """Parses and lets go of one raw object after the other: a page of them weighs 15 MB."""
    raw.reverse()
    while raw:
        items.append(parse(raw.pop()))
