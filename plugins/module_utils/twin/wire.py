# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""HTTP/1.1 as far as clients of the Kubernetes API use it: keep-alive, chunked streams.

http.server would do, at three times the cost of a request; and the requests of a rehearsal are most
of its time.
"""

from __future__ import annotations

import select
import socket
import socketserver
import ssl
import struct
import threading
from typing import Any, BinaryIO, Callable, Iterator, Mapping, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.messages import (
    Response,
    Stream,
)

# method, target, headers by lower-case name, body.
Handler = Callable[[str, str, Mapping[str, str], bytes], Response]

_LONGEST_LINE = 65536
_REASONS = {200: "OK", 201: "Created", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found"}


class Server(socketserver.ThreadingTCPServer):
    """A thread per connection. `address` is (host, port) as it is bound; port 0 takes any."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self, host: str, port: int, context: ssl.SSLContext, handle: Handler) -> None:
        self.handle = handle
        self._context = context
        self._open: set[socket.socket] = set()
        self._guard = threading.Lock()
        super().__init__((host, port), _Connection)

    def start(self) -> None:
        threading.Thread(
            target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        ).start()

    def stop(self) -> None:
        """Ends all connections, watches too."""
        self.shutdown()
        self.server_close()
        with self._guard:
            connections = tuple(self._open)
        for connection in connections:
            _shut(connection)

    def secure(self, plain: socket.socket) -> Optional[ssl.SSLSocket]:
        """The handshake, in the connection's own thread; None when the client gives it up."""
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            secured = self._context.wrap_socket(plain, server_side=True)
        except OSError:
            return None
        with self._guard:
            self._open.add(secured)
        return secured

    def forget(self, connection: socket.socket) -> None:
        with self._guard:
            self._open.discard(connection)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away in the middle is nothing to tell of."""


class _Connection(socketserver.BaseRequestHandler):
    server: Server

    def handle(self) -> None:
        secured = self.server.secure(self.request)
        if secured is None:
            return
        try:
            with secured.makefile("rb") as reader:
                while self._serve(reader, secured):
                    pass
        except OSError:
            pass  # The client is gone.
        finally:
            self.server.forget(secured)
            secured.close()

    def _serve(self, reader: BinaryIO, connection: ssl.SSLSocket) -> bool:
        """One request; False when the connection is over."""
        line = reader.readline(_LONGEST_LINE).split()
        if len(line) != 3:
            return False
        method, target = line[0].decode("latin-1"), line[1].decode("latin-1")
        headers = dict(_headers(reader))
        if headers.get("expect", "").lower() == "100-continue":
            connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        body = reader.read(int(headers.get("content-length") or 0))
        response = self.server.handle(method, target, headers, body)
        if response.stream is not None:
            _send_stream(connection, response, response.stream)
            return False
        if response.share < 1.0:
            _send_part(connection, response)
            return False
        connection.sendall(_head(response, len(response.body)) + response.body)
        return headers.get("connection", "").lower() != "close"


def _headers(reader: BinaryIO) -> Iterator[tuple[str, str]]:
    while True:
        line = reader.readline(_LONGEST_LINE)
        if line in (b"\r\n", b"\n", b""):
            return
        name, _colon, value = line.decode("latin-1").partition(":")
        yield name.strip().lower(), value.strip()


def _head(response: Response, length: Optional[int]) -> bytes:
    """length: None for a body in chunks."""
    reason = _REASONS.get(response.status, "Status")
    lines = [f"HTTP/1.1 {response.status} {reason}", f"Content-Type: {response.content_type}"]
    lines += [f"{name}: {value}" for name, value in response.headers]
    if length is None:
        lines += ["Transfer-Encoding: chunked", "Connection: close"]
    else:
        lines.append(f"Content-Length: {length}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def _send_part(connection: ssl.SSLSocket, response: Response) -> None:
    """The client reads "connection reset by peer" where it expects more."""
    if response.share > 0.0:
        part = response.body[: int(len(response.body) * response.share)]
        connection.sendall(_head(response, len(response.body)) + part)
    _reset_when_closed(connection)


def _reset_when_closed(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def _send_stream(connection: ssl.SSLSocket, response: Response, stream: Stream) -> None:
    """Ends with the stream, or when the client is gone."""
    watcher = threading.Thread(target=_close_with, args=(connection, stream), daemon=True)
    try:
        connection.sendall(_head(response, None))
        watcher.start()
        for line in stream:
            connection.sendall(b"%x\r\n%b\r\n" % (len(line), line))
        if response.share < 1.0:
            # Nothing is sent yet: the watcher must let the connection go before it can be reset.
            _shut(connection, socket.SHUT_RD)
            watcher.join()
            _reset_when_closed(connection)
            return
        connection.sendall(b"0\r\n\r\n")
        _shut(connection)
    except OSError:
        _shut(connection)
        raise
    finally:
        stream.close()


def _close_with(connection: ssl.SSLSocket, stream: Stream) -> None:
    """A client sends nothing during a watch: what could be read is the end of the connection. It is
    not read, because two threads at once must not use one TLS connection."""
    try:
        select.select([connection], [], [])
    except (OSError, ValueError):
        pass  # Closed on our side meanwhile.
    stream.close()


def _shut(connection: socket.socket, how: int = socket.SHUT_RDWR) -> None:
    try:
        # SSLSocket.shutdown would take the TLS state away under a thread that reads.
        socket.socket.shutdown(connection, how)
    except OSError:
        pass
