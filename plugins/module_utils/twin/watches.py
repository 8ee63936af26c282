# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Watches: the writes to a resource from a revision on, as one client sees them."""

from __future__ import annotations

import queue
from typing import Any, Callable, Iterator, Mapping, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin import answers
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.base import (
    Change,
    Object,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.kinds import Kind
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.messages import encoded
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.selecting import Matches
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.store import (
    ADDED,
    DELETED,
    MODIFIED,
    Store,
    Write,
)

Render = Callable[[Object], Mapping[str, Any]]

# A client that reads a list as a stream waits for the bookmark with this annotation.
_INITIAL_END = "k8s.io/initial-events-end"
# Seconds of silence after which a client that asked for bookmarks gets one.
_BOOKMARK_SECONDS = 60.0


class Watch:
    """messages.Stream. `on_event`: called, under the store's lock, for each line to come."""

    def __init__(
        self,
        store: Store,
        kind: Kind,
        resource: str,
        namespace: str,
        matches: Matches,
        render: Render,
        *,
        bookmarks: bool,
        seconds: float,
        on_event: Callable[[], None],
    ) -> None:
        self._store = store
        self._kind = kind
        self._resource = resource
        self._namespace = namespace
        self._matches = matches
        self._render = render
        self._bookmarks = bookmarks
        self._seconds = seconds
        self._on_event = on_event
        self._lines: queue.SimpleQueue[Optional[bytes]] = queue.SimpleQueue()
        self._stop: Callable[[], None] = lambda: None

    def begin(self, version: str, *, streamed: bool = False) -> None:
        """From the present state ("" or "0"), or from a revision. Raises Refusal (500) for
        a revision that is none; one that is forgotten ends the watch with an ERROR event of 410."""
        with self._store.lock:
            if streamed or version in ("", "0"):
                for raw in self._store.objects(self._resource, self._namespace):
                    if self._matches(raw):
                        self._send(ADDED, raw)
                if streamed:
                    self._bookmark({"annotations": {_INITIAL_END: "true"}})
            else:
                try:
                    past = self._past(version)
                except answers.Refusal as refusal:
                    if refusal.code != 410:
                        raise
                    # The real server says so in the stream.
                    self._lines.put(encoded({"type": "ERROR", "object": refusal.body}))
                    self._lines.put(None)
                    return
                for write in past:
                    self._hear(write)
            self._stop = self._store.listen(self._hear)

    def __iter__(self) -> Iterator[bytes]:
        left = self._seconds
        while left > 0:
            pause = min(left, _BOOKMARK_SECONDS)
            try:
                line = self._lines.get(timeout=pause)
            except queue.Empty:
                left -= pause
                if self._bookmarks:
                    self._bookmark()
                continue
            if line is None:
                return
            yield line

    def close(self) -> None:
        self._stop()
        self._lines.put(None)

    def _past(self, version: str) -> list[Write]:
        if not version.isdigit():
            raise answers.no_version(version)
        found = self._store.since(int(version), self._resource)
        if found is None:
            raise answers.expired(f"too old resource version: {version} ({self._store.revision})")
        return found

    def _hear(self, write: Write) -> None:
        change = write.change
        if change.resource != self._resource:
            return
        if self._namespace and change.object["metadata"].get("namespace") != self._namespace:
            return
        kind = self._seen_as(change)
        if kind == DELETED and change.before is not None:
            # As it was when the client saw it last, whatever has become of it.
            version = change.object["metadata"]["resourceVersion"]
            metadata = {**change.before["metadata"], "resourceVersion": version}
            self._send(kind, {**change.before, "metadata": metadata})
        elif kind:
            self._send(kind, change.object)

    def _seen_as(self, change: Change) -> str:
        """What does not match any more is gone for this client; what begins to match is new."""
        before = change.before is not None and self._matches(change.before)
        after = change.type != DELETED and self._matches(change.object)
        if before:
            return MODIFIED if after else DELETED
        return ADDED if after else ""

    def _send(self, kind: str, raw: Object) -> None:
        self._on_event()
        self._lines.put(encoded({"type": kind, "object": self._render(raw)}))

    def _bookmark(self, more: Optional[Mapping[str, Any]] = None) -> None:
        with self._store.lock:
            metadata = {"resourceVersion": str(self._store.revision), **(more or {})}
            body = {
                "kind": self._kind.name,
                "apiVersion": self._kind.api_version,
                "metadata": metadata,
            }
            self._on_event()
            self._lines.put(encoded({"type": "BOOKMARK", "object": body}))
