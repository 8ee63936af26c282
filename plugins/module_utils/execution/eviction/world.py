# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The cluster as the watches have told it so far, and a Fleet per namespace for the policies."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Iterable, Mapping, Optional

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

_Labels = frozenset[tuple[str, str]]


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
        self._selections: dict[str, tuple[Fleet, tuple[Pod, ...]]] = {}
        self._guards: dict[str, dict[_Labels, tuple[str, ...]]] = defaultdict(dict)
        for group in (fleet.nodes, fleet.pods, fleet.budgets, fleet.controllers, fleet.autoscalers):
            for item in group:
                self.put(item)
        for attachment in attachments:
            self.put(attachment)

    def put(self, item: Any) -> None:
        shelf = self._changed(item)
        if isinstance(item, Budget):
            known = shelf.get(item.meta.uid)
            if known is None or known.selector != item.selector:
                self._guards.pop(item.meta.namespace, None)
        shelf[_key(item)] = item

    def drop(self, item: Any) -> None:
        """Unless another of its name has come since: a new list may tell of both at once."""
        shelf = self._changed(item)
        known = shelf.get(_key(item))
        if known is not None and known.meta.uid == item.meta.uid:
            del shelf[_key(item)]
            if isinstance(item, Budget):
                self._guards.pop(item.meta.namespace, None)

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

    def budgets_of(self, pod: Pod) -> tuple[Budget, ...]:
        """The newest state of the budgets that select this pod, by key.

        Asked of each waiting pod at each decision: 100 pods under 100 budgets are 10,000 matches of
        labels. So they are matched once, until a budget comes, goes or selects others.
        """
        namespace = pod.meta.namespace
        guards, labels = self._guards[namespace], frozenset(pod.meta.labels.items())
        if labels not in guards:
            found = [
                budget
                for budget in self._shelf(Budget, namespace).values()
                if budget.selects(namespace, pod.meta.labels)
            ]
            found.sort(key=lambda budget: str(budget.key))
            guards[labels] = tuple(budget.meta.uid for budget in found)
        budgets = self._shelf(Budget, namespace)
        return tuple(budgets[uid] for uid in guards[labels])

    def attainable(self, budget: Budget) -> Optional[int]:
        """How many of the budget's pods there will be once nothing is going on; None where its own
        status is what counts."""
        if counts_scale(budget):
            return None
        fleet = self.fleet(budget.meta.namespace)
        return attainable_pods(self._selected(budget, fleet), fleet.controller_by_uid)

    def unhealthy(self, budget: Budget) -> tuple[UnhealthyPod, ...]:
        """The budget's pods that are not healthy: what everybody is waiting for."""
        fleet = self.fleet(budget.meta.namespace)
        return unhealthy_pods(budget, self._selected(budget, fleet))

    def _selected(self, budget: Budget, fleet: Fleet) -> tuple[Pod, ...]:
        """Matching labels is what costs: kept as long as the Fleet is."""
        found = self._selections.get(budget.key)
        if found is None or found[0] is not fleet:
            pods = tuple(
                pod for pod in fleet.pods if budget.selects(pod.meta.namespace, pod.meta.labels)
            )
            found = self._selections[budget.key] = (fleet, pods)
        return found[1]

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
