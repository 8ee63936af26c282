# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The nodes of a Space, and what happens to machines."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path

from . import objects
from .api import STRATEGIC_MERGE_PATCH, ApiError, Document
from .plane import Plane
from .space_base import NODES, SpaceBase, is_ready

STANDBY = "standby"


class SpaceNodes(SpaceBase):
    """Nodes carry the label test-space=ID."""

    def __init__(self, plane: Plane, scratch: Path) -> None:
        super().__init__(plane, scratch)
        self._nodes: list[str] = []

    def nodes(
        self,
        count: int,
        *,
        labels: Mapping[str, str] | None = None,
        zones: Sequence[str] = (),
        cpu: str = "8",
        memory: str = "32Gi",
        pods: int = 110,
        control_plane: bool = False,
        kubelet_version: str = "v1.37.2",
        taints: Sequence[Document] = (),
    ) -> list[str]:
        """Creates `count` nodes, waits until they are Ready, and returns their names in order.

        `zones` are given to them in turn.
        """
        names = [f"{self.id}-n{len(self._nodes) + number + 1}" for number in range(count)]
        self._nodes += names
        for number, name in enumerate(names):
            zone = {"topology.kubernetes.io/zone": zones[number % len(zones)]} if zones else {}
            document = objects.node(
                name,
                self.id,
                labels={**zone, **(labels or {})},
                cpu=cpu,
                memory=memory,
                pods=pods,
                control_plane=control_plane,
                kubelet_version=kubelet_version,
                taints=taints,
            )
            self.api.create(NODES, document)
        self.wait(lambda: all(is_ready(self.node(name)) for name in names), "nodes are Ready")
        # The node lifecycle controller takes its own taint away a moment later.
        self.wait(lambda: not any(_not_ready_taint(self.node(name)) for name in names), "no taint")
        return names

    def stand_by(self) -> None:
        """Sees to it that the cluster has a node of nobody's space, Ready and open, for good."""
        document = objects.node(
            STANDBY,
            STANDBY,
            labels={},
            cpu="1",
            memory="1Gi",
            pods=1,
            control_plane=False,
            kubelet_version="v1.37.2",
        )
        try:
            self.api.create(NODES, document)
        except ApiError as error:
            if error.status != 409:
                raise
        self.wait(lambda: is_ready(self.node(STANDBY)), "a node stands by")

    def node(self, name: str) -> Document:
        return self.api.get(f"{NODES}/{name}")

    def patch_node(self, name: str, patch: Document) -> Document:
        """A strategic merge patch, as kubectl's: {"spec": {"unschedulable": True}}."""
        return self.api.patch(f"{NODES}/{name}", patch, STRATEGIC_MERGE_PATCH)

    def cordon(self, name: str) -> None:
        """As an administrator does it."""
        self.patch_node(name, {"spec": {"unschedulable": True}})

    def uncordon(self, name: str) -> None:
        self.patch_node(name, {"spec": {"unschedulable": None}})

    def annotate_node(self, name: str, **annotations: str | None) -> None:
        self.patch_node(name, {"metadata": {"annotations": annotations}})

    def power_off(self, name: str) -> None:
        """The machine is off: no heartbeat, its pods neither start nor stop; Ready is Unknown.

        What the node lifecycle controller would find after its grace period is written at once.
        """
        self.patch_node(name, {"metadata": {"labels": {"kubelet": "stopped"}}})
        self._set_ready(
            name, "Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status."
        )

    def power_on(self, name: str) -> None:
        """With a new boot id. Ready a moment later."""
        info = {"nodeInfo": {"bootID": str(uuid.uuid4())}}
        self.api.patch(f"{NODES}/{name}/status", {"status": info}, STRATEGIC_MERGE_PATCH)
        self.patch_node(name, {"metadata": {"labels": {"kubelet": None}}})

    def reboot(self, name: str) -> None:
        """Off and on again; the pods that are bound to it come back with it."""
        self.power_off(name)
        self.power_on(name)

    def not_ready(self, name: str) -> None:
        """The kubelet lives and reports Ready=False, until `recover`."""
        self.annotate_node(name, behaviour="not-ready")

    def recover(self, name: str) -> None:
        self.annotate_node(name, behaviour=None)

    def remove_node(self, name: str) -> None:
        """The Node object vanishes, as when a cloud takes the machine away."""
        self.api.delete(f"{NODES}/{name}")

    def _set_ready(self, name: str, status: str, reason: str, message: str) -> None:
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        condition = {
            "type": "Ready",
            "status": status,
            "reason": reason,
            "message": message,
            "lastTransitionTime": now,
        }
        patch = {"status": {"conditions": [condition]}}
        self.api.patch(f"{NODES}/{name}/status", patch, STRATEGIC_MERGE_PATCH)


def _not_ready_taint(node: Document) -> bool:
    taints = node["spec"].get("taints", [])
    return any(taint["key"] == "node.kubernetes.io/not-ready" for taint in taints)
