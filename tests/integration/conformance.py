# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The same requests to two API servers, and their answers made comparable.

A script is a function that is given a Side and sends requests through it. It is run once for each
server; what came back is compared answer by answer, field by field.
"""

from __future__ import annotations

import copy
import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Optional
from urllib.parse import urlencode

from tests.control_plane.api import Answer, Api, Document

NODES = "/api/v1/nodes"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"

# Fields that the API server does not fill here: what controllers of the real control plane write at
# a moment of their own, and the account that an admission plugin gives to pods, which the control
# plane of the tests leaves out. And what the twin leaves out: server-side apply, and the finalizers
# of volumes and claims, which only controllers could take away again.
_LEFT_OUT = (
    "managedFields",
    "storageVersionHash",
    "serviceAccount",
    "serviceAccountName",
    "node.alpha.kubernetes.io/ttl",
    "observedGeneration",
    "terminatingReplicas",
    "lastPhaseTransitionTime",
)
_OF_CONTROLLERS = ("kubernetes.io/pv-protection", "kubernetes.io/pvc-protection")
_TAINTS_OF_CONTROLLERS = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unschedulable")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_RECORDED = re.compile(r"record \(\d+\)")
_REVISIONS = ("resourceVersion", "observedResourceVersion")


@dataclass(frozen=True)
class Said:
    """One request, for people, and its answer, made comparable."""

    request: str
    status: int
    body: Any


@dataclass
class Side:
    """One server. `namespace` and `node` are names that both servers know by then.

    user: the name of the user that `limited` authenticates as.
    """

    api: Api
    limited: Api
    namespace: str
    node: str
    user: str = ""
    # What controllers of the real side have made of objects; the twin has no controllers here.
    settled: list[Document] = field(default_factory=list)
    real: bool = True
    said: list[Said] = field(default_factory=list)
    _uids: dict[str, str] = field(default_factory=dict)

    def path(self, version: str, plural: str, name: str = "") -> str:
        root = "/apis" if "/" in version else "/api"
        parts = [root, version, "namespaces", self.namespace, plural]
        return "/".join([*parts, name] if name else parts)

    @property
    def pods(self) -> str:
        return self.path("v1", "pods")

    # Requests whose answers are compared

    def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        content_type: str = "application/json",
        *,
        user: str = "admin",
        **query: str,
    ) -> Document:
        target = f"{path}?{urlencode(query)}" if query else path
        api = self.limited if user == "limited" else self.api
        answer = api.request(method, target, body, content_type)
        self.said.append(Said(f"{method} {target} {json.dumps(body)}", *self.comparable(answer)))
        return answer.body

    def get(self, path: str, **query: str) -> Document:
        return self.ask("GET", path, **query)

    def post(self, path: str, body: object, **query: str) -> Document:
        return self.ask("POST", path, body, **query)

    def put(self, path: str, body: object, **query: str) -> Document:
        return self.ask("PUT", path, body, **query)

    def delete(self, path: str, body: object = None, **query: str) -> Document:
        return self.ask("DELETE", path, body, **query)

    def refused(
        self,
        method: str,
        path: str,
        body: object = None,
        content_type: str = "application/json",
        **query: str,
    ) -> None:
        """For refusals in words that only the parsers of the real server have: only the status and
        the reason are compared."""
        target = f"{path}?{urlencode(query)}" if query else path
        answer = self.api.request(method, target, body, content_type)
        reason = answer.body.get("reason")
        self.said.append(Said(f"{method} {target}", answer.status, {"reason": reason}))

    def note(self, what: str, body: Document) -> None:
        """Compares a part of an answer."""
        self.said.append(Said(what, 200, self._plain(body, "")))

    # Requests that only prepare

    def quietly(self, method: str, path: str, body: object = None) -> Document:
        answer = self.api.request(method, path, body)
        assert answer.status < 400, (method, path, answer)
        return answer.body

    def settle(self, path: str, done: Callable[[Document], bool]) -> None:
        """On the real side waits until controllers have given the object a status that is `done`;
        the twin's object gets the same status."""
        if self.real:
            deadline = time.monotonic() + 20
            while not done(self.quietly("GET", path)):
                assert time.monotonic() < deadline, path
                time.sleep(0.05)
            self.settled.append(self.quietly("GET", path)["status"])
        else:
            found = self.quietly("GET", path)
            self.quietly("PUT", f"{path}/status", {**found, "status": self.settled.pop(0)})

    def watch(self, path: str, version: str, **query: str) -> None:
        """Compares the events of a watch that lasts a second. Bookmarks come when they come."""
        options = {"watch": "true", "resourceVersion": version, "timeoutSeconds": "1", **query}
        answer = self.api.request("GET", f"{path}?{urlencode(options)}")
        text = answer.body.get("text")
        events = [answer.body] if text is None else [json.loads(line) for line in text.splitlines()]
        kept = [event for event in events if event.get("type") != "BOOKMARK"]
        body = self._plain(kept, "")
        self.said.append(Said(f"WATCH {path}?{urlencode(options)}", answer.status, body))

    def table(self, path: str, **query: str) -> Document:
        """What kubectl get asks for. Ages are not compared, as the objects are not as old, and of
        the columns of -o wide only those of pods and nodes."""
        api = copy.copy(self.api)
        api._headers = {**self.api._headers, "Accept": TABLE}
        api._local = threading.local()
        target = f"{path}?{urlencode(query)}" if query else path
        answer = api.request("GET", target)
        columns = answer.body.get("columnDefinitions") or []
        wide = path.rstrip("/").endswith(("pods", "nodes"))
        kept = [number for number, one in enumerate(columns) if wide or not one["priority"]]
        for row in answer.body.get("rows") or ():
            for number, one in enumerate(columns):
                if one["name"] in ("Age", "Last Seen"):
                    row["cells"][number] = "<age>"
            row["cells"] = [row["cells"][number] for number in kept]
        if columns:
            for one in columns:
                del one["description"]
            answer.body["columnDefinitions"] = [columns[number] for number in kept]
        self.said.append(Said(f"TABLE {target}", *self.comparable(answer)))
        return answer.body

    # Making answers comparable

    def comparable(self, answer: Answer) -> tuple[int, Any]:
        return answer.status, self._plain(answer.body, "")

    def _plain(self, value: Any, name: str) -> Any:
        if isinstance(value, dict):
            kept = {key: one for key, one in value.items() if key not in _LEFT_OUT}
            if {one.get("key") for one in kept.get("taints") or ()} & set(_TAINTS_OF_CONTROLLERS):
                del kept["taints"]
            if set(kept.get("finalizers") or ()) & set(_OF_CONTROLLERS):
                del kept["finalizers"]
            if set(kept.get("annotations") or ()) == {"node.alpha.kubernetes.io/ttl"}:
                del kept["annotations"]
            return {self._text(key): self._plain(one, key) for key, one in kept.items()}
        if isinstance(value, list):
            return [self._plain(one, name) for one in value]
        if isinstance(value, str):
            if name in _REVISIONS and value.isdigit():
                return "<revision>"
            if name == "continue" and value:
                return "<token>"
            return self._text(value)
        return value

    def _text(self, text: str) -> str:
        text = _RECORDED.sub("record (<revision>)", _TIME.sub("<time>", text))
        if self.user:
            text = text.replace(self.user, "<user>")
        return _UID.sub(lambda found: self._uids.setdefault(found[0], self._next_uid()), text)

    def _next_uid(self) -> str:
        return f"<uid {len(self._uids) + 1}>"


Script = Callable[[Side], None]


def differences(real: Side, twin: Side) -> list[str]:
    """One line for each field that differs, with the request that it answers."""
    found: list[str] = []
    for one, other in zip(real.said, twin.said):
        lines = list(_differences(one.body, other.body, ""))
        if one.status != other.status:
            lines.insert(0, f"status: real {one.status}, twin {other.status}")
        if lines:
            found += [one.request, *(f"    {line}" for line in lines)]
    if len(real.said) != len(twin.said):
        found.append(f"{len(real.said)} answers and {len(twin.said)}")
    return found


_ABSENT = object()


def _differences(real: Any, twin: Any, path: str) -> Iterator[str]:
    if isinstance(real, dict) and isinstance(twin, dict):
        for key in [*real, *(key for key in twin if key not in real)]:
            yield from _differences(
                real.get(key, _ABSENT), twin.get(key, _ABSENT), f"{path}.{key}" if path else key
            )
    elif isinstance(real, list) and isinstance(twin, list) and len(real) == len(twin):
        for number, (one, other) in enumerate(zip(real, twin)):
            yield from _differences(one, other, f"{path}[{number}]")
    elif real != twin:
        yield f"{path}: real {_shown(real)}, twin {_shown(twin)}"


def _shown(value: Any) -> str:
    return "nothing" if value is _ABSENT else json.dumps(value)


# --- objects -------------------------------------------------------------------------------


def pod(name: str, *, node: str = "", labels: Optional[Document] = None, **spec: Any) -> Document:
    """A pod that no scheduler places, so that it stays as it is."""
    container = {"name": "main", "image": "registry.test/main:1"}
    placed = {"nodeName": node} if node else {"schedulerName": "none"}
    # Tokens are mounted by an admission plugin that the control plane of the tests leaves out.
    account = {"automountServiceAccountToken": False}
    return {
        "metadata": {"name": name, "labels": labels or {"app": "web"}},
        "spec": {"containers": [container], **placed, **account, **spec},
    }


def running(ready: bool = True) -> Document:
    """The status of a pod whose containers run."""
    moment = "2026-01-01T00:00:00Z"
    conditions = [
        {"type": kind, "status": "True" if ready else "False", "lastTransitionTime": moment}
        for kind in ("Ready", "ContainersReady")
    ]
    return {"status": {"phase": "Running", "startTime": moment, "conditions": conditions}}
