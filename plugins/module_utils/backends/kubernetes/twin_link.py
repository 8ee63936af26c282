# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How a run talks with its twin about time: twin_clock's Link, over HTTP beside the API."""

from __future__ import annotations

import json
import math
import socket
from typing import Any, Iterator, Mapping

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.kubernetes.auth import (
    Access,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.kubernetes.watch import (
    lines_of,
    socket_of,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.twin_protocol import TIME_PATH

_CONNECT_SECONDS = 10.0


class HttpLink:
    """Two connections: one on which the times come, one for what this run declares."""

    def __init__(self, access: Access, runner: str) -> None:
        self._access = access
        self._path = f"{access.server}{TIME_PATH}runners/{runner}"
        self._stream: Any = None
        self._closed = False

    def times(self) -> Iterator[float]:
        """Ends, and does not raise, when the twin is gone."""
        import urllib3

        try:
            self._stream = self._send("GET", "times", None)
            for line in lines_of(self._stream):
                yield float(json.loads(line)["now"])
                if self._closed:
                    return
        except (urllib3.exceptions.HTTPError, OSError, ValueError, KeyError, AttributeError):
            # Reset, closed by close(), cut short, or no twin at all: there are no more times.
            return

    def wait(self, until: float, seen: Mapping[str, int]) -> None:
        import urllib3

        body = {"until": None if until == math.inf else until, "seen": dict(seen)}
        try:
            self._send("POST", "wait", body).drain_conn()
        except (urllib3.exceptions.HTTPError, OSError):
            # times() ends with the same connection, and says so.
            return

    def close(self) -> None:
        self._closed = True
        connection = socket_of(self._stream) if self._stream is not None else None
        if connection is not None:
            try:
                socket.socket.shutdown(connection, socket.SHUT_RDWR)
            except OSError:
                pass  # The other side was faster.

    def _send(self, method: str, what: str, body: Any) -> Any:
        import urllib3

        return self._access.pool.request(
            method,
            f"{self._path}/{what}",
            body=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": self._access.authorization},
            timeout=urllib3.Timeout(connect=_CONNECT_SECONDS, read=None),
            retries=False,
            preload_content=False,
        )
