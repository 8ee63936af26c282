# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Watches a space from beside, with a client of its own, and notes what must never happen.

A budget is violated when somebody takes a healthy pod away and fewer than its `desiredHealthy`
are left. Healthy is counted as the disruption controller counts: Ready and not being deleted. A pod
that stops being Ready by itself is no disruption, and neither is the removal of one that was not
healthy; they may well leave fewer than desired.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlsplit

from tests.control_plane.objects import SPACE_LABEL
from tests.control_plane.space import Space, is_ready

Document = dict[str, Any]

STATE = "fleet.evenkeel.dev/maintenance-state"


@dataclass(frozen=True)
class Floor:
    """At least so many of the pods with these labels are healthy; `name` is for people."""

    name: str
    labels: Mapping[str, str]
    healthy: int

    def covers(self, pod: Document) -> bool:
        labels = pod["metadata"].get("labels", {})
        return all(labels.get(key) == value for key, value in self.labels.items())


@dataclass
class Guard:
    """Pure: is given events one by one, and says what was wrong.

    floors: beside the budgets. kept: of a node by name, what somebody else has set on it: `closed`
    (spec.unschedulable) and annotations with their values.
    """

    floors: tuple[Floor, ...] = ()
    kept: Mapping[str, Kept] = field(default_factory=dict)
    arrivals: dict[str, int] = field(default_factory=dict)
    _healthy: dict[str, Document] = field(default_factory=dict)
    _budgets: dict[str, Floor] = field(default_factory=dict)
    _states: dict[str, str] = field(default_factory=dict)

    def pod(self, kind: str, pod: Document) -> list[str]:
        uid = pod["metadata"]["uid"]
        deleted = kind == "DELETED" or "deletionTimestamp" in pod["metadata"]
        if is_ready(pod) and not deleted:
            self._healthy[uid] = pod
            return []
        was_healthy = self._healthy.pop(uid, None) is not None
        if not (was_healthy and deleted):
            return []
        return [
            f"{pod['metadata']['name']} was taken away: {left} of the {floor.healthy} healthy pods"
            f" that {floor.name} asks for are left"
            for floor in (*self.floors, *self._budgets.values())
            if floor.covers(pod)
            for left in [sum(1 for other in self._healthy.values() if floor.covers(other))]
            if left < floor.healthy
        ]

    def budget(self, kind: str, budget: Document) -> list[str]:
        """Budgets of these tests have matchLabels only."""
        name = budget["metadata"]["name"]
        labels = budget["spec"]["selector"]["matchLabels"]
        desired = budget.get("status", {}).get("desiredHealthy", 0)
        self._budgets[name] = Floor(f"budget {name}", labels, desired)
        if kind == "DELETED":
            del self._budgets[name]
        return []

    def node(self, kind: str, node: Document) -> list[str]:
        """Counts, too, how often each node arrived in maintenance."""
        name = node["metadata"]["name"]
        annotations = node["metadata"].get("annotations", {})
        state = annotations.get(STATE, "")
        if state == "InMaintenance" != self._states.get(name, ""):
            self.arrivals[name] = self.arrivals.get(name, 0) + 1
        self._states[name] = state
        return self.kept[name].broken(name, node) if name in self.kept else []


@dataclass(frozen=True)
class Kept:
    """What somebody else has set on a node."""

    closed: bool
    annotations: Mapping[str, str]

    def broken(self, name: str, node: Document) -> list[str]:
        found = node["metadata"].get("annotations", {})
        lost = [
            f"{key} of {name} became {found.get(key)!r}"
            for key, value in self.annotations.items()
            if found.get(key) != value
        ]
        if self.closed and not node["spec"].get("unschedulable"):
            lost.append(f"somebody's cordon of {name} was taken away")
        return lost


class Watcher:
    """Follows a space's pods, budgets and nodes from `start` until `stop`."""

    def __init__(self, space: Space, guard: Guard) -> None:
        self.guard = guard
        self._space = space
        self._lock = threading.Lock()
        self._faults: list[str] = []
        self._streams: list[_Stream] = []

    def start(self) -> None:
        pods = self._space.path("v1", "pods")
        budgets = self._space.path("policy/v1", "poddisruptionbudgets")
        nodes = f"/api/v1/nodes?labelSelector={quote(f'{SPACE_LABEL}={self._space.id}')}"
        # Budgets first: pods are judged by them.
        for path, take in (
            (budgets, self.guard.budget),
            (pods, self.guard.pod),
            (nodes, self.guard.node),
        ):
            listing = self._space.api.get(path)
            for item in listing["items"]:
                self._judge(take, "ADDED", item)
            version = listing["metadata"]["resourceVersion"]
            stream = _Stream(self._space, path, version)
            self._streams.append(stream)
            threading.Thread(target=self._follow, args=(stream, take), daemon=True).start()

    def stop(self) -> list[str]:
        """What was wrong, in order; also that something was not seen to the end."""
        for stream in self._streams:
            stream.close()
        with self._lock:
            return list(self._faults)

    def _follow(self, stream: _Stream, take: Callable[[str, Document], list[str]]) -> None:
        try:
            for event in stream.events():
                self._judge(take, event["type"], event["object"])
        except (OSError, ValueError, KeyError, http.client.HTTPException) as error:
            if not stream.closed:
                self._blame([f"the watcher itself lost {stream.path}: {error!r}"])
            return
        if not stream.closed:
            self._blame([f"the watcher's watch of {stream.path} ended"])

    def _judge(
        self, take: Callable[[str, Document], list[str]], kind: str, document: Document
    ) -> None:
        if kind == "BOOKMARK":
            return
        with self._lock:
            self._faults += take(kind, document)

    def _blame(self, faults: list[str]) -> None:
        with self._lock:
            self._faults += faults


class _Stream:
    """One watch request, straight to the API server."""

    def __init__(self, space: Space, path: str, version: str) -> None:
        self.path = path
        self.closed = False
        parts = urlsplit(space.plane.server)
        trust = ssl.create_default_context(cafile=str(space.plane.layout.certificate))
        self._connection = http.client.HTTPSConnection(
            parts.hostname or "", parts.port or 443, timeout=120, context=trust
        )
        joint = "&" if "?" in path else "?"
        query = f"watch=true&resourceVersion={version}&allowWatchBookmarks=true&timeoutSeconds=1800"
        headers = {"Authorization": "Bearer admin", "User-Agent": "evenkeel-tests-watcher"}
        self._connection.request("GET", f"{path}{joint}{query}", headers=headers)
        self._response = self._connection.getresponse()

    def events(self) -> Iterator[Document]:
        while not self.closed:
            line = self._response.readline()
            if not line:
                return
            yield json.loads(line)

    def close(self) -> None:
        self.closed = True
        with contextlib.suppress(OSError):
            # SSLSocket.shutdown would take the TLS state away under the reading thread.
            socket.socket.shutdown(self._connection.sock, socket.SHUT_RDWR)
