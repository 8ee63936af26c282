# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Rules that only a change of the node or of the pod's spec can change: gates, names, cordons,
taints, node selector and node affinity.

Source: kube-scheduler 1.37, pkg/scheduler/framework/plugins: schedulinggates, nodename,
nodeunschedulable, tainttoleration, nodeaffinity.
"""

from __future__ import annotations

from typing import Iterator

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import Taint
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.scheduling import (
    SchedulingSpec,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility import verdict
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.nodes import (
    NO_NODE,
    NodeTable,
    union,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.pods import (
    PodClass,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.verdict import (
    Failing,
)

# A cordon is forgiven to pods that tolerate the taint which comes with it.
_CORDON = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")


class StaticRules:
    """Each mask is made once for a class of pods."""

    def __init__(self, nodes: NodeTable) -> None:
        self._nodes = nodes
        self._closed = NO_NODE
        self._masks: dict[PodClass, int] = {}
        self._tolerating: dict[object, int] = {}
        self._tolerates_cordon: dict[object, bool] = {}
        self._selected: dict[object, int] = {}

    @property
    def closed(self) -> int:
        """The nodes that were cordoned since the state was made."""
        return self._closed

    def close(self, nodes: int) -> None:
        self._closed = nodes

    def passing(self, pod: PodClass) -> int:
        mask = self._masks.get(pod)
        if mask is None:
            mask = self._nodes.all
            for _unused, nodes in self._rules(pod):
                mask &= nodes
            self._masks[pod] = mask
        return self._left_open(pod.spec, mask)

    def by_rule(self, pod: PodClass) -> tuple[tuple[str, int], ...]:
        """Each rule with the nodes that it does not keep the pod off."""
        return tuple(
            (rule, self._left_open(pod.spec, nodes) if rule == verdict.UNSCHEDULABLE else nodes)
            for rule, nodes in self._rules(pod)
        )

    def failing(self, pod: PodClass, node: int) -> Iterator[Failing]:
        spec, bit = pod.spec, 1 << node
        if spec.gates:
            detail = f"it waits for its scheduling gates: {', '.join(spec.gates)}"
            yield Failing(verdict.SCHEDULING_GATES, detail)
        if not self._of_name(spec) & bit:
            yield Failing(verdict.NODE_NAME, f"its template names {spec.node_name}")
        if not self._left_open(spec, self._open(spec)) & bit:
            yield Failing(verdict.UNSCHEDULABLE, "the node is cordoned")
        for taint in self._untolerated(spec):
            if self._nodes.tainted[taint] & bit:
                yield Failing(verdict.TAINTS, f"it does not tolerate {_words(taint)}")
        yield from self._not_selecting(spec, node)

    def tolerating(self, spec: SchedulingSpec) -> int:
        """The nodes without a taint that keeps the pod off, for topology spread.

        A node that was closed has the taint that comes with a cordon.
        """
        return self._left_open(spec, self._untainted(spec))

    def selected(self, spec: SchedulingSpec) -> int:
        """The nodes of its node selector and node affinity; topology spread asks it, too."""
        key = (spec.node_selector, spec.node_affinity)
        if key not in self._selected:
            mask = self._nodes.labelled(spec.node_selector)
            self._selected[key] = mask & self._affine(spec)
        return self._selected[key]

    def _rules(self, pod: PodClass) -> tuple[tuple[str, int], ...]:
        """Without what was closed since."""
        spec = pod.spec
        return (
            (verdict.SCHEDULING_GATES, NO_NODE if spec.gates else self._nodes.all),
            (verdict.NODE_NAME, self._of_name(spec)),
            (verdict.UNSCHEDULABLE, self._open(spec)),
            (verdict.TAINTS, self._untainted(spec)),
            (verdict.NODE_SELECTOR, self._nodes.labelled(spec.node_selector)),
            (verdict.NODE_AFFINITY, self._affine(spec)),
        )

    def _untainted(self, spec: SchedulingSpec) -> int:
        key = spec.tolerations
        if key not in self._tolerating:
            kept_off = union(self._nodes.tainted[taint] for taint in self._untolerated(spec))
            self._tolerating[key] = self._nodes.all & ~kept_off
        return self._tolerating[key]

    def _left_open(self, spec: SchedulingSpec, nodes: int) -> int:
        if not self._closed or self._forgives(spec):
            return nodes
        return nodes & ~self._closed

    def _forgives(self, spec: SchedulingSpec) -> bool:
        key = spec.tolerations
        if key not in self._tolerates_cordon:
            self._tolerates_cordon[key] = any(one.tolerates(_CORDON) for one in key)
        return self._tolerates_cordon[key]

    def _of_name(self, spec: SchedulingSpec) -> int:
        return self._nodes.named(spec.node_name) if spec.node_name else self._nodes.all

    def _open(self, spec: SchedulingSpec) -> int:
        if self._forgives(spec):
            return self._nodes.all
        return self._nodes.all & ~self._nodes.unschedulable

    def _affine(self, spec: SchedulingSpec) -> int:
        if spec.node_affinity is None:
            return self._nodes.all
        return self._nodes.matching_any(spec.node_affinity)

    def _untolerated(self, spec: SchedulingSpec) -> list[Taint]:
        return [
            taint
            for taint in self._nodes.tainted
            if not any(toleration.tolerates(taint) for toleration in spec.tolerations)
        ]

    def _not_selecting(self, spec: SchedulingSpec, node: int) -> Iterator[Failing]:
        labels = self._nodes.nodes[node].meta.labels
        for key, value in spec.node_selector:
            if labels.get(key) != value:
                found = f"has {labels[key]}" if key in labels else "does not have it"
                yield Failing(verdict.NODE_SELECTOR, f"it wants {key}={value}, the node {found}")
        if spec.node_affinity is not None and not self._affine(spec) >> node & 1:
            terms = "; or ".join(map(str, spec.node_affinity)) or "no node"
            yield Failing(verdict.NODE_AFFINITY, f"it wants {terms}")


def _words(taint: Taint) -> str:
    value = f"={taint.value}" if taint.value else ""
    return f"the taint {taint.key}{value}:{taint.effect}"
