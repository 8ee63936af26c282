# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A real HTTP server that answers as a test says: for faults that no API server has on demand."""

from __future__ import annotations

import json
import socket
import struct
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Iterator, Mapping, Optional, Union

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.base import Cluster
from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.kubernetes.connection import (
    Connection,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.registry import find
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.clock import SystemClock


@dataclass(frozen=True)
class Say:
    """An answer with a JSON body."""

    status: int = 200
    body: Any = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Stream:
    """A chunked answer. `end`: "close" as it should be, "reset" in the middle, or "hang"."""

    chunks: tuple[bytes, ...]
    end: str = "close"


RESET = "reset"  # The request is read, then the connection is reset.
SHORT = "short"  # A body that is shorter than its Content-Length.
Answer = Union[Say, Stream, str]


@dataclass(frozen=True)
class Seen:
    method: str
    path: str
    headers: Mapping[str, str]
    body: Any


class FakeApi:
    """Answers each request by the next of `answers`; the last one stays."""

    def __init__(self, answers: list[Answer] | Callable[[Seen], Answer]) -> None:
        self.seen: list[Seen] = []
        self._answers = answers
        self._lock = threading.Lock()
        self._released = threading.Event()
        self._server = _Server(self)
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._released.set()
        self._server.shutdown()
        self._server.server_close()

    def __enter__(self) -> FakeApi:
        return self

    def __exit__(self, *_unused: object) -> None:
        self.close()

    def next(self, seen: Seen) -> Answer:
        with self._lock:
            self.seen.append(seen)
            if callable(self._answers):
                return self._answers(seen)
            return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]

    def hang(self) -> None:
        self._released.wait(30)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, api: FakeApi) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.api = api


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 65536
    disable_nagle_algorithm = True

    server: _Server

    def answer(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        answer = self.server.api.next(Seen(self.command, self.path, dict(self.headers), body))
        if isinstance(answer, Say):
            self._say(answer)
        elif isinstance(answer, Stream):
            self._stream(answer)
        elif answer == SHORT:
            self._say_half()
        else:
            self._reset()

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer

    def _say(self, answer: Say) -> None:
        data = json.dumps(answer.body).encode()
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, answer: Stream) -> None:
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.flush()
        for chunk in answer.chunks:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
            self.wfile.flush()
        if answer.end == "close":
            self.wfile.write(b"0\r\n\r\n")
        elif answer.end == "hang":
            self.server.api.hang()
        else:
            self._reset()

    def log_message(self, *args: Any) -> None:
        """Silent."""

    def _say_half(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "100")
        self.end_headers()
        self.wfile.write(b'{"items"')
        self.close_connection = True

    def _reset(self) -> None:
        at_once = struct.pack("ii", 1, 0)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
        self.connection.close()
        self.close_connection = True


class QuickClock(SystemClock):
    """Sleeping passes its time at once, and is remembered."""

    def __init__(self) -> None:
        self.slept: list[float] = []
        self._ahead = 0.0

    def monotonic(self) -> float:
        return super().monotonic() + self._ahead

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self._ahead += max(0.0, seconds)


def cluster_of(
    url: str,
    clock: Optional[SystemClock] = None,
    interruption: Callable[[], str] = lambda: "",
    **options: Any,
) -> Cluster:
    connection = Connection(**{"host": url, "api_key": "secret", **options})
    found = find(connection, clock=clock or QuickClock(), environment={})
    return found.cluster(interruption)


def page(names: list[str], token: str = "", version: str = "7") -> Say:
    metadata = {"resourceVersion": version, **({"continue": token} if token else {})}
    return Say(body={"metadata": metadata, "items": [node(name) for name in names]})


def node(name: str, version: str = "1", **spec: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": name, "uid": f"uid-{name}", "resourceVersion": version},
        "spec": spec,
    }


def status(code: int, reason: str, message: str = "", **details: Any) -> dict[str, Any]:
    return {
        "kind": "Status",
        "code": code,
        "reason": reason,
        "message": message,
        "details": details,
    }


def line(kind: str, body: Any) -> bytes:
    return json.dumps({"type": kind, "object": body}).encode() + b"\n"


def names(events: Iterator[Any]) -> list[str]:
    return [f"{event.type} {event.object.name}" for event in events]
