# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""One snapshot of a fleet, as documents and as a file. Reads only."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Callable, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.base import Cluster
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.copying import copied
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.run import Progress, Run
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.snapshot import read
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.snapshot_file import (
    write_snapshot,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.anonymize import (
    Names,
    anonymized,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.anonymize_objects import (
    anonymized_objects,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.documents import (
    VERSION,
    budget_document,
    node_document,
    summary_document,
    workload_document,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import InvalidOption
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.fleet import Fleet
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.limited_objects import (
    limited_objects,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import Node
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.report import Report
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.twin_objects import Objects
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.node_selection import (
    NodeSelection,
    check_selection,
    select,
)

_DOCUMENTS: dict[str, Callable[[Fleet], list[dict[str, Any]]]] = {
    "nodes": lambda fleet: [node_document(node, fleet) for node in fleet.nodes],
    "workloads": lambda fleet: [workload_document(pod, fleet) for pod in fleet.pods],
    "budgets": lambda fleet: [budget_document(budget) for budget in fleet.budgets],
}
GATHER = tuple(_DOCUMENTS)


@dataclass(frozen=True)
class FleetInfoOptions:
    """gather: what the result holds beside the summary. Workloads are not in it unless asked for:
    50,000 pods would make a result of 60 MB.
    namespaces: limits workloads, budgets and controllers to these; () is all.
    selection: limits nodes, and all else to what runs on them; None is all.
    dest: a file for the whole snapshot, whatever is gathered; "" for none.
    """

    selection: Optional[NodeSelection] = None
    namespaces: tuple[str, ...] = ()
    gather: tuple[str, ...] = ("nodes",)
    dest: str = ""
    anonymize: bool = False


def fleet_info(options: FleetInfoOptions, cluster: Cluster, run: Run) -> Report:
    """Reads the fleet; `changed` is true when `dest` was, or in check mode would be, written.

    extra: version, summary, unread (why a collection is missing), and what is gathered.
    Raises InvalidOption before anything is read, Refused for a selection that fits no node.
    """
    _check(options)
    run.progress(Progress("", f"reading {cluster.description}"))
    fleet, objects, unread = _read(options, cluster)
    run.check()
    if options.selection is not None:
        fleet = limited(fleet, select(options.selection, fleet))
    if options.selection is not None or options.namespaces:
        objects = limited_objects(objects, fleet)
    if options.anonymize:
        names = Names()
        fleet = anonymized(fleet, names)
        objects = anonymized_objects(objects, names)
    changed = bool(options.dest) and write_snapshot(
        options.dest, fleet, objects, dry=run.check_mode
    )
    return Report(
        changed=changed,
        msg=_message(fleet, options, changed, run.check_mode),
        extra={
            "version": VERSION,
            "summary": summary_document(fleet),
            "unread": list(unread),
            **{name: _DOCUMENTS[name](fleet) for name in GATHER if name in options.gather},
        },
    )


def _read(options: FleetInfoOptions, cluster: Cluster) -> tuple[Fleet, Objects, tuple[str, ...]]:
    """The objects are for the file only, and as large again as the fleet."""
    if not options.dest:
        reading = read(cluster, namespaces=options.namespaces)
        return reading.fleet, {}, reading.unread
    copy = copied(cluster, namespaces=options.namespaces)
    return copy.reading.fleet, copy.objects, copy.unread


def limited(fleet: Fleet, nodes: tuple[Node, ...]) -> Fleet:
    """Returns these nodes, their pods, and the budgets, controllers and autoscalers of those."""
    names = {node.name for node in nodes}
    pods = tuple(pod for pod in fleet.pods if pod.node in names)
    budgets = {budget.key for pod in pods for budget in fleet.budgets_for(pod)}
    owners = _owners(fleet, {pod.meta.owner.uid for pod in pods if pod.meta.owner is not None})
    controllers = tuple(item for item in fleet.controllers if item.meta.uid in owners)
    targets = {controller.key for controller in controllers}
    return replace(
        fleet,
        nodes=nodes,
        pods=pods,
        budgets=tuple(budget for budget in fleet.budgets if budget.key in budgets),
        controllers=controllers,
        autoscalers=tuple(item for item in fleet.autoscalers if item.target in targets),
    )


def _owners(fleet: Fleet, uids: set[str]) -> set[str]:
    """These UIDs, and those of what owns them."""
    above = set()
    for uid in uids:
        controller = fleet.controller_by_uid.get(uid)
        if controller is not None and controller.meta.owner is not None:
            above.add(controller.meta.owner.uid)
    return uids | above


def _check(options: FleetInfoOptions) -> None:
    if options.selection is not None:
        check_selection(options.selection)
    unknown = [name for name in options.gather if name not in GATHER]
    if unknown:
        raise InvalidOption(
            "gather", f"{unknown[0]!r} is not one of {', '.join(GATHER)}.", "Correct the list."
        )


def _message(fleet: Fleet, options: FleetInfoOptions, changed: bool, check_mode: bool) -> str:
    counts = f"{len(fleet.nodes)} nodes, {len(fleet.pods)} pods, {len(fleet.budgets)} budgets"
    if not options.dest:
        return f"Read {counts}."
    if not changed:
        return f"Read {counts}; {options.dest} says the same already."
    verb = "would be written" if check_mode else "written"
    return f"Read {counts}; {verb} to {options.dest}."
