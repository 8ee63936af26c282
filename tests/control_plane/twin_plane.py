# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A twin that looks like a plane: the same tests run on it, in real time and in this process.

It has the plane's users and their tokens, and writes an audit log of the same form.
"""

from __future__ import annotations

import base64
import json
import threading
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.answers import Refusal
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour import catalogue
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.messages import (
    Request,
    Response,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.rbac import MASTERS, User
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.routes import route
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.twin import Settings, Twin

from . import credentials
from .components import Layout
from .plane import Plane

VERSION = "v1.37.2"


@contextmanager
def twin_plane(state: Path) -> Iterator[Plane]:
    """state: a directory that is not there yet."""
    layout = Layout(state)
    layout.certificate.parent.mkdir(parents=True)
    layout.audit_log.touch()
    credentials.write_credentials(layout)
    twin = _Audited(layout.audit_log)
    twin.start()
    try:
        authority = twin.kubeconfig()["clusters"][0]["cluster"]["certificate-authority-data"]
        layout.certificate.write_bytes(base64.b64decode(authority))
        text = credentials.kubeconfig(twin.url, layout.certificate, {"token": "admin"})
        layout.kubeconfig.write_text(text)
        yield Plane(state, twin.url, VERSION, lifeline=0)
    finally:
        twin.stop()


class _Audited(Twin):
    """Each request is in the log once its answer begins, a watch too."""

    def __init__(self, log: Path) -> None:
        settings = Settings(time.time())
        super().__init__(settings, catalogue.all_controllers(catalogue.Settings()))
        self._log = log.open("a", encoding="utf-8")
        self._writing = threading.Lock()
        self.add_user(User("admin", (MASTERS,)), "admin")
        for number in range(credentials.USERS_PER_KIND):
            for kind, groups in (("runner", (MASTERS,)), ("limited", ())):
                name = f"{kind}-{number:04}"
                self.add_user(User(name, groups), name)

    def _handle(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes
    ) -> Response:
        response = super()._handle(method, target, headers, body)
        token = headers.get("authorization", "").partition("Bearer ")[2]
        request = Request.parse(method, target, headers, body, User(token))
        line = json.dumps(self._event(request, target, response.status))
        with self._writing:
            self._log.write(line + "\n")
            self._log.flush()
        return response

    def _event(self, request: Request, target: str, status: int) -> dict[str, Any]:
        event = {
            "auditID": uuid.uuid4().hex,
            "user": {"username": request.user.name},
            "userAgent": request.headers.get("user-agent", ""),
            "verb": request.method.lower(),
            "requestURI": target,
            "responseStatus": {"code": status},
        }
        try:
            found = route(request, self.api.kinds)
        except Refusal:
            return event
        reference = {
            "apiGroup": found.kind.group,
            "resource": found.kind.plural,
            "subresource": found.subresource,
            "namespace": found.namespace,
            "name": found.name,
        }
        sent = json.loads(request.body) if request.body[:1] in (b"{", b"[") else None
        return {**event, "verb": found.verb, "objectRef": reference, "requestObject": sent}
