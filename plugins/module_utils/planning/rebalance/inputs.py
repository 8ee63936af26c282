# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""From what was read of a fleet to the world that a rebalancing is planned from."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Iterable, Mapping, Optional, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.model import machine_labels
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.fleet import Fleet
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import Node
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node_terms import NodeTerm
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.offering import (
    ON_DEMAND,
    SPOT,
    Offering,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.pod import Pod
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.scheduling import SchedulingSpec
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.scheduling_facts import (
    SchedulingFacts,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.placed import Placed
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.rebalance.world import World


def world_of(
    fleet: Fleet,
    facts: SchedulingFacts,
    offerings: Sequence[Offering],
    replaceable: Iterable[str],
) -> World:
    """Pods that have finished take nothing, and are left out; those that no node has yet are not a
    rebalancing's."""
    running = [pod for pod in fleet.pods if pod.node in fleet.node_by_name and not pod.finished]
    return World(
        nodes=fleet.nodes,
        pods=tuple(
            Placed(pod.key, facts.specs[pod.meta.uid], pod.node, moves=not _goes_with_node(pod))
            for pod in running
        ),
        prices=prices_of(fleet.nodes, offerings),
        replaceable=frozenset(replaceable),
        offerings=tuple(offerings),
        daemons=_daemons(running, facts.specs),
        namespaces=facts.namespaces,
        storage=facts.storage,
    )


def prices_of(nodes: Iterable[Node], offerings: Iterable[Offering]) -> dict[str, Decimal]:
    """Returns the hourly price of each node whose type is among the offerings, in its zone and of
    its capacity type; others have none."""
    known = {(one.instance_type, one.zone, one.capacity_type): one.price for one in offerings}
    prices = {}
    for node in nodes:
        price = _price(node.meta.labels, known)
        if price is not None:
            prices[node.name] = price
    return prices


def _price(
    labels: Mapping[str, str], known: Mapping[tuple[str, str, str], Decimal]
) -> Optional[Decimal]:
    capacity_type = SPOT if machine_labels.is_spot(labels) else ON_DEMAND
    for zone in (machine_labels.zone(labels), ""):
        found = known.get((machine_labels.instance_type(labels), zone, capacity_type))
        if found is not None:
            return found
    return None


def _goes_with_node(pod: Pod) -> bool:
    return pod.is_daemon or pod.is_mirror


def _daemons(
    pods: Iterable[Pod], specs: Mapping[str, SchedulingSpec]
) -> tuple[SchedulingSpec, ...]:
    """One spec for each DaemonSet, as of a pod that has no node yet."""
    found: dict[str, SchedulingSpec] = {}
    for pod in pods:
        if pod.meta.owner is not None and pod.is_daemon:
            found.setdefault(pod.meta.owner.uid, _anywhere(specs[pod.meta.uid]))
    return tuple(found.values())


def _anywhere(spec: SchedulingSpec) -> SchedulingSpec:
    """Without the affinity to the very node that a DaemonSet's pod is for."""
    if spec.node_affinity is None:
        return spec
    terms = tuple(NodeTerm(term.expressions) for term in spec.node_affinity if term.expressions)
    return replace(spec, node_affinity=terms or None)
