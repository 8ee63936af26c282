# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The small fleet of the demo: three nodes, and a shop whose pods begin on worker-2."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from tests.control_plane import objects
from tests.control_plane.api import Api, Document
from tests.control_plane.objects import PodShape
from tests.control_plane.space_base import is_ready

SPACE = "demo"
NAMESPACE = "shop"
NODES = ("worker-1", "worker-2", "worker-3")
DRAINED = "worker-2"

_DEPLOYMENTS = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments"
_BUDGETS = f"/apis/policy/v1/namespaces/{NAMESPACE}/poddisruptionbudgets"
_PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"


class Fleet:
    """`create` makes it and waits for it; the rest is what a person at kubectl does and sees."""

    def __init__(self, api: Api) -> None:
        self._api = api

    def create(self) -> None:
        for name in NODES:
            document = objects.node(
                name,
                SPACE,
                labels={},
                cpu="8",
                memory="32Gi",
                pods=110,
                control_plane=False,
                kubelet_version="v1.37.2",
            )
            self._api.create("/api/v1/nodes", document)
        # A node is Ready a moment before its taint is taken away.
        self._wait(lambda: all(_takes_pods(self.node(name)) for name in NODES))
        self._api.create("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
        # web's replacements take 6 s to be Ready: its budget is what the drain waits for.
        self._deploy("web", 3, start_seconds=6, stop_seconds=1)
        self._deploy("cache", 1, stop_seconds=1, empty_dir=True)
        self._deploy("ledger", 1, stop_seconds=1)
        self._budget("web", {"maxUnavailable": 1})
        self._budget("ledger", {"minAvailable": 1})
        self._wait(lambda: self._ready("web", 3) and self._ready("cache", 1))
        self._wait(lambda: self._ready("ledger", 1))

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

    def _deploy(self, name: str, replicas: int, **shape: Any) -> None:
        pod = PodShape(node=DRAINED, **shape)
        self._api.create(_DEPLOYMENTS, objects.deployment(name, SPACE, replicas, None, pod))

    def _budget(self, name: str, bounds: dict[str, int]) -> None:
        selector = {"matchLabels": {"app": name}}
        least, most = bounds.get("minAvailable"), bounds.get("maxUnavailable")
        self._api.create(_BUDGETS, objects.budget(name, selector, least, most, None))

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


def _takes_pods(node: Document) -> bool:
    return is_ready(node) and not node["spec"].get("taints")
