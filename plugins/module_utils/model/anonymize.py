# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Takes out of a fleet what tells whose it is, so that a snapshot can be shown to strangers.

One table renames everything: the same text gets the same new text wherever it stands, as a name, a
label's value or in a selector. So owners still own, selectors still match the same pods, and two
snapshots of one call can be compared. A name is called after what it first was: "node-3", "pod-17",
"value-4". Kept as they are: quantities, counts, times, states, kinds, versions; label keys under
the domains of Kubernetes and its well-known neighbours, and their values that are numbers; the
values "", "true" and "false", and those of labels that describe hardware. Pods of a StatefulSet are
called after its new name, and keep their number.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import Iterable, Mapping, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.budget import Budget
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.controller import (
    Autoscaler,
    Controller,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.fleet import Fleet
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import Node
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.objects import Metadata, Owner
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.pod import Pod
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.selector import LabelSelector
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.well_known import is_well_known

_KEPT_VALUES = ("", "true", "false")
_HARDWARE = (
    "kubernetes.io/arch",
    "kubernetes.io/os",
    "node.kubernetes.io/instance-type",
    "karpenter.sh/capacity-type",
)
_NUMBER = re.compile(r"-?\d+(\.\d+)?")


def anonymized(fleet: Fleet, names: Optional[Names] = None) -> Fleet:
    """Returns the fleet with other names, in the order of its old ones.

    names: the table to use and to go on with, where more is to be renamed alike.
    """
    names = names or Names()
    # Nodes and controllers first, so that a label which repeats their name is called after them.
    nodes = tuple(names.node(node) for node in fleet.nodes)
    controllers = tuple(names.controller(controller) for controller in fleet.controllers)
    return Fleet(
        nodes=nodes,
        pods=tuple(names.pod(pod) for pod in fleet.pods),
        budgets=tuple(names.budget(budget) for budget in fleet.budgets),
        controllers=controllers,
        autoscalers=tuple(names.autoscaler(autoscaler) for autoscaler in fleet.autoscalers),
    )


def says_nothing(key: str, value: str) -> bool:
    """May this value of a label or an annotation be seen by strangers?"""
    counts = is_well_known(key) and _NUMBER.fullmatch(value) is not None
    return value in _KEPT_VALUES or key in _HARDWARE or counts


class Names:
    """The table, and what it makes of each kind of object."""

    def __init__(self) -> None:
        self._table: dict[str, str] = {}
        self._counts: Counter[str] = Counter()

    def node(self, node: Node) -> Node:
        return replace(
            node,
            meta=self._meta(node.meta, "node"),
            taints=tuple(
                replace(taint, key=self.key(taint.key), value=self.value(taint.value))
                for taint in node.taints
            ),
            boot_id=self.text(node.boot_id, "boot"),
            provider_id=self.text(node.provider_id, "provider"),
            allocatable=self.resources(node.allocatable),
        )

    def pod(self, pod: Pod) -> Pod:
        self.ordinal(pod.meta.name, pod.meta.owner, pod.claims)
        return replace(
            pod,
            meta=self._meta(pod.meta, "pod"),
            node=self.text(pod.node, "node"),
            claims=tuple(self.text(claim, "claim") for claim in pod.claims),
            # The scheduler's message names taints and labels.
            unschedulable="unschedulable" if pod.unschedulable else "",
            requests=self.resources(pod.requests),
        )

    def ordinal(self, name: str, owner: Optional[Owner], claims: Iterable[str]) -> None:
        """A StatefulSet knows its pods, and they their claims, by what their names are made of."""
        number = name.rpartition("-")[2]
        if owner is None or owner.kind != "StatefulSet" or name != f"{owner.name}-{number}":
            return
        new = f"{self.text(owner.name, 'statefulset')}-{number}"
        self._table.setdefault(name, new)
        for claim in claims:
            if claim.endswith(f"-{name}"):
                template = self.text(claim[: -len(name) - 1], "claim")
                self._table.setdefault(claim, f"{template}-{self._table[name]}")

    def budget(self, budget: Budget) -> Budget:
        return replace(
            budget,
            meta=self._meta(budget.meta, "budget"),
            selector=self._selector(budget.selector),
            disrupted_pods={
                self.text(name, "pod"): when for name, when in budget.disrupted_pods.items()
            },
            # The controller's message is full of names; that there is one is what counts.
            sync_failure="SyncFailed" if budget.sync_failure else "",
        )

    def controller(self, controller: Controller) -> Controller:
        return replace(
            controller,
            meta=self._meta(controller.meta, controller.kind.lower()),
            selector=self._selector(controller.selector),
        )

    def autoscaler(self, autoscaler: Autoscaler) -> Autoscaler:
        kind, _unused, key = autoscaler.target.partition(" ")
        namespace, _unused, name = key.partition("/")
        target = f"{self.text(namespace, 'namespace')}/{self.text(name, kind.lower())}"
        return replace(
            autoscaler,
            meta=self._meta(autoscaler.meta, "autoscaler"),
            target=f"{kind} {target}",
        )

    def _meta(self, meta: Metadata, kind: str) -> Metadata:
        return replace(
            meta,
            namespace=self.text(meta.namespace, "namespace"),
            name=self.text(meta.name, kind),
            uid=self.text(meta.uid, "uid"),
            labels=self.labels(meta.labels),
            annotations=self.labels(meta.annotations),
            owner=self._owner(meta.owner),
        )

    def _owner(self, owner: Optional[Owner]) -> Optional[Owner]:
        if owner is None:
            return None
        name = self.text(owner.name, owner.kind.lower())
        return replace(owner, name=name, uid=self.text(owner.uid, "uid"))

    def _selector(self, selector: Optional[LabelSelector]) -> Optional[LabelSelector]:
        if selector is None:
            return None
        renamed = (
            replace(
                requirement,
                key=self.key(requirement.key),
                values=tuple(
                    sorted(self.label(requirement.key, value) for value in requirement.values)
                ),
            )
            for requirement in selector.requirements
        )
        return LabelSelector(tuple(sorted(renamed)))

    def labels(self, labels: Mapping[str, str]) -> dict[str, str]:
        return {self.key(key): self.label(key, value) for key, value in labels.items()}

    def label(self, key: str, value: str) -> str:
        return value if says_nothing(key, value) else self.text(value, "value")

    def value(self, value: str) -> str:
        return value if value in _KEPT_VALUES else self.text(value, "value")

    def resources(self, amounts: Mapping[str, int]) -> dict[str, int]:
        """Extended resources have a domain: example.com/fpga."""
        return {self.key(name) if "/" in name else name: amount for name, amount in amounts.items()}

    def key(self, key: str) -> str:
        return key if is_well_known(key) else self.text(key, "key")

    def known(self, text: str) -> Optional[str]:
        """Its new text when it has one already."""
        return self._table.get(text)

    def text(self, text: str, kind: str) -> str:
        """The new text; kind: what it is called after where it is new."""
        if text and text not in self._table:
            self._counts[kind] += 1
            self._table[text] = f"{kind}-{self._counts[kind]}"
        return self._table[text] if text else ""
