# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Reads where nodes stand: their maintenance, who holds them closed, who acts, what is left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.base import Cluster
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.chosen import choose
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.run import Run
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import NotFound, Refused
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import Node
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.report import Report
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.resources import LEASES, PODS
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.times import format_instant
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.cordon_ownership import (
    SOMEONE_ELSE,
    Cordon,
    read_cordon,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.lock_rules import lease_name
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.maintenance_record import (
    Maintenance,
    read_maintenance,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.node_selection import (
    NodeSelection,
)


@dataclass(frozen=True)
class MaintenanceInfoOptions:
    """selection None: every node that is in maintenance or that an owner holds closed."""

    selection: Optional[NodeSelection] = None


def maintenance_info(options: MaintenanceInfoOptions, cluster: Cluster, run: Run) -> Report:
    """Returns `extra` {nodes: [document], lines: [text]}, by name; nothing is written.

    A document: name, state ("", Entering, InMaintenance), message, requested, since (RFC 3339, or
    null), cordoned, cordon_owners [{owner, reason, since}], drift (open though an owner holds it),
    pods_left (pods that are not a DaemonSet's, mirrors or finished), lock {holder, until} or null,
    problem ("" or why an annotation cannot be read).
    Raises InvalidOption, and Refused (unknown_nodes, nothing_selected).
    """
    _fleet, nodes = choose(options.selection, cluster)
    stands = [_stand(node, run.prefix) for node in nodes]
    if options.selection is None:
        stands = [stand for stand in stands if stand.noteworthy]
    documents = [_document(stand, cluster, run) for stand in stands]
    lines = [f"{document['name']}: {', '.join(_words(document))}." for document in documents]
    msg = " ".join(lines) or "No node is in maintenance."
    return Report(msg=msg, extra={"nodes": documents, "lines": lines})


@dataclass(frozen=True)
class _Stand:
    """What a node's annotations say. problem: why one of them cannot be read, or ""."""

    node: Node
    maintenance: Maintenance
    cordon: Cordon
    problem: str

    @property
    def noteworthy(self) -> bool:
        signed = any(owner != SOMEONE_ELSE for owner in self.cordon.owners)
        return self.maintenance.present or signed or bool(self.problem)


def _stand(node: Node, prefix: str) -> _Stand:
    """One annotation that cannot be read must not hide where all the others stand."""
    problems = []
    maintenance = Maintenance(False, "", "", None)
    cordon = Cordon(node.unschedulable)
    try:
        maintenance = read_maintenance(node, prefix)
    except Refused as problem:
        problems.append(str(problem))
    try:
        cordon = read_cordon(node, prefix)
    except Refused as problem:
        problems.append(str(problem))
    return _Stand(node, maintenance, cordon, " ".join(problems))


def _document(stand: _Stand, cluster: Cluster, run: Run) -> dict[str, Any]:
    node, maintenance, cordon = stand.node, stand.maintenance, stand.cordon
    return {
        "name": node.name,
        "state": maintenance.state,
        "message": maintenance.message,
        "requested": maintenance.requested,
        "since": (maintenance.record.since or None) if maintenance.record else None,
        "cordoned": cordon.closed,
        "cordon_owners": [
            {"owner": claim.owner, "reason": claim.reason, "since": claim.since}
            for claim in cordon.claims
        ],
        "drift": cordon.drifted,
        "pods_left": _pods_left(node, cluster),
        "lock": _lock(node, cluster, run),
        "problem": stand.problem,
    }


def _pods_left(node: Node, cluster: Cluster) -> int:
    """Asks for this node's pods alone: few nodes are in maintenance, clusters have many pods."""
    pods = cluster.list(PODS, field_selector=f"spec.nodeName={node.name}").items
    return sum(1 for pod in pods if not (pod.is_daemon or pod.is_mirror or pod.finished))


def _lock(node: Node, cluster: Cluster, run: Run) -> Optional[dict[str, str]]:
    try:
        lease = cluster.get(LEASES, lease_name(node.name), namespace=run.state_namespace)
    except NotFound:
        return None
    if lease.expires_at is None or lease.expires_at <= run.clock.now():
        return None
    return {"holder": lease.holder, "until": format_instant(lease.expires_at)}


def _words(document: dict[str, Any]) -> list[str]:
    state = document["state"] or "no maintenance"
    left = document["pods_left"]
    words = [state, f"{left} pod{'' if left == 1 else 's'} left"]
    owners = ", ".join(owner["owner"] for owner in document["cordon_owners"])
    if document["drift"]:
        words.append(f"uncordoned by somebody though held by {owners}")
    elif document["cordoned"]:
        words.append(f"cordoned by {owners}")
    if document["state"] and not document["requested"]:
        words.append("its request was withdrawn")
    if document["lock"]:
        lock = document["lock"]
        words.append(f"held by {lock['holder']} until {lock['until']}")
    words += [document[key] for key in ("message", "problem") if document[key]]
    return words
