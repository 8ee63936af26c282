# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A twin: its API, its time and its server, put together."""

from __future__ import annotations

import json
import math
import queue
import secrets
import threading
import time
from dataclasses import dataclass
from random import Random
from typing import Any, Callable, Iterator, Mapping, Optional, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.twin_protocol import (
    RUNNER_HEADER,
    TIME_PATH,
    WATCH_HEADER,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin import answers
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.api import Api
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.base import Controller
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.credentials import (
    kubeconfig,
    new_certificate,
    server_context,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.engine import Engine
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.faults import Fault
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.journal import Journal
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.kinds import Kinds
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.messages import (
    Request,
    Response,
    Stream,
    answered,
    encoded,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.object_faults import (
    object_faults,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.rbac import MASTERS, User
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.request_faults import (
    RequestFaults,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.store import Store
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.timekeeper import Timekeeper
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.treatment import (
    LOST,
    Script,
    Treatment,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.wire import Server

HOST = "127.0.0.1"
NAMESPACES = ("default", "kube-system", "kube-public", "kube-node-lease")


@dataclass(frozen=True)
class Settings:
    """start: seconds since the epoch at which the twin's time begins. seed: of all chance.
    port: 0 for any that is free. faults: what goes wrong, and when.
    run_up: seconds of its time before `start`, which pass at once when it is started: what it was
    told of comes up meanwhile."""

    start: float
    virtual: bool = False
    seed: int = 0
    port: int = 0
    faults: tuple[Fault, ...] = ()
    run_up: float = 0.0


class Twin:
    """start() serves it; stop() ends it. users: by token; the first one may do everything.

    script: what becomes of each request; that of settings.faults, unless another one is set.
    """

    def __init__(self, settings: Settings, controllers: Sequence[Controller] = ()) -> None:
        self.settings = settings
        self.time = Timekeeper(settings.start - settings.run_up, virtual=settings.virtual)
        self.store = Store()
        self.api = Api(self.store, Kinds(), self.time.now, Random(settings.seed))
        self.journal = Journal(self.store, self.time.now)
        self._certificate = new_certificate(HOST)
        self._users = {secrets.token_urlsafe(24): User("twin-admin", (MASTERS,))}
        self._server: Optional[Server] = None
        self._asked = time.monotonic()
        troubles = object_faults(settings.faults, settings.start, settings.seed)
        self._engine = Engine(self.api, self.time, (*troubles, *controllers), settings.seed)
        self.script: Script = RequestFaults(
            settings.faults, settings.seed, self._elapsed, self.store, self.api.kinds
        )
        self._make_namespaces()

    def start(self) -> None:
        """Raises OSError when the port is taken. Returns once the run-up is over."""
        context = server_context(self._certificate)
        self._server = Server(HOST, self.settings.port, context, self._handle)
        self._server.start()
        self._engine.start()
        threading.Thread(target=self.time.run, name="twin-time", daemon=True).start()
        if self.settings.run_up:
            with self.time.hurried() as let_pass:
                let_pass(self.settings.run_up)
        self.journal.begin()

    def stop(self) -> None:
        if self._server is not None:
            self._server.stop()
        self.time.close()

    @property
    def url(self) -> str:
        if self._server is None:
            raise RuntimeError("the twin was not started")
        return f"https://{HOST}:{self._server.server_address[1]}"

    @property
    def idle(self) -> float:
        """Seconds of real time since the last request with a token of ours."""
        return time.monotonic() - self._asked

    def add_user(self, user: User, token: str = "") -> str:
        """Returns the token of a new user, who may do what RBAC grants; "" makes one up."""
        token = token or secrets.token_urlsafe(24)
        self._users[token] = user
        return token

    def kubeconfig(self, token: str = "") -> dict[str, Any]:
        """Of the user with this token, or of the one who may do everything."""
        chosen = token or next(iter(self._users))
        return kubeconfig(self.url, self._certificate, chosen, virtual=self.settings.virtual)

    def _elapsed(self) -> float:
        return self.time.now() - self.settings.start

    def _make_namespaces(self) -> None:
        kind = self.api.kinds.named("namespaces")
        for name in NAMESPACES:
            self.api.lifecycle.create(kind, {"metadata": {"name": name}}, "")

    # Requests

    def _handle(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes
    ) -> Response:
        user = self._users.get(headers.get("authorization", "").partition("Bearer ")[2])
        if user is None:
            refusal = answers.unauthorized()
            return answered(refusal.body, refusal.code)
        self._asked = time.monotonic()
        request = Request.parse(method, target, headers, body, user)
        if request.path.startswith(TIME_PATH):
            return self._about_time(request)
        with self.time.request():
            return self._treated(request, self.script(request))

    def _treated(self, request: Request, treatment: Treatment) -> Response:
        treatment.before()
        self.time.linger(treatment.delay)
        if treatment.instead is not None:
            return treatment.instead
        if treatment.lost:
            return LOST
        response = self._about_objects(request)
        self._keep_in_mind(request, response)
        treatment.after()
        self.time.linger(treatment.silence)
        return treatment.applied(response)

    def _about_objects(self, request: Request) -> Response:
        runner = request.headers.get(RUNNER_HEADER.lower(), "")
        watch = request.headers.get(WATCH_HEADER.lower(), "")
        if not runner:
            return self.api.handle(request)
        response = self.api.handle(request, lambda: self.time.sent(runner, watch))
        if response.stream is None:
            return response
        ending = _Ending(response.stream, lambda: self.time.ended(runner, watch))
        return Response(response.status, stream=ending)

    def _keep_in_mind(self, request: Request, response: Response) -> None:
        parts = request.path.split("/")
        if response.status >= 400 and request.method == "POST" and parts[-1] == "eviction":
            self.journal.denied(parts[-4], parts[-2], _sentence(response))

    # Time

    def _about_time(self, request: Request) -> Response:
        parts = request.path[len(TIME_PATH) :].split("/")
        if parts == ["time"]:
            return answered({"now": self.time.now(), "virtual": self.time.virtual})
        if parts == ["advance"] and request.method == "POST":
            self.time.advance(float(request.document().get("seconds") or 0.0))
            return answered({})
        if parts == ["pass"] and request.method == "POST":
            self.time.pass_by(float(request.document()["seconds"]))
            return answered({"now": self.time.now()})
        if parts == ["journal"]:
            entries = [entry.document() for entry in self.journal.entries()]
            return answered({"now": self.time.now(), "entries": entries})
        if len(parts) == 3 and parts[0] == "runners":
            if parts[2] == "times":
                return Response(200, stream=_Times(self.time, parts[1]))
            if parts[2] == "wait" and request.method == "POST":
                return self._wait(parts[1], request.document())
        refusal = answers.no_such_path()
        return answered(refusal.body, refusal.code)

    def _wait(self, runner: str, body: Mapping[str, Any]) -> Response:
        until = math.inf if body.get("until") is None else float(body["until"])
        known = self.time.wait(runner, until, body.get("seen") or {})
        return answered({}, 200 if known else 404)


def _sentence(response: Response) -> str:
    """What a refused eviction is refused for."""
    body = json.loads(response.body)
    causes = (body.get("details") or {}).get("causes") or [{}]
    return str(causes[0].get("message") or body.get("message") or "")


class _Times:
    """messages.Stream: each new time, to a runner that is waited for as long as this lasts."""

    def __init__(self, time: Timekeeper, runner: str) -> None:
        self._time = time
        self._runner = runner
        self._news: queue.SimpleQueue[Optional[float]] = queue.SimpleQueue()
        time.join(runner, self._news.put)

    def __iter__(self) -> Iterator[bytes]:
        for moment in iter(self._news.get, None):
            yield encoded({"now": moment})

    def close(self) -> None:
        self._time.leave(self._runner)
        self._news.put(None)


class _Ending:
    """A stream that tells when it is over."""

    def __init__(self, stream: Stream, over: Callable[[], None]) -> None:
        self._stream = stream
        self._over = over

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._stream)

    def close(self) -> None:
        self._stream.close()
        self._over()
