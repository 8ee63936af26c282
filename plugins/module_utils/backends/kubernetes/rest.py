# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""JSON over HTTP with the API server: time-outs, renewal on 401, which failures are tried again.

A request fails in one of four ways, and each request says which of them it may be repeated after:

  UNSENT     no connection: the server has not seen the request, a repeat is always safe
  THROTTLED  429: the server has looked at the request and not carried it out
  LOST       the connection broke, or the server went silent, after the request was sent
  BROKEN     500, 502, 503, 504: carried out or not, nobody knows

After LOST and BROKEN a write may have been carried out. Its repeat is harmless only where it has a
precondition, and the repeat's answer may then be a refusal that the first try has itself caused:
the reply says so (`doubtful`), and the object is read to tell the caller the truth (writes.py).
"""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Callable, Mapping, Optional
from urllib.parse import urlencode

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.kubernetes.auth import (
    Access,
    Credentials,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.kubernetes.errors import (
    Subject,
    failure,
    status_of,
    unreachable,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.kubernetes.timing import (
    Attention,
    Time,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.backoff import Backoff
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.version import VERSION

USER_AGENT = f"evenkeel.fleet/{VERSION}"

# Seconds. READ is the longest silence within an answer, WHOLE the longest answer.
CONNECT_TIMEOUT = 10.0
READ_TIMEOUT = 30.0
WHOLE_TIMEOUT = 180.0
# Seconds of trying again: a server that has never answered is more probably a wrong address than
# one that restarts; one that has answered may be in the middle of a control plane upgrade.
# A 500 may be etcd choosing a leader, or the server's answer for ever to what it cannot digest.
FIRST_PATIENCE = 10.0
PATIENCE = 120.0
PATIENCE_WITH_500 = 20.0
BACKOFF = Backoff(first=0.2, most=8.0)
LONGEST_RETRY_AFTER = 30.0
# Once the run must end, only so many tries: what remains to be written is its own cleaning up.
TRIES_WHEN_STOPPING = 3
_RENEWALS = 2
# A page of 500 pods fits: read in one piece, it is copied least.
_CHUNK = 1 << 24
_BROKEN_STATUS = (500, 502, 503, 504)


class Trouble(Enum):
    UNSENT = "unsent"
    THROTTLED = "throttled"
    LOST = "lost"
    BROKEN = "broken"


ALWAYS = frozenset(Trouble)
NOT_CARRIED_OUT = frozenset({Trouble.UNSENT, Trouble.THROTTLED})
ONLY_UNSENT = frozenset({Trouble.UNSENT})


@dataclass(frozen=True)
class Request:
    """`repeat_on`: the troubles after which it is sent again."""

    method: str
    path: str
    subject: Subject
    query: Mapping[str, str] = field(default_factory=dict)
    body: Optional[bytes] = None
    content_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()
    repeat_on: frozenset[Trouble] = ALWAYS

    @property
    def target(self) -> str:
        return f"{self.path}?{urlencode(self.query)}" if self.query else self.path


@dataclass(frozen=True)
class Reply:
    """`doubtful`: an earlier try of the same request may have been carried out."""

    status: int
    data: bytes
    retry_after: Optional[float]
    doubtful: bool = False

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300


@dataclass(frozen=True)
class _Try:
    """One try: an answer (`reply`, or `stream` while its body is still to come), or a `cause`."""

    reply: Optional[Reply] = None
    stream: Any = None
    trouble: Optional[Trouble] = None
    cause: str = ""
    final: bool = False

    @property
    def answer(self) -> Reply:
        """The reply of a try that is known to have one."""
        if self.reply is None:
            raise AssertionError("a try without an answer was taken for the last one")
        return self.reply


class Rest:
    """Thread-safe. `stopping()` is true once the run must end."""

    def __init__(
        self,
        credentials: Credentials,
        time: Time,
        *,
        stopping: Callable[[], bool] = lambda: False,
        headers: tuple[tuple[str, str], ...] = (),
        share: Callable[[], float] = random.random,
    ) -> None:
        self._credentials = credentials
        self._time = time
        self._stopping = stopping
        self._headers = headers
        self._share = share
        self._answered = False

    def attention(self) -> Attention:
        """For a watch that is about to be opened."""
        return self._time.attention()

    @property
    def access(self) -> Access:
        return self._credentials.current()

    def send(self, request: Request) -> Reply:
        """The server's last answer, whatever its status. Raises Unreachable, Unauthorized."""
        return self._persist(request, lambda access: self._exchange(request, access)).answer

    def ask(self, request: Request) -> Reply:
        """The answer of a success; raises the model's error for any other."""
        reply = self.send(request)
        if not reply.ok:
            raise failure(reply.status, status_of(reply.data), request.subject)
        return reply

    def stream(self, request: Request, silence: float) -> Any:
        """An open response; the caller reads and closes its body. `silence`: its read time-out."""
        last = self._persist(request, lambda access: self._open(request, access, silence))
        if last.stream is None:
            reply = last.answer
            raise failure(reply.status, status_of(reply.data), request.subject)
        return last.stream

    def begin(self, request: Request) -> Callable[[], bytes]:
        """Returns as soon as a success has begun to arrive; what it returns reads the body, and
        sends the request again when that breaks off. Raises as `ask` does. For reads."""
        response = self.stream(request, READ_TIMEOUT)

        def body() -> bytes:
            reply = self._complete(response).reply
            return self.ask(request).data if reply is None else reply.data

        return body

    def _persist(self, request: Request, once: Callable[[Access], _Try]) -> _Try:
        """Tries until there is an answer, or no more reason or time to try."""
        doubtful = False
        begin = self._time.monotonic()
        for tries in itertools.count(1):
            last = self._authorized(once)
            if last.trouble is None or last.trouble not in request.repeat_on or last.final:
                break
            doubtful = doubtful or last.trouble in (Trouble.LOST, Trouble.BROKEN)
            pause = self._pause(last, tries)
            spent = self._time.monotonic() - begin
            if spent + pause > self._patience(last):
                break
            if not self._wait(pause, tries):
                break
        if last.reply is None and last.stream is None:
            sent = request.method != "GET" and (doubtful or last.trouble is Trouble.LOST)
            server = self._credentials.current().server
            raise unreachable(server, last.cause, tries, request.subject, sent)
        if last.reply is None:
            return last
        return replace(last, reply=replace(last.reply, doubtful=doubtful))

    def _patience(self, last: _Try) -> float:
        if last.reply is not None and last.reply.status == 500:
            return PATIENCE_WITH_500
        return PATIENCE if self._answered else FIRST_PATIENCE

    def _pause(self, last: _Try, tries: int) -> float:
        pause = BACKOFF.delay(tries - 1, self._share)
        asked = last.reply.retry_after if last.reply is not None else None
        return pause if asked is None else min(LONGEST_RETRY_AFTER, asked) + pause / 2.0

    def _wait(self, seconds: float, tries: int) -> bool:
        """False when the run must end and has had its tries."""
        until = self._time.monotonic() + seconds
        while True:
            if self._stopping():
                self._time.sleep(min(seconds, 0.2))
                return tries < TRIES_WHEN_STOPPING
            left = until - self._time.monotonic()
            if left <= 0.0:
                return True
            self._time.sleep(min(1.0, left))

    def _authorized(self, once: Callable[[Access], _Try]) -> _Try:
        """One try, and more with a fresh credential while the answer is 401."""
        access = self._credentials.current()
        for _renewal in range(_RENEWALS):
            result = once(access)
            if result.reply is None or result.reply.status != 401:
                return result
            access = self._credentials.renew(access)
        return once(access)

    def _exchange(self, request: Request, access: Access) -> _Try:
        result = self._open(request, access, READ_TIMEOUT)
        if result.stream is None:
            return result
        return self._complete(result.stream)

    def _open(self, request: Request, access: Access, silence: float) -> _Try:
        """Sends, and waits for the answer's first lines; a failure's body is read to its end."""
        import urllib3

        try:
            response = access.pool.request(
                request.method,
                access.server + request.target,
                body=request.body,
                headers=self._request_headers(request, access),
                timeout=urllib3.Timeout(connect=CONNECT_TIMEOUT, read=silence),
                retries=False,
                redirect=False,
                preload_content=False,
            )
        except urllib3.exceptions.HTTPError as error:
            return _no_answer(error)
        self._answered = True
        if 200 <= response.status < 300:
            return _Try(stream=response)
        return self._complete(response)

    def _complete(self, response: Any) -> _Try:
        """Reads the body; a body cut short is an answer lost."""
        import urllib3

        try:
            data = self._body(response)
        except (urllib3.exceptions.HTTPError, OSError) as error:
            response.close()
            return _Try(trouble=Trouble.LOST, cause=f"the answer broke off ({_words(error)})")
        response.release_conn()
        reply = Reply(response.status, data, _retry_after(response.headers))
        return _Try(reply=reply, trouble=_trouble(response.status))

    def _body(self, response: Any) -> bytes:
        until = self._time.monotonic() + WHOLE_TIMEOUT
        chunks: list[bytes] = []
        while True:
            chunk = response.read(_CHUNK)
            if not chunk:
                return chunks[0] if len(chunks) == 1 else b"".join(chunks)
            chunks.append(chunk)
            if self._time.monotonic() > until:
                raise TimeoutError(f"it took longer than {WHOLE_TIMEOUT:.0f} s")

    def _request_headers(self, request: Request, access: Access) -> Any:
        from urllib3._collections import HTTPHeaderDict

        headers = HTTPHeaderDict({"Accept": "application/json", "User-Agent": USER_AGENT})
        if access.authorization:
            headers["Authorization"] = access.authorization
        if request.body is not None:
            headers["Content-Type"] = request.content_type
        for name, value in (*self._headers, *request.headers):
            headers.add(name, value)
        return headers


def _trouble(status: int) -> Optional[Trouble]:
    if status == 429:
        return Trouble.THROTTLED
    return Trouble.BROKEN if status in _BROKEN_STATUS else None


def _retry_after(headers: Any) -> Optional[float]:
    """Seconds; the API server never sends the other form, a date."""
    text = str(headers.get("Retry-After") or "")
    return float(text) if text.isdigit() else None


def _no_answer(error: Exception) -> _Try:
    """`final`: the cause is in the configuration, and trying again cannot help."""
    from urllib3 import exceptions

    cause = _words(error)
    if isinstance(error, exceptions.SSLError):
        return _Try(
            trouble=Trouble.UNSENT,
            cause=f"TLS failed: {cause}",
            final="CERTIFICATE" in cause.upper(),
        )
    if isinstance(error, exceptions.ProxyError):
        return _Try(trouble=Trouble.UNSENT, cause=f"the proxy failed: {cause}")
    if isinstance(error, (exceptions.NewConnectionError, exceptions.ConnectTimeoutError)):
        return _Try(trouble=Trouble.UNSENT, cause=cause)
    if isinstance(error, exceptions.ReadTimeoutError):
        return _Try(trouble=Trouble.LOST, cause="it went silent")
    return _Try(trouble=Trouble.LOST, cause=cause)


def _words(error: BaseException) -> str:
    """The innermost cause's own words: "Connection refused", not three class names around it."""
    while error.__cause__ is not None or error.__context__ is not None:
        error = error.__cause__ or error.__context__  # type: ignore[assignment]
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__
