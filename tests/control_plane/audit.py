# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Questions to the API server's audit log: who asked for what, and what did it change?"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .api import Api
from .plane import Plane

WRITES = ("create", "update", "patch", "delete", "deletecollection")
# Questions that are asked by POST: they store nothing.
_REVIEWS = ("authorization.k8s.io", "authentication.k8s.io")


@dataclass(frozen=True)
class Request:
    """One request that was answered. `body` is what a write sent; `status` is the HTTP status."""

    user: str
    agent: str
    verb: str
    group: str
    resource: str
    subresource: str
    namespace: str
    name: str
    uri: str
    status: int
    body: Any

    @property
    def writes(self) -> bool:
        """Whether it asked for a change; server-side dry runs and refused ones count."""
        return self.verb in WRITES and self.group not in _REVIEWS

    def __str__(self) -> str:
        what = "/".join(part for part in (self.resource, self.subresource) if part) or self.uri
        where = "/".join(part for part in (self.namespace, self.name) if part)
        return f"{self.verb} {what} {where} {self.status}"


class Audit:
    """The log of one plane from the moment that this was made. Offsets are bytes of the log."""

    def __init__(self, plane: Plane) -> None:
        self._path = plane.layout.audit_log
        self._api: Api = plane.api()
        self._start = self.mark()

    def mark(self) -> int:
        """A place in the log for `since`: all that was answered before is before it."""
        self._flush()
        return self._path.stat().st_size

    def requests(self, user: str, since: int | None = None, agent: str = "") -> list[Request]:
        """Every request of API user `user`, oldest first; `agent` is a part of the User-Agent.

        A watch is one request, and appears when it ends or has begun to answer.
        """
        self._flush()
        found: dict[str, Request] = {}
        for event in self._events(self._start if since is None else since, user):
            request = _request(event)
            if request.user == user and agent in request.agent:
                # A watch is logged when it starts and when it ends, under one id.
                found[event["auditID"]] = request
        return list(found.values())

    def writes(self, user: str, since: int | None = None, agent: str = "") -> list[Request]:
        """Every request of `user` that asked for a change. Empty is the proof of check mode."""
        return [request for request in self.requests(user, since, agent) if request.writes]

    def _events(self, offset: int, marker: str) -> Iterator[dict[str, Any]]:
        """Parses only lines that contain `marker`: the log has everybody's requests."""
        needle = json.dumps(marker).encode()
        with open(self._path, "rb") as log:
            log.seek(offset)
            for line in log:
                if needle in line:
                    yield json.loads(line)

    def _flush(self, seconds: float = 10.0) -> None:
        """Waits until a request that is made now stands in the log, and so does all before it."""
        tag = f"/version?flush={uuid.uuid4().hex}"
        deadline = time.monotonic() + seconds
        offset = self._path.stat().st_size if self._path.exists() else 0
        self._api.request("GET", tag)
        while not self._path.exists() or tag.encode() not in _read_from(self._path, offset):
            if time.monotonic() > deadline:
                raise TimeoutError("the audit log does not show a request that was answered")
            time.sleep(0.01)


def _read_from(path: Path, offset: int) -> bytes:
    with open(path, "rb") as file:
        file.seek(offset)
        return file.read()


def _request(event: dict[str, Any]) -> Request:
    reference = event.get("objectRef", {})
    return Request(
        user=event["user"]["username"],
        agent=event.get("userAgent", ""),
        verb=event["verb"],
        group=reference.get("apiGroup", ""),
        resource=reference.get("resource", ""),
        subresource=reference.get("subresource", ""),
        namespace=reference.get("namespace", ""),
        name=reference.get("name", ""),
        uri=event["requestURI"],
        status=event.get("responseStatus", {}).get("code", 0),
        body=event.get("requestObject"),
    )
