# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The objects of a twin: what etcd and the watch cache are for the real API server.

One counter numbers all writes; an object's resourceVersion is the number of its last one. Objects
are never changed in place, so whoever has one has it as it was. The last writes are remembered for
watches that begin in the past; what is older is compacted (410 Gone).
"""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass
from typing import Any, Callable, Iterator, Mapping, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.base import (
    Change,
    Key,
    Object,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.raw import (
    controller_of,
    key_of,
    labels_of,
    node_of,
)

# Writes that are remembered: minutes of a large drain.
HISTORY = 50_000
ADDED, MODIFIED, DELETED = "ADDED", "MODIFIED", "DELETED"


@dataclass(frozen=True)
class Write:
    """One write and its number."""

    revision: int
    change: Change


Listener = Callable[[Write], None]


class Store:
    """Thread-safe: `lock` is held during each call, and by whoever reads and then writes.

    Listeners are called with the lock held, in the order of the writes, and must not block.
    """

    def __init__(self, history: int = HISTORY) -> None:
        self.lock = threading.RLock()
        self.revision = 1
        self._compacted = 0
        self._writes: deque[Write] = deque(maxlen=history)
        self._objects: dict[str, dict[Key, Object]] = {}
        self._namespaced: dict[tuple[str, str], dict[Key, Object]] = {}
        self._owned: dict[tuple[str, str], dict[Key, Object]] = {}
        self._dependents: dict[str, dict[Key, Object]] = {}
        # Of pods: by node ("" before they have one), and by each of their labels.
        self._on_node: dict[str, dict[Key, Object]] = {}
        self._labelled: dict[tuple[str, str, str], dict[Key, Object]] = {}
        self._listeners: list[Listener] = []

    # Writing

    def put(self, resource: str, raw: Mapping[str, Any]) -> Object:
        """Stores a new state; returns it with its resourceVersion."""
        with self.lock:
            key = key_of(resource, raw)
            before = self._objects.get(resource, {}).get(key)
            stored = self._numbered(raw)
            self._objects.setdefault(resource, {})[key] = stored
            if before is not None:
                self._unindex(key, before)
            self._index(key, stored)
            kind = ADDED if before is None else MODIFIED
            self._tell(Change(kind, resource, stored, before))
            return stored

    def remove(self, key: Key) -> Optional[Object]:
        """Removes and returns the object as its DELETED event has it: as it was stored, with the
        number of this write. None when there is none."""
        with self.lock:
            before = self._objects.get(key.resource, {}).pop(key, None)
            if before is None:
                return None
            self._unindex(key, before)
            gone = self._numbered(before)
            self._tell(Change(DELETED, key.resource, gone, before))
            return gone

    def compact(self) -> None:
        """Forgets all writes so far, as etcd does every five minutes."""
        with self.lock:
            self._writes.clear()
            self._compacted = self.revision

    # Reading: behaviour's View, and what lists and watches need

    def get(self, key: Key) -> Optional[Object]:
        with self.lock:
            return self._objects.get(key.resource, {}).get(key)

    def objects(self, resource: str, namespace: str = "") -> list[Object]:
        """In the order of their creation; of all namespaces when `namespace` is empty."""
        with self.lock:
            found = self._objects.get(resource, {})
            if not namespace:
                return list(found.values())
            return _all(self._namespaced, (resource, namespace))

    def owned(self, resource: str, uid: str) -> list[Object]:
        with self.lock:
            return _all(self._owned, (resource, uid))

    def dependents(self, uid: str) -> list[tuple[str, Object]]:
        with self.lock:
            found = self._dependents.get(uid, {})
            return [(key.resource, raw) for key, raw in found.items()]

    def pods_on(self, node: str) -> list[Object]:
        with self.lock:
            return _all(self._on_node, node)

    def unscheduled(self) -> list[Object]:
        return self.pods_on("")

    def labelled(self, resource: str, namespace: str, label: str, value: str) -> list[Object]:
        """Pods by an index; of other resources there are few in a namespace."""
        with self.lock:
            if resource == "pods":
                return _all(self._labelled, (namespace, label, value))
            found = self.objects(resource, namespace)
            return [raw for raw in found if labels_of(raw).get(label) == value]

    def count(self, resource: str) -> int:
        with self.lock:
            return len(self._objects.get(resource, ()))

    def since(self, revision: int, resource: str) -> Optional[list[Write]]:
        """The writes to this resource after a revision; None when they are not known any more."""
        with self.lock:
            oldest = self._writes[0].revision - 1 if self._writes else self.revision
            if revision < max(self._compacted, min(oldest, self.revision)):
                return None
            return [write for write in self._after(revision) if write.change.resource == resource]

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Calls it with each write from now on; returns what ends that."""
        with self.lock:
            self._listeners.append(listener)

        def stop() -> None:
            with self.lock:
                if listener in self._listeners:
                    self._listeners.remove(listener)

        return stop

    # Inside

    def _after(self, revision: int) -> Iterator[Write]:
        """From the end, because a watch begins a moment after its list."""
        found: deque[Write] = deque()
        for write in reversed(self._writes):
            if write.revision <= revision:
                break
            found.appendleft(write)
        return iter(found)

    def _numbered(self, raw: Mapping[str, Any]) -> Object:
        self.revision += 1
        metadata = {**raw["metadata"], "resourceVersion": str(self.revision)}
        return {**raw, "metadata": metadata}

    def _tell(self, change: Change) -> None:
        write = Write(self.revision, change)
        self._writes.append(write)
        for listener in tuple(self._listeners):
            listener(write)

    def _index(self, key: Key, raw: Object) -> None:
        for index, entry in self._places(key, raw):
            index.setdefault(entry, {})[key] = raw

    def _unindex(self, key: Key, raw: Object) -> None:
        for index, entry in self._places(key, raw):
            keys = index.get(entry)
            if keys is not None:
                keys.pop(key, None)
                if not keys:
                    del index[entry]

    def _places(self, key: Key, raw: Object) -> Iterator[tuple[dict[Any, dict[Key, Object]], Any]]:
        if key.namespace:
            yield self._namespaced, (key.resource, key.namespace)
        owner = controller_of(raw)
        if owner is not None:
            yield self._owned, (key.resource, owner["uid"])
        for reference in raw["metadata"].get("ownerReferences") or ():
            yield self._dependents, reference["uid"]
        if key.resource == "pods":
            yield self._on_node, node_of(raw)
            for label, value in labels_of(raw).items():
                yield self._labelled, (key.namespace, label, value)


def _all(index: Mapping[Any, Mapping[Key, Object]], entry: Any) -> list[Object]:
    return list(index.get(entry, {}).values())
