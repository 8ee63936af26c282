# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""One watch request: events from a streaming answer, until it ends or somebody closes it."""

from __future__ import annotations

import json
import socket
import threading
from typing import Any, Callable, Generic, Iterator, Mapping, Optional, TypeVar

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.base import WatchEvent
from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.kubernetes.errors import (
    Subject,
    failure,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.kubernetes.timing import (
    Attention,
)

T = TypeVar("T")

# The API server sends a bookmark about once a minute. A stream that is silent for longer is dead,
# and ending it costs one request: the caller goes on from the last resourceVersion.
LONGEST_SILENCE = 90.0
_BEYOND = 15.0
_CHUNK = 1 << 16


def silence_for(timeout_seconds: int) -> float:
    """The read time-out of a watch that asks the server to end after `timeout_seconds`."""
    return min(LONGEST_SILENCE, timeout_seconds + _BEYOND)


class Watching(Generic[T]):
    """Iterates over WatchEvents. close() may be called by any thread, at any time."""

    def __init__(
        self,
        response: Any,
        parse: Callable[[Mapping[str, Any]], T],
        subject: Subject,
        forget: Callable[[Watching[T]], None],
        attention: Attention,
    ) -> None:
        self._response = response
        self._parse = parse
        self._subject = subject
        self._forget = forget
        self._attention = attention
        self._closed = threading.Event()
        self._socket = socket_of(response)
        self._lines = lines_of(response)

    def __iter__(self) -> Iterator[WatchEvent[T]]:
        return self

    def __next__(self) -> WatchEvent[T]:
        """Raises Gone for an ERROR event of code 410, ApiFailure for another; ends (StopIteration)
        with the stream, whether the server ended it, the connection broke or close() was called."""
        line = self._next_line()
        raw = None if line is None else _decoded(line)
        if raw is None:
            self._finish()
            raise StopIteration
        body = raw.get("object") or {}
        if raw.get("type") == "ERROR":
            self._finish()
            raise failure(int(body.get("code") or 500), body, self._subject)
        version = str((body.get("metadata") or {}).get("resourceVersion") or "")
        return WatchEvent(str(raw.get("type")), self._parse(body), version)

    def close(self) -> None:
        """Ends the stream: a thread that is reading it finds its end at once."""
        self._closed.set()
        if self._socket is not None:
            try:
                # SSLSocket.shutdown would take the TLS state away under the reading thread.
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)
            except OSError:
                pass  # Already closed by the other side.
        self._attention.close()
        self._forget(self)

    def _next_line(self) -> Optional[bytes]:
        import urllib3

        if self._closed.is_set():
            return None
        try:
            with self._attention.waiting():
                return next(self._lines, None)
        except (urllib3.exceptions.HTTPError, OSError, ValueError, AttributeError):
            # Reset, cut short, silent, or closed meanwhile: all are the end of this request. The
            # last two are what a response raises that another thread has closed.
            return None

    def _finish(self) -> None:
        self._closed.set()
        self._response.close()
        self._attention.close()
        self._forget(self)


def _decoded(line: bytes) -> Optional[dict[str, Any]]:
    """None for a line that was cut short: it is the last one, and the stream's end."""
    try:
        raw = json.loads(line)
    except ValueError:
        return None
    return raw if isinstance(raw, dict) else None


def lines_of(response: Any) -> Iterator[bytes]:
    """Whole lines, however the server or a proxy has cut the stream into chunks."""
    pieces: list[bytes] = []
    for chunk in response.stream(_CHUNK):
        *whole, rest = chunk.split(b"\n")
        for line in whole:
            pieces.append(line)
            joined = b"".join(pieces)
            pieces = []
            if joined.strip():
                yield joined
        pieces.append(rest)
    last = b"".join(pieces)
    if last.strip():
        yield last


def socket_of(response: Any) -> Any:
    """The socket under a urllib3 response, versions 1.26 and 2; None when it cannot be found."""
    connection = getattr(response, "connection", None) or getattr(response, "_connection", None)
    found = getattr(connection, "sock", None)
    if found is None:
        raw = getattr(getattr(getattr(response, "_fp", None), "fp", None), "raw", None)
        found = getattr(raw, "_sock", None)
    return found
