# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The cluster as the watches have told it so far, and a Fleet per namespace for the policies."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Iterable, Mapping, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.coverage import (
    Coverage,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.families import (
    Families,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.budget import Budget
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.controller import (
    Autoscaler,
    Controller,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.fleet import Fleet
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import Node
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.pod import Pod
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.storage import VolumeAttachment
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.disruption import (
    UnhealthyPod,
    attainable_pods,
    counts_scale,
    unhealthy_pods,
)

# The type of each kind that is followed; all others are Controllers.
_TYPES: Mapping[str, type] = {
    "Pod": Pod,
    "PodDisruptionBudget": Budget,
    "Node": Node,
    "VolumeAttachment": VolumeAttachment,
}


class World:
    """Objects by UID within their namespace, the cluster-scoped ones under the namespace "".

    Nodes are kept by name, because pods know them by nothing else.
    """

    def __init__(self, fleet: Fleet, attachments: Iterable[VolumeAttachment] = ()) -> None:
        self._shelves: dict[type, dict[str, dict[str, Any]]] = {
            kind: defaultdict(dict)
            for kind in (Pod, Budget, Controller, Autoscaler, Node, VolumeAttachment)
        }
        self._fleets: dict[str, Fleet] = {}
        self._coverages: dict[str, Coverage] = {}
        self._families = Families()
        for group in (fleet.nodes, fleet.pods, fleet.budgets, fleet.controllers, fleet.autoscalers):
            for item in group:
                self.put(item)
        for attachment in attachments:
            self.put(attachment)

    def put(self, item: Any) -> None:
        shelf = self._changed(item)
        known = shelf.get(_key(item))
        shelf[_key(item)] = item
        self._relate(known, item)

    def drop(self, item: Any) -> None:
        """Unless another of its name has come since: a new list may tell of both at once."""
        shelf = self._changed(item)
        known = shelf.get(_key(item))
        if known is not None and known.meta.uid == item.meta.uid:
            del shelf[_key(item)]
            self._relate(known, None)

    def missing(self, kind: str, items: Iterable[Any]) -> list[Any]:
        """What is known of this kind and is not among `items`."""
        present = {item.meta.uid for item in items}
        return [
            item
            for shelf in self._shelves[_TYPES.get(kind, Controller)].values()
            for item in shelf.values()
            if item.meta.uid not in present and getattr(item, "kind", kind) == kind
        ]

    def controller(self, namespace: str, uid: str) -> Optional[Controller]:
        return self._shelf(Controller, namespace).get(uid)

    def node(self, name: str) -> Optional[Node]:
        return self._shelf(Node, "").get(name)

    def pods_on(self, node: str) -> list[Pod]:
        """Of all namespaces: a look at every pod."""
        shelves = self._shelves[Pod].values()
        return [pod for shelf in shelves for pod in shelf.values() if pod.node == node]

    def attachments(self) -> Iterable[VolumeAttachment]:
        return self._shelf(VolumeAttachment, "").values()

    def fleet(self, namespace: str) -> Fleet:
        """All nodes, and this namespace's pods, budgets and controllers. Kept until one changes."""
        found = self._fleets.get(namespace)
        if found is None:
            found = self._fleets[namespace] = Fleet(
                nodes=self._sorted(Node, ""),
                pods=self._sorted(Pod, namespace),
                budgets=self._sorted(Budget, namespace),
                controllers=self._sorted(Controller, namespace),
                autoscalers=self._sorted(Autoscaler, namespace),
            )
        return found

    def family(self, pod: Pod) -> Fleet:
        """This pod's owner with all its pods and ReplicaSets, and nothing else (families.py)."""
        return self._families.of(pod, self._shelf(Controller, pod.meta.namespace))

    def budgets_of(self, pod: Pod) -> tuple[Budget, ...]:
        """The newest state of the budgets that select this pod, by key."""
        return self._coverage(pod.meta.namespace).budgets_of(pod)

    def attainable(self, budget: Budget) -> Optional[int]:
        """How many of the budget's pods there will be once nothing is going on; None where its own
        status is what counts."""
        if counts_scale(budget):
            return None
        namespace = budget.meta.namespace
        pods = self._coverage(namespace).pods_of(budget)
        return attainable_pods(pods, self._shelf(Controller, namespace))

    def unhealthy(self, budget: Budget) -> tuple[UnhealthyPod, ...]:
        """The budget's pods that are not healthy: what everybody is waiting for."""
        return unhealthy_pods(budget, self._coverage(budget.meta.namespace).pods_of(budget))

    def _coverage(self, namespace: str) -> Coverage:
        found = self._coverages.get(namespace)
        if found is None:
            shelves = (self._shelves[kind][namespace] for kind in (Pod, Budget))
            found = self._coverages[namespace] = Coverage(*shelves)
        return found

    def _relate(self, before: Any, now: Any) -> None:
        """Tells who keeps what belongs together of an object that came, changed or went."""
        item = before if now is None else now
        if isinstance(item, Pod):
            self._coverage(item.meta.namespace).pod_changed(before, now)
        elif isinstance(item, Budget):
            self._coverage(item.meta.namespace).budget_changed(before, now)
        if isinstance(item, (Pod, Controller)):
            self._families.changed(before, now)

    def _changed(self, item: Any) -> dict[str, Any]:
        """The shelf of an item that is about to change; the Fleets built from it are void."""
        namespace = item.meta.namespace
        if isinstance(item, Node):
            self._fleets.clear()
        else:
            self._fleets.pop(namespace, None)
        return self._shelves[type(item)][namespace]

    def _shelf(self, kind: type, namespace: str) -> Mapping[str, Any]:
        return self._shelves[kind].get(namespace, {})

    def _sorted(self, kind: type, namespace: str) -> tuple[Any, ...]:
        return tuple(sorted(self._shelf(kind, namespace).values(), key=lambda item: item.meta.key))


def _key(item: Any) -> str:
    key: str = item.meta.name if isinstance(item, Node) else item.meta.uid
    return key
