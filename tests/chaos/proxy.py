# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A proxy in front of the API server that counts requests and spoils the ones that a script picks.

It serves with the API server's own certificate and key, so a kubeconfig needs nothing but another
port (`Space.kubeconfig(server=proxy.url)`). Every client connection has a thread and a connection
of its own to the server; tokens pass through.
"""

from __future__ import annotations

import contextlib
import http.client
import http.server
import json
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from tests.control_plane.audit import WRITES
from tests.control_plane.plane import Plane

_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
# POSTs that store nothing.
_QUESTIONS = "selfsubjectaccessreviews"


@dataclass(frozen=True)
class Exchange:
    """One request. number: 1, 2, ... in the order of arrival; at: time.monotonic() then."""

    number: int
    at: float
    method: str
    path: str

    @property
    def writes(self) -> bool:
        return _VERBS.get(self.method) in WRITES and _QUESTIONS not in self.path

    @property
    def watches(self) -> bool:
        return "watch=" in self.path

    def __str__(self) -> str:
        return f"{self.number} {self.method} {self.path}"


@dataclass(frozen=True)
class Answer:
    """An answer that the server never gave. retry_after: seconds for that header, or None."""

    status: int
    reason: str
    message: str
    retry_after: int | None = None

    def body(self) -> bytes:
        return json.dumps(self.document()).encode()

    def document(self) -> dict[str, Any]:
        return {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "reason": self.reason,
            "code": self.status,
        }


def _nothing() -> None:
    """The default act."""


@dataclass(frozen=True)
class Treatment:
    """What becomes of one request; the default is to pass it and its answer on.

    before, after: done before it is forwarded, and when the server has answered.
    instead: an answer given without asking the server. lost: "request" (it never arrives), or
    "answer" (it was carried out); the client's connection is reset. pause: seconds before the
    answer is passed on. share: the part of the answer's body that is passed on before the
    connection breaks. events: so many events of a watch pass; then it ends, with `last` as an
    ERROR event where that is given.
    """

    before: Callable[[], None] = _nothing
    after: Callable[[], None] = _nothing
    instead: Answer | None = None
    lost: str = ""
    pause: float = 0.0
    share: float = 1.0
    events: int | None = None
    last: Answer | None = None


UNDISTURBED = Treatment()
Script = Callable[[Exchange], Treatment]


class Proxy:
    """Serves until close(). `script` is asked about every request, in that request's thread."""

    def __init__(self, plane: Plane, script: Script = lambda _exchange: UNDISTURBED) -> None:
        self.script = script
        certificate = plane.layout.certificate
        parts = urlsplit(plane.server)
        self._upstream = (parts.hostname or "", parts.port or 443)
        self._trust = ssl.create_default_context(cafile=str(certificate))
        serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        serving.load_cert_chain(certificate, certificate.with_suffix(".key"))
        self._lock = threading.Lock()
        self._exchanges: list[Exchange] = []
        self._open: set[http.client.HTTPConnection] = set()
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self._server.context = serving
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self._server.server_address[1]}"

    @property
    def exchanges(self) -> list[Exchange]:
        """What was asked so far, oldest first."""
        with self._lock:
            return list(self._exchanges)

    def note(self, method: str, path: str) -> Exchange:
        with self._lock:
            number = len(self._exchanges) + 1
            exchange = Exchange(number, time.monotonic(), method, path)
            self._exchanges.append(exchange)
        return exchange

    def connect(self) -> http.client.HTTPSConnection:
        connection = http.client.HTTPSConnection(*self._upstream, timeout=90, context=self._trust)
        with self._lock:
            self._open.add(connection)
        return connection

    def forget(self, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            self._open.discard(connection)
        connection.close()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        with self._lock:
            still_open = list(self._open)
        for connection in still_open:
            # A thread may be reading a watch from it: that one finds its end.
            if connection.sock is not None:
                with contextlib.suppress(OSError):
                    socket.socket.shutdown(connection.sock, socket.SHUT_RDWR)


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64
    context: ssl.SSLContext

    def get_request(self) -> tuple[socket.socket, Any]:
        """The handshake is made by the connection's own thread, at its first read."""
        plain, address = super().get_request()
        wrapped = self.context.wrap_socket(plain, server_side=True, do_handshake_on_connect=False)
        return wrapped, address

    def shutdown_request(self, request: Any) -> None:
        """No orderly end of the stream: a connection that is to be reset must not have one."""
        self.close_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that were killed leave their connections as they are."""


def _handler(proxy: Proxy) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(_Relay):
        pass

    Handler.proxy = proxy
    return Handler


class _Relay(http.server.BaseHTTPRequestHandler):
    """One connection of a client."""

    proxy: Proxy
    protocol_version = "HTTP/1.1"
    # One write per answer, or each waits 40 ms for the other side's acknowledgement.
    wbufsize = 65536
    disable_nagle_algorithm = True

    def setup(self) -> None:
        super().setup()
        self._server_side: http.client.HTTPSConnection | None = None

    def finish(self) -> None:
        if self._server_side is not None:
            self.proxy.forget(self._server_side)
        with contextlib.suppress(OSError, ValueError):
            super().finish()

    def relay(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        exchange = self.proxy.note(self.command, self.path)
        treatment = self.proxy.script(exchange)
        treatment.before()
        if treatment.instead is not None:
            self._give(treatment.instead.status, treatment.instead.body(), treatment)
        elif treatment.lost == "request":
            self._reset()
        else:
            self._forward(exchange, body, treatment)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = relay

    def _forward(self, exchange: Exchange, body: bytes, treatment: Treatment) -> None:
        try:
            response = self._ask(body)
            streams = exchange.watches and response.status == 200
            data = b"" if streams else response.read()
        except (OSError, http.client.HTTPException):
            self._reset()
            return
        treatment.after()
        if treatment.lost == "answer":
            time.sleep(treatment.pause)
            self._reset()
        elif streams:
            self._stream(response, treatment)
        else:
            self._give(response.status, data, treatment, response.getheader("Retry-After"))

    def _ask(self, body: bytes) -> http.client.HTTPResponse:
        """An idle connection that the server has closed meanwhile is opened once more."""
        fresh = self._server_side is None
        if self._server_side is None:
            self._server_side = self.proxy.connect()
        kept = ("Authorization", "Accept", "Content-Type", "User-Agent")
        headers = {name: self.headers[name] for name in kept if name in self.headers}
        try:
            self._server_side.request(self.command, self.path, body or None, headers)
            return self._server_side.getresponse()
        except (http.client.RemoteDisconnected, BrokenPipeError):
            self.proxy.forget(self._server_side)
            self._server_side = None
            if fresh:
                raise
            return self._ask(body)

    def _give(
        self, status: int, body: bytes, treatment: Treatment, retry_after: str | None = None
    ) -> None:
        time.sleep(treatment.pause)
        if treatment.instead is not None and treatment.instead.retry_after is not None:
            retry_after = str(treatment.instead.retry_after)
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if retry_after is not None:
            self.send_header("Retry-After", retry_after)
        self.end_headers()
        if treatment.share < 1.0:
            self.wfile.write(body[: int(len(body) * treatment.share)])
            self.wfile.flush()
            self._reset()
        else:
            self.wfile.write(body)
            self.wfile.flush()

    def _stream(self, response: http.client.HTTPResponse, treatment: Treatment) -> None:
        """A watch: one event a line, each passed on at once."""
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.flush()
        passed = 0
        while treatment.events is None or passed < treatment.events:
            try:
                line = response.readline()
            except (OSError, http.client.HTTPException):
                line = b""
            if not line:
                break
            self._chunk(line)
            passed += 1
        if treatment.events is not None and treatment.last is None:
            self._reset()
            return
        if treatment.last is not None:
            event = {"type": "ERROR", "object": treatment.last.document()}
            self._chunk(json.dumps(event).encode() + b"\n")
        self._chunk(b"")
        # What is left of the server's stream is not wanted.
        self.close_connection = True

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def _reset(self) -> None:
        """The client reads "connection reset by peer"."""
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def log_message(self, *arguments: Any) -> None:
        """`Proxy.exchanges` is the log."""
