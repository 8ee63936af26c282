# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How a cluster must look after what was done to it, on the control plane as on a twin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from .watcher import Floor, Guard, Kept

Document = dict[str, Any]

PREFIX = "fleet.evenkeel.dev/"
SCALE_DOWN = "cluster-autoscaler.kubernetes.io/scale-down-disabled"
PROTECTIONS = ("karpenter.sh/do-not-disrupt", SCALE_DOWN)
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
FOREIGN = "example.com/rack"
REPLICAS = {"web": 6, "api": 5, "solo": 1}
AGENT = "agent"


class World(Protocol):
    """The objects of one scenario, as they are at the moment."""

    def nodes(self) -> list[Document]: ...

    def pods_on(self, node: str) -> list[Document]: ...

    def lease(self, name: str) -> Document | None:
        """Of the namespace in which the locks are."""

    def events_of(self, node: str) -> list[Document]: ...

    def deployment(self, name: str) -> Document:
        """Once all its replicas are of the newest template and Ready; raises TimeoutError."""


def foreign_annotations(nodes: list[str]) -> Mapping[str, Mapping[str, str]]:
    """What somebody else has decided about these nodes, and nobody may undo."""
    first, second, third = nodes
    return {first: {FOREIGN: "r1", SCALE_DOWN: "true"}, second: {FOREIGN: "r2"}, third: {}}


def guard_of(nodes: list[str], cordoned: bool) -> Guard:
    """cordoned: an administrator has closed the second node.

    A Deployment that may surge brings its replacement first: there is never a gap.
    """
    kept = {
        name: Kept(cordoned and name == nodes[1], annotations)
        for name, annotations in foreign_annotations(nodes).items()
    }
    return Guard((Floor("surge of solo", {"app": "solo"}, 1),), kept)


@dataclass(frozen=True)
class Judge:
    """nodes: the two that are emptied. Each answer lists what is not so, in sentences."""

    world: World
    nodes: list[str]
    cordoned: bool
    guard: Guard

    def not_ready_for_patching(self) -> list[str]:
        wrong = []
        for node in self._emptied():
            name = node["metadata"]["name"]
            state = _annotations(node).get(PREFIX + "maintenance-state")
            if state != "InMaintenance":
                wrong.append(f"{name} is in state {state!r}")
            if not node["spec"].get("unschedulable"):
                wrong.append(f"{name} is open")
            pods = [
                pod["metadata"]["name"]
                for pod in self.world.pods_on(name)
                if pod["metadata"]["labels"]["app"] != AGENT
            ]
            if pods:
                wrong.append(f"{name} is not empty: {pods}")
        return wrong

    def wrong_in_maintenance(self) -> list[str]:
        """After an enter that ended well."""
        wrong = self.not_ready_for_patching()
        for node in self._emptied():
            name, annotations = node["metadata"]["name"], _annotations(node)
            wrong += [
                f"{key} of {name} is {annotations.get(key)!r}"
                for key in PROTECTIONS
                if annotations.get(key) != "true"
            ]
            mark = annotations.get(PREFIX + "maintenance-cordoned")
            if (mark == "true") is self._is_cordoned(name):
                wrong.append(f"maintenance-cordoned of {name} is {mark!r}")
        return [*wrong, *self._wrong_anyway()]

    def wrong_after_exit(self) -> list[str]:
        """The nodes are as they were found, and everything that moved runs."""
        wrong = []
        for node in self._emptied():
            name, annotations = node["metadata"]["name"], _annotations(node)
            closed = bool(node["spec"].get("unschedulable"))
            if closed is not self._is_cordoned(name):
                wrong.append(f"{name} is {'closed' if closed else 'open'}")
            ours = {key: value for key, value in annotations.items() if key.startswith(PREFIX)}
            if ours:
                wrong.append(f"{name} still has {ours}")
            protections = {key for key in PROTECTIONS if key in annotations}
            if protections != ({SCALE_DOWN} if name == self.nodes[0] else set()):
                wrong.append(f"{name} has the protections {sorted(protections)}")
            wrong += self._wrong_events(name)
        return [*wrong, *self._wrong_anyway()]

    def _wrong_anyway(self) -> list[str]:
        wrong = []
        for node in self.world.nodes():
            name = node["metadata"]["name"]
            keys = {taint["key"] for taint in node["spec"].get("taints", [])} - {UNSCHEDULABLE}
            if keys:
                wrong.append(f"{name} is tainted: {sorted(keys)}")
            lease = self.world.lease(f"fleet-node-{name}")
            if lease is not None and lease["spec"].get("holderIdentity"):
                wrong.append(f"the lock of {name} is held by {lease['spec']['holderIdentity']}")
        for name in REPLICAS:
            wrong += self._wrong_deployment(name)
        return wrong

    def _wrong_deployment(self, name: str) -> list[str]:
        try:
            found = self.world.deployment(name)
        except TimeoutError as error:
            return [str(error)]
        return [
            f"Deployment {name} still has {key}" for key in _annotations(found) if PREFIX in key
        ]

    def _wrong_events(self, name: str) -> list[str]:
        """At most one for each time that the node arrived: a run that is killed may not come to
        telling, and none may tell twice."""
        told = [one for one in self.world.events_of(name) if one["reason"] == "MaintenanceReady"]
        arrivals = self.guard.arrivals.get(name, 0)
        if len(told) > arrivals:
            return [f"{name} arrived {arrivals} times, and {len(told)} Events tell of it"]
        return []

    def _emptied(self) -> list[Document]:
        found = {node["metadata"]["name"]: node for node in self.world.nodes()}
        return [found[name] for name in self.nodes]

    def _is_cordoned(self, name: str) -> bool:
        """By an administrator."""
        return self.cordoned and name == self.nodes[1]


def is_up(deployment: Document) -> bool:
    """All replicas are of the newest template and Ready."""
    status, wanted = deployment.get("status", {}), deployment["spec"]["replicas"]
    return (
        status.get("observedGeneration") == deployment["metadata"]["generation"]
        and status.get("replicas") == wanted
        and status.get("updatedReplicas") == wanted
        and status.get("readyReplicas") == wanted
    )


def _annotations(document: Document) -> dict[str, str]:
    return document["metadata"].get("annotations") or {}
