# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a cluster cannot do without: a node that takes new pods, and a control plane's majority."""

from __future__ import annotations

from typing import Collection, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.fleet import Fleet
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import Node
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.reason import Reason

_HARD_EFFECTS = ("NoSchedule", "NoExecute")
# Taints of Kubernetes' own (a cordon, a node that is not Ready): they tell the node's condition,
# which `schedulable` knows, and not for whom the node is meant.
_CONDITION_PREFIXES = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")

_REMEDY = "Set allow_last: true to do it all the same."


def last_node_reasons(fleet: Fleet, chosen: Collection[Node]) -> tuple[Reason, ...]:
    """Returns why these nodes may not be taken together unless allow_last; () when they may."""
    found = (_last_schedulable(fleet, chosen), _control_plane(fleet, chosen))
    return tuple(reason for reason in found if reason is not None)


def may_take_over(candidate: Node, leaving: Node) -> bool:
    """Could this node's pods run on the candidate, as far as taints say?

    Pods that run on a node tolerate its taints, as a rule: whoever keeps out others than that node
    does (a control plane, a pool of GPUs) is no place for its pods.
    """
    return candidate.schedulable and _kept_out(candidate) <= _kept_out(leaving)


def _last_schedulable(fleet: Fleet, chosen: Collection[Node]) -> Optional[Reason]:
    # A cordoned node counts while it is Ready: its pods need another place just as much. The pods
    # of a node that is not Ready have lost their place already.
    names = {node.name for node in chosen}
    rest = [node for node in fleet.nodes if node.name not in names]
    stranded = [
        node.name
        for node in chosen
        if node.is_ready and not any(may_take_over(other, node) for other in rest)
    ]
    if not stranded:
        return None
    return Reason(
        "last_schedulable_node",
        f"{_nodes(stranded)}: no other node is Ready and open for its pods.",
        f"Open or add a node first. {_REMEDY}",
    )


def _control_plane(fleet: Fleet, chosen: Collection[Node]) -> Optional[Reason]:
    names = {node.name for node in chosen}
    members = [node for node in fleet.nodes if node.is_control_plane]
    # One that is not Ready is missing already: taking it changes nothing.
    taken = [node.name for node in members if node.is_ready and node.name in names]
    left = sum(1 for node in members if node.is_ready and node.name not in names)
    if not taken or 2 * left > len(members):
        return None
    return Reason(
        "control_plane_majority",
        f"{_nodes(taken)}: without it {left} of {len(members)} control-plane nodes are Ready,"
        " which is no majority.",
        f"Take control-plane nodes one at a time, while the others are Ready. {_REMEDY}",
    )


def _kept_out(node: Node) -> frozenset[tuple[str, str]]:
    return frozenset(
        (taint.key, taint.value)
        for taint in node.taints
        if taint.effect in _HARD_EFFECTS and not taint.key.startswith(_CONDITION_PREFIXES)
    )


def _nodes(names: list[str]) -> str:
    return f"{'Node' if len(names) == 1 else 'Nodes'} {', '.join(sorted(names))}"
