# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Takes out of a fleet what tells whose it is, so that a snapshot can be shown to strangers.

One table renames everything: the same text gets the same new text wherever it stands, as a name, a
label's value or in a selector. So owners still own, selectors still match the same pods, and two
snapshots of one call can be compared. A name is called after what it first was: "node-3", "pod-17",
"value-4". Kept as they are: quantities, counts, times, states, kinds, versions; label keys under
the domains of Kubernetes and its well-known neighbours; the values "", "true" and "false", and
those of labels that describe hardware.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Mapping, Optional

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

_KNOWN_DOMAINS = (
    "kubernetes.io",
    "k8s.io",
    "karpenter.sh",
    "evenkeel.dev",
    "kubevirt.io",
    "nvidia.com",
    "amd.com",
)
_KEPT_VALUES = ("", "true", "false")
_HARDWARE = (
    "kubernetes.io/arch",
    "kubernetes.io/os",
    "node.kubernetes.io/instance-type",
    "karpenter.sh/capacity-type",
)


def anonymized(fleet: Fleet) -> Fleet:
    """Returns the fleet with other names, in the order of its old ones."""
    names = _Names()
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


class _Names:
    """The table, and what it makes of each kind of object."""

    def __init__(self) -> None:
        self._table: dict[str, str] = {}
        self._counts: Counter[str] = Counter()

    def node(self, node: Node) -> Node:
        return replace(
            node,
            meta=self._meta(node.meta, "node"),
            taints=tuple(
                replace(taint, key=self._key(taint.key), value=self._value(taint.value))
                for taint in node.taints
            ),
            boot_id=self._text(node.boot_id, "boot"),
            provider_id=self._text(node.provider_id, "provider"),
            allocatable=self._resources(node.allocatable),
        )

    def pod(self, pod: Pod) -> Pod:
        return replace(
            pod,
            meta=self._meta(pod.meta, "pod"),
            node=self._text(pod.node, "node"),
            claims=tuple(self._text(claim, "claim") for claim in pod.claims),
            # The scheduler's message names taints and labels.
            unschedulable="unschedulable" if pod.unschedulable else "",
            requests=self._resources(pod.requests),
        )

    def budget(self, budget: Budget) -> Budget:
        return replace(
            budget,
            meta=self._meta(budget.meta, "budget"),
            selector=self._selector(budget.selector),
            disrupted_pods={
                self._text(name, "pod"): when for name, when in budget.disrupted_pods.items()
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
        target = f"{self._text(namespace, 'namespace')}/{self._text(name, kind.lower())}"
        return replace(
            autoscaler,
            meta=self._meta(autoscaler.meta, "autoscaler"),
            target=f"{kind} {target}",
        )

    def _meta(self, meta: Metadata, kind: str) -> Metadata:
        return replace(
            meta,
            namespace=self._text(meta.namespace, "namespace"),
            name=self._text(meta.name, kind),
            uid=self._text(meta.uid, "uid"),
            labels=self._labels(meta.labels),
            annotations=self._labels(meta.annotations),
            owner=self._owner(meta.owner),
        )

    def _owner(self, owner: Optional[Owner]) -> Optional[Owner]:
        if owner is None:
            return None
        name = self._text(owner.name, owner.kind.lower())
        return replace(owner, name=name, uid=self._text(owner.uid, "uid"))

    def _selector(self, selector: Optional[LabelSelector]) -> Optional[LabelSelector]:
        if selector is None:
            return None
        renamed = (
            replace(
                requirement,
                key=self._key(requirement.key),
                values=tuple(
                    sorted(self._label(requirement.key, value) for value in requirement.values)
                ),
            )
            for requirement in selector.requirements
        )
        return LabelSelector(tuple(sorted(renamed)))

    def _labels(self, labels: Mapping[str, str]) -> dict[str, str]:
        return {self._key(key): self._label(key, value) for key, value in labels.items()}

    def _label(self, key: str, value: str) -> str:
        return value if key in _HARDWARE else self._value(value)

    def _value(self, value: str) -> str:
        return value if value in _KEPT_VALUES else self._text(value, "value")

    def _resources(self, amounts: Mapping[str, int]) -> dict[str, int]:
        """Extended resources have a domain: example.com/fpga."""
        return {
            self._key(name) if "/" in name else name: amount for name, amount in amounts.items()
        }

    def _key(self, key: str) -> str:
        domain = key.rpartition("/")[0]
        known = any(domain == one or domain.endswith(f".{one}") for one in _KNOWN_DOMAINS)
        return key if known else self._text(key, "key")

    def _text(self, text: str, kind: str) -> str:
        if text and text not in self._table:
            self._counts[kind] += 1
            self._table[text] = f"{kind}-{self._counts[kind]}"
        return self._table[text] if text else ""
