# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The small fleet of the demo: three nodes, and a shop whose pods begin on worker-2."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin import process
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.build import twin_of
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.spec import parse_spec
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.twin import Settings
from tests.control_plane.api import Api, Document

NAMESPACE = "shop"
NODES = ("worker-1", "worker-2", "worker-3")
DRAINED = "worker-2"

_THERE = {"key": "kubernetes.io/hostname", "operator": "In", "values": [DRAINED]}
_PREFERRED = [{"weight": 100, "preference": {"matchExpressions": [_THERE]}}]
_AFFINITY = {"preferredDuringSchedulingIgnoredDuringExecution": _PREFERRED}
_POD = {"affinity": {"nodeAffinity": _AFFINITY}}
# web's replacements take 2 s to be Ready: its budget is what the drain waits for.
SPEC: Document = {
    "nodes": [{"pool": "worker", "count": 3, "cpu": 8, "memory": "32Gi"}],
    "workloads": [
        {"name": "web", "replicas": 3, "start": 2, "stop": 1, "pod": _POD},
        {
            "name": "cache",
            "stop": 1,
            "pod": {**_POD, "volumes": [{"name": "cache", "emptyDir": {}}]},
        },
        {"name": "ledger", "stop": 1, "pod": _POD},
    ],
    "budgets": [{"name": "web", "max_unavailable": 1}, {"name": "ledger", "min_available": 1}],
}

_DEPLOYMENTS = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments"
_BUDGETS = f"/apis/policy/v1/namespaces/{NAMESPACE}/poddisruptionbudgets"
_PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
# Seconds of the twin's time in which everything comes up, before it is looked at.
_RUN_UP = 600.0


class Fleet:
    """A twin in a directory; the rest is what a person at kubectl does and sees."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        shop = {
            part: [{**entry, "namespace": NAMESPACE} for entry in SPEC[part]]
            for part in ("workloads", "budgets")
        }
        make = partial(twin_of, parse_spec({**SPEC, **shop}))
        started = process.start(make, Settings(time.time(), run_up=_RUN_UP), str(directory))
        self.kubeconfig = Path(started.kubeconfig)
        self._api = _client(self.kubeconfig)

    def close(self) -> None:
        process.stop(str(self._directory))

    def scale(self, name: str, replicas: int) -> None:
        self._api.patch(f"{_DEPLOYMENTS}/{name}", {"spec": {"replicas": replicas}})
        self._wait(lambda: self._ready(name, replicas))
        self._wait(lambda: self._allowed(name) > 0)

    def node(self, name: str) -> Document:
        return self._api.get(f"/api/v1/nodes/{name}")

    def pods(self, node: str) -> list[str]:
        pods = self._api.list(_PODS, fieldSelector=f"spec.nodeName={node}")
        return sorted(str(pod["metadata"]["name"]) for pod in pods)

    def events(self, node: str) -> list[Document]:
        """Ours only."""
        selector = f"involvedObject.kind=Node,involvedObject.name={node}"
        events = self._api.list("/api/v1/namespaces/default/events", fieldSelector=selector)
        return [event for event in events if "evenkeel" in str(event.get("source"))]

    def _ready(self, name: str, replicas: int) -> bool:
        status = self._api.get(f"{_DEPLOYMENTS}/{name}").get("status", {})
        return bool(status.get("readyReplicas") == replicas)

    def _allowed(self, budget: str) -> int:
        status = self._api.get(f"{_BUDGETS}/{budget}").get("status", {})
        return int(status.get("disruptionsAllowed", 0))

    def _wait(self, condition: Callable[[], bool], seconds: float = 60.0) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                raise TimeoutError("the fleet of the demo did not come up")
            time.sleep(0.1)


def _client(kubeconfig: Path) -> Api:
    config: dict[str, Any] = json.loads(kubeconfig.read_text(encoding="utf-8"))
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    authority = kubeconfig.with_name("authority.pem")
    authority.write_bytes(base64.b64decode(cluster["certificate-authority-data"]))
    return Api(cluster["server"], user["token"], authority)
