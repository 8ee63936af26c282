# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The twin answers as the API server does: the same requests to both, compared field by field.

Each exchange is one request. What no two servers share (UIDs, versions, times, generated names) is
compared by its kind only. No controllers run for these objects: pods are on a node that no kubelet
looks after, budgets get their status by hand.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.twin import Settings, Twin
from tests.control_plane.api import (
    JSON_PATCH,
    MERGE_PATCH,
    STRATEGIC_MERGE_PATCH,
    Answer,
    Api,
)
from tests.control_plane.space import Space

Document = dict[str, Any]


@dataclass(frozen=True)
class Send:
    """One request; NS in its path and body stands for the namespace. ignore: paths of fields that
    may differ, such as "status.conditions"."""

    method: str
    path: str
    body: Any = None
    content_type: str = "application/json"
    ignore: tuple[str, ...] = ()


@dataclass(frozen=True)
class Settle:
    """A budget gets this status: on the control plane by its controller, which is waited for; the
    twin has none here, and is told."""

    name: str
    status: Document


@dataclass
class Side:
    api: Api
    namespace: str
    remembered: dict[str, str] = field(default_factory=dict)

    def send(self, one: Send) -> Answer:
        text = json.dumps(one.body).replace("NS", self.namespace)
        path = one.path.replace("NS", self.namespace)
        for name, value in self.remembered.items():
            text, path = text.replace(name, value), path.replace(name, value)
        return self.api.request(one.method, path, json.loads(text), one.content_type)


@pytest.fixture
def sides(space: Space, tmp_path: Path) -> Iterator[tuple[Side, Side]]:
    twin = Twin(Settings(time.time()))
    twin.start()
    config = twin.kubeconfig()
    api = Api(twin.url, config["users"][0]["user"]["token"], None)
    namespace = space.namespace
    made = api.request("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
    assert made.status == 201
    try:
        yield Side(space.api, namespace), Side(api, namespace)
    finally:
        twin.stop()


POD = {
    "metadata": {"name": "web", "labels": {"app": "web"}},
    "spec": {
        "nodeName": "nowhere",
        "containers": [{"name": "main", "image": "example.com/web", "resources": {}}],
    },
}
BUDGET = {
    "metadata": {"name": "web"},
    "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}},
}
PODS, BUDGETS = "/api/v1/namespaces/NS/pods", "/apis/policy/v1/namespaces/NS/poddisruptionbudgets"
MAPS = "/api/v1/namespaces/NS/configmaps"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/NS/leases"
DEPLOYMENTS = "/apis/apps/v1/namespaces/NS/deployments"
MAP = {"metadata": {"name": "m", "annotations": {"a/b": "1"}}, "data": {"x": "1"}}


# What the controllers of the control plane do about any new node.
NODE_CONTROLLERS = ("metadata.annotations", "spec.taints")
NODE = {"metadata": {"name": "node-NS", "labels": {"kubelet": "stopped"}}}


def workload(*, nodeless: bool = False, **spec: Any) -> Document:
    template: Document = {
        "metadata": {"labels": {"app": "w"}},
        "spec": {"containers": [{"name": "main", "image": "example.com/w:1"}]},
    }
    if nodeless:
        template["spec"]["nodeSelector"] = {"nowhere": "true"}
    selector = {"matchLabels": {"app": "w"}}
    return {"metadata": {"name": "w"}, "spec": {"selector": selector, "template": template, **spec}}


def json_patch(path: str, *operations: tuple[str, str, Any], ignore: tuple[str, ...] = ()) -> Send:
    body = [{"op": op, "path": where, "value": value} for op, where, value in operations]
    return Send("PATCH", path, body, JSON_PATCH, ignore)


def eviction(name: str, **options: Any) -> Send:
    body = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": name, "namespace": "NS"},
        "deleteOptions": options,
    }
    return Send("POST", f"{PODS}/{name}/eviction", body)


def settle(name: str = "web", **counts: int) -> Settle:
    usual = {"disruptionsAllowed": 0, "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1}
    return Settle(name, {**usual, **counts})


def running(name: str) -> Send:
    status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    path = f"{PODS}/{name}/status"
    return Send("PATCH", path, {"status": status}, MERGE_PATCH, ("spec", "status.conditions"))


CONVERSATIONS: dict[str, list[Send | Settle]] = {
    "create-get-list": [
        Send("POST", MAPS, MAP),
        Send("POST", MAPS, MAP),
        Send("GET", f"{MAPS}/m"),
        Send("GET", f"{MAPS}/other"),
        Send("GET", f"{MAPS}?fieldSelector=metadata.name%3Dm"),
        Send("GET", f"{MAPS}?labelSelector=app%3Dnone"),
        Send("POST", MAPS, {"metadata": {"name": "Bad_Name"}}),
        Send("POST", MAPS, {"metadata": {}}),
        Send("POST", "/api/v1/namespaces/nowhere-at-all/configmaps", MAP),
        Send("GET", "/api/v1/namespaces/NS/nothings"),
    ],
    "update": [
        Send("POST", MAPS, MAP),
        Send("PUT", f"{MAPS}/m", {**MAP, "data": {"x": "2"}}),
        Send("PUT", f"{MAPS}/other", MAP),
        Send(
            "PUT",
            f"{MAPS}/m",
            {"metadata": {"name": "m", "resourceVersion": "1"}, "data": {"x": "3"}},
        ),
        Send("PUT", f"{MAPS}/gone", {"metadata": {"name": "gone"}}),
    ],
    "json-patch": [
        Send("POST", MAPS, MAP),
        json_patch(f"{MAPS}/m", ("add", "/metadata/annotations/c~1d", "2")),
        json_patch(f"{MAPS}/m", ("test", "/metadata/annotations/c~1d", "other")),
        json_patch(f"{MAPS}/m", ("test", "/metadata/annotations/missing", None)),
        json_patch(f"{MAPS}/m", ("remove", "/metadata/annotations/missing", None)),
        json_patch(f"{MAPS}/m", ("add", "/no/parent", "x")),
        json_patch(
            f"{MAPS}/m",
            ("test", "/data/x", "1"),
            ("replace", "/data/x", "9"),
            ("remove", "/metadata/annotations/c~1d", None),
        ),
        json_patch(f"{MAPS}/gone", ("add", "/data/x", "1")),
        Send("PATCH", f"{MAPS}/m", {"data": {}}, "application/unheard-of"),
    ],
    "merge-patch": [
        Send("POST", MAPS, MAP),
        Send("PATCH", f"{MAPS}/m", {"data": {"y": "2", "x": None}}, MERGE_PATCH),
        Send("PATCH", f"{MAPS}/m", {"metadata": {"uid": "other"}}, MERGE_PATCH),
        Send("PATCH", f"{MAPS}/m", {"metadata": {"finalizers": ["a/b"]}}, STRATEGIC_MERGE_PATCH),
        Send("PATCH", f"{MAPS}/m", {"metadata": {"finalizers": ["c/d"]}}, STRATEGIC_MERGE_PATCH),
        Send("DELETE", f"{MAPS}/m"),
        Send("GET", f"{MAPS}/m"),
        Send("PATCH", f"{MAPS}/m", {"metadata": {"finalizers": None}}, MERGE_PATCH),
        Send("GET", f"{MAPS}/m"),
    ],
    "delete": [
        Send("POST", MAPS, MAP),
        Send("DELETE", f"{MAPS}/m", {"preconditions": {"uid": "other"}}),
        Send("DELETE", f"{MAPS}/m", {"preconditions": {"resourceVersion": "1"}}),
        Send("DELETE", f"{MAPS}/m"),
        Send("DELETE", f"{MAPS}/m"),
    ],
    "lease": [
        Send("POST", LEASES, {"metadata": {"name": "l"}, "spec": {"holderIdentity": "a"}}),
        json_patch(
            f"{LEASES}/l",
            ("test", "/spec/holderIdentity", "a"),
            ("add", "/spec/leaseTransitions", 2),
        ),
        json_patch(f"{LEASES}/l", ("test", "/spec/holderIdentity", "b")),
        json_patch(f"{LEASES}/l", ("remove", "/spec/holderIdentity", None)),
    ],
    "pod": [
        Send("POST", PODS, POD, ignore=("spec", "metadata.managedFields")),
        Send("DELETE", f"{PODS}/web", {"gracePeriodSeconds": 20}, ignore=("spec",)),
        Send("DELETE", f"{PODS}/web", {"gracePeriodSeconds": 5}, ignore=("spec",)),
        Send("DELETE", f"{PODS}/web", {"gracePeriodSeconds": 0}, ignore=("spec",)),
        Send("GET", f"{PODS}/web"),
    ],
    "eviction": [
        Send("POST", PODS, POD, ignore=("spec",)),
        running("web"),
        Send("POST", BUDGETS, BUDGET),
        settle(),
        eviction("web"),
        Send(
            "POST",
            PODS,
            {**POD, "metadata": {"name": "b", "labels": {"app": "web"}}},
            ignore=("spec",),
        ),
        running("b"),
        settle(disruptionsAllowed=1, currentHealthy=2, expectedPods=2),
        eviction("other"),
        eviction("web", dryRun=["All"]),
        eviction("web"),
        eviction("web"),
    ],
    "eviction-of-another-uid": [
        Send("POST", PODS, POD, ignore=("spec",)),
        running("web"),
        eviction("web", preconditions={"uid": "other"}),
    ],
    "several-budgets": [
        Send("POST", PODS, POD, ignore=("spec",)),
        running("web"),
        Send("POST", BUDGETS, BUDGET),
        Send("POST", BUDGETS, {**BUDGET, "metadata": {"name": "second"}}),
        eviction("web"),
    ],
    "scale": [
        Send(
            "POST",
            DEPLOYMENTS,
            {
                "metadata": {"name": "d"},
                "spec": {
                    "replicas": 0,
                    "paused": True,
                    "selector": {"matchLabels": {"app": "d"}},
                    "template": {
                        "metadata": {"labels": {"app": "d"}},
                        "spec": {"containers": [{"name": "main", "image": "example.com/d"}]},
                    },
                },
            },
            ignore=("spec.template.spec", "status"),
        ),
        Send("GET", f"{DEPLOYMENTS}/d/scale"),
        Send("PATCH", f"{DEPLOYMENTS}/d/scale", {"spec": {"replicas": 0}}, MERGE_PATCH),
    ],
    "nodes": [
        Send("POST", "/api/v1/nodes", NODE),
        Send("POST", "/api/v1/nodes", NODE),
        json_patch(
            "/api/v1/nodes/node-NS",
            ("test", "/spec/unschedulable", None),
            ("add", "/spec/unschedulable", True),
            ignore=NODE_CONTROLLERS,
        ),
        json_patch("/api/v1/nodes/node-NS", ("test", "/spec/unschedulable", None)),
        json_patch(
            "/api/v1/nodes/node-NS",
            ("remove", "/spec/unschedulable", None),
            ignore=NODE_CONTROLLERS,
        ),
        Send(
            "PATCH",
            "/api/v1/nodes/node-NS",
            {"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}},
            STRATEGIC_MERGE_PATCH,
            ignore=NODE_CONTROLLERS,
        ),
        Send("GET", "/api/v1/nodes?fieldSelector=spec.nothing%3Dx"),
        Send("GET", f"{MAPS}?fieldSelector=spec.nothing%3Dx"),
        Send("GET", "/api/v1/nodes?labelSelector=a%20b", ignore=("message",)),
        Send("DELETE", "/api/v1/nodes/node-NS"),
    ],
    "claims-and-workloads": [
        Send("POST", "/apis/apps/v1/namespaces/NS/replicasets", workload(replicas=0)),
        Send("POST", "/apis/apps/v1/namespaces/NS/statefulsets", workload(replicas=0)),
        Send("POST", "/apis/apps/v1/namespaces/NS/daemonsets", workload(nodeless=True)),
        Send("POST", DEPLOYMENTS, workload(replicas=0)),
        Send(
            "PATCH",
            f"{DEPLOYMENTS}/w",
            {"spec": {"paused": True}},
            STRATEGIC_MERGE_PATCH,
            ignore=("metadata.annotations", "metadata.generation", "status"),
        ),
        Send("DELETE", f"{DEPLOYMENTS}/w", {"propagationPolicy": "Background"}),
    ],
    "events": [
        Send(
            "POST",
            "/api/v1/namespaces/NS/events",
            {
                "metadata": {"generateName": "e."},
                "involvedObject": {"kind": "Node", "name": "n1", "namespace": "NS"},
                "reason": "MaintenanceReady",
                "message": "Ready.",
                "type": "Normal",
            },
            ignore=("metadata.name",),
        ),
    ],
    "reviews": [
        Send(
            "POST",
            "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
            {
                "apiVersion": "authorization.k8s.io/v1",
                "kind": "SelfSubjectAccessReview",
                "spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}},
            },
            ignore=("status.reason",),
        ),
    ],
    "paths": [
        Send("GET", "/apis/none.example.com/v1/things"),
        Send("GET", "/api/v1/namespaces/NS/pods/web/nothing"),
        Send("GET", "/api/v1/nodes/nowhere"),
        Send("DELETE", "/api/v1/nodes/nowhere"),
        Send("GET", "/api/v1/pods?limit=x"),
    ],
}


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_a_conversation_goes_the_same_way(sides: tuple[Side, Side], name: str) -> None:
    real, twin = sides
    for number, one in enumerate(CONVERSATIONS[name]):
        if isinstance(one, Settle):
            settled(one, real, twin)
            continue
        expected, found = real.send(one), twin.send(one)
        place = f"request {number}: {one.method} {one.path}"
        assert found.status == expected.status, (place, expected.body, found.body)
        differences = list(compared(comparable(expected.body, one), comparable(found.body, one)))
        assert differences == [], place


def settled(one: Settle, real: Side, twin: Side) -> None:
    path = f"{BUDGETS}/{one.name}"
    until = time.monotonic() + 30
    while True:
        found = real.send(Send("GET", path)).body["status"]
        if {key: found.get(key) for key in one.status} == one.status:
            break
        assert time.monotonic() < until, found
        time.sleep(0.05)
    status = {**found, "observedGeneration": 1}
    answer = twin.send(Send("PATCH", f"{path}/status", {"status": status}, MERGE_PATCH))
    assert answer.status == 200, answer.body


IGNORED = "ignored"


def compared(real: Any, twin: Any, path: str = "") -> Iterator[str]:
    """Each difference as one line: where, what the API server says, what the twin says."""
    if isinstance(real, dict) and isinstance(twin, dict):
        for key in sorted({*real, *twin}):
            yield from compared(real.get(key, "-"), twin.get(key, "-"), f"{path}.{key}")
    elif isinstance(real, list) and isinstance(twin, list) and len(real) == len(twin):
        for number, (one, other) in enumerate(zip(real, twin, strict=True)):
            yield from compared(one, other, f"{path}[{number}]")
    elif real != twin and IGNORED not in (real, twin):
        yield f"{path}: {real!r}, the twin: {twin!r}"


_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")
_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")

_RECORDED_VERSION = re.compile(r"(?<=ResourceVersion in record \()\d+")


def comparable(document: Any, one: Send, path: str = "") -> Any:
    """The document without what no two servers share."""
    if path and path in one.ignore:
        return IGNORED
    if isinstance(document, dict):
        return {
            key: comparable(value, one, f"{path}.{key}".lstrip("."))
            for key, value in document.items()
            if key not in ("managedFields", "resourceVersion", "selfLink")
        }
    if isinstance(document, list):
        return [comparable(value, one, path) for value in document]
    if isinstance(document, str):
        text = _UID.sub("UID", _TIME.sub("TIME", document))
        return _RECORDED_VERSION.sub("VERSION", text)
    return document
