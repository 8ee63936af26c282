# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A fleet: one immutable snapshot of nodes, workloads and what guards them, with its indices."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import Iterable, Mapping, Optional, TypeVar

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.budget import Budget
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.census import (
    Census,
    take_census,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.controller import (
    Autoscaler,
    Controller,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import Node
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.pod import Pod

_Member = TypeVar("_Member")


@dataclass(frozen=True)
class Fleet:
    """Tuples are sorted by key, so that the same fleet gives the same answers."""

    nodes: tuple[Node, ...] = ()
    pods: tuple[Pod, ...] = ()
    budgets: tuple[Budget, ...] = ()
    controllers: tuple[Controller, ...] = ()
    autoscalers: tuple[Autoscaler, ...] = ()

    @cached_property
    def node_by_name(self) -> Mapping[str, Node]:
        return {node.name: node for node in self.nodes}

    @cached_property
    def census(self) -> Census:
        return take_census(self.pods)

    @cached_property
    def _pods_by_node(self) -> Mapping[str, tuple[Pod, ...]]:
        return _grouped((pod.node, pod) for pod in self.pods)

    @cached_property
    def _pods_by_owner(self) -> Mapping[str, tuple[Pod, ...]]:
        owned = ((pod.meta.owner, pod) for pod in self.pods)
        return _grouped((owner.uid, pod) for owner, pod in owned if owner is not None)

    @cached_property
    def _budgets_by_namespace(self) -> Mapping[str, tuple[Budget, ...]]:
        return _grouped((budget.meta.namespace, budget) for budget in self.budgets)

    @cached_property
    def controller_by_uid(self) -> Mapping[str, Controller]:
        return {controller.meta.uid: controller for controller in self.controllers}

    @cached_property
    def _owned_by_uid(self) -> Mapping[str, tuple[Controller, ...]]:
        return _grouped(
            (controller.meta.owner.uid, controller)
            for controller in self.controllers
            if controller.meta.owner is not None
        )

    def pods_on(self, node: str) -> tuple[Pod, ...]:
        return self._pods_by_node.get(node, ())

    def budgets_for(self, pod: Pod) -> tuple[Budget, ...]:
        """The budgets whose selector matches this pod, by key."""
        return tuple(
            budget
            for budget in self._budgets_by_namespace.get(pod.meta.namespace, ())
            if budget.selects(pod.meta.namespace, pod.meta.labels)
        )

    def controller_of(self, pod: Pod) -> Optional[Controller]:
        """The top controller: the Deployment above a ReplicaSet. None when unmanaged or unknown."""
        owner = pod.meta.owner
        found = None
        while owner is not None and owner.uid in self.controller_by_uid:
            found = self.controller_by_uid[owner.uid]
            owner = found.meta.owner
        return found

    def siblings_of(self, pod: Pod) -> tuple[Pod, ...]:
        """The pods with this pod's very controller reference, itself included; () without one."""
        owner = pod.meta.owner
        return () if owner is None else self._pods_by_owner.get(owner.uid, ())

    def replicas_of(self, controller: Controller) -> tuple[Pod, ...]:
        """The pods that this controller owns, directly or through its ReplicaSets."""
        uids = [controller.meta.uid]
        uids += [owned.meta.uid for owned in self._owned_by_uid.get(controller.meta.uid, ())]
        return tuple(pod for uid in uids for pod in self._pods_by_owner.get(uid, ()))


def _grouped(pairs: Iterable[tuple[str, _Member]]) -> Mapping[str, tuple[_Member, ...]]:
    groups: dict[str, list[_Member]] = defaultdict(list)
    for key, value in pairs:
        groups[key].append(value)
    return {key: tuple(values) for key, values in groups.items()}
