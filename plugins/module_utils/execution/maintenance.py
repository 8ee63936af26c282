# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Writes on nodes where their maintenance stands, so that any runner and `kubectl describe` see it.

Nothing is moved here: entering asks, waiting says what a node that enters waits for, in_maintenance
declares the node empty, withdrawn takes the request back (which stops a run that empties the node),
absent removes all that was written.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Callable, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.base import Cluster
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.chosen import choose
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction import fencing
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.restarts import (
    forget_left_over,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.node_events import (
    record_event,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.node_writes import (
    Rule,
    write_nodes,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.run import Run
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import InvalidOption
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import Node
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.report import Report
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.times import format_instant
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.maintenance_record import (
    Request,
    arrive,
    enter,
    leave,
    wait,
    withdraw,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.node_edit import NodeDecision
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.node_selection import (
    NodeSelection,
    not_found,
)

STATES = ("entering", "waiting", "in_maintenance", "withdrawn", "absent")

# What is told on the Node when a decision was carried out: reason and message of the Event.
_EVENTS = {
    "in_maintenance": ("MaintenanceReady", "The node is empty and ready for maintenance."),
    "left_maintenance": ("MaintenanceExited", "The node left maintenance."),
}


@dataclass(frozen=True)
class MaintenanceOptions:
    """state: one of STATES. message: shown while the node enters (or is in maintenance); "" leaves
    the one of a node that enters.
    protect_from_autoscalers: sets the annotations that keep Karpenter and the cluster autoscaler
    from deleting the node, where they are not set already.
    ignore_not_found: nodes named that are not there are skipped (node_gone), not refused.
    """

    selection: NodeSelection
    state: str
    message: str = ""
    protect_from_autoscalers: bool = True
    ignore_not_found: bool = False


def maintenance(options: MaintenanceOptions, cluster: Cluster, run: Run) -> Report:
    """Returns the report on each node.

    Raises InvalidOption, and Refused (unknown_nodes, nothing_selected, malformed_record), before
    any write. A node that nobody wants in maintenance fails in_maintenance with `not_requested`.
    """
    if options.state not in STATES:
        raise InvalidOption(
            "state", f"{options.state!r} is not a state.", f"Use one of {', '.join(STATES)}."
        )
    fleet, nodes = choose(options.selection, cluster, ignore_not_found=options.ignore_not_found)
    rule = Rule("maintenance", _judge(options, run), partial(_tell, cluster, run))
    for node in nodes:
        # A refusal comes before any write, and what a drain left is cleared before the nodes are.
        rule.judge(node)
    cleared = options.state == "absent" and _clear_drains(nodes, cluster, run)
    report = write_nodes(nodes, rule, cluster, run, gone=not_found(options.selection, fleet))
    return replace(report, changed=report.changed or cleared)


def _clear_drains(nodes: Sequence[Node], cluster: Cluster, run: Run) -> bool:
    """Before the record of the maintenance goes, so that a killed exit is finished by the next."""
    lifted = _lift_fences(nodes, cluster, run)
    return forget_left_over(nodes, cluster, run) or lifted


def _lift_fences(nodes: Sequence[Node], cluster: Cluster, run: Run) -> bool:
    """A drain that ended early leaves its out-of-service taint: no pod could start there again."""
    fenced = [node for node in nodes if fencing.is_fenced(node, run.prefix)]
    if run.check_mode:
        return bool(fenced)
    lifted = [fencing.lift(node, cluster, run) for node in fenced]
    return any(lifted)


def _judge(options: MaintenanceOptions, run: Run) -> Callable[[Node], NodeDecision]:
    prefix = run.prefix
    request = Request(
        message=options.message,
        protect=options.protect_from_autoscalers,
        run=run.holder,
        since=format_instant(run.clock.now()),
    )
    judges: dict[str, Callable[[Node], NodeDecision]] = {
        "entering": lambda node: enter(node, prefix, request),
        "waiting": lambda node: wait(node, prefix, options.message),
        "in_maintenance": lambda node: arrive(node, prefix, options.message),
        "withdrawn": lambda node: withdraw(node, prefix),
        "absent": lambda node: leave(node, prefix),
    }
    return judges[options.state]


def _tell(cluster: Cluster, run: Run, node: Node, decision: NodeDecision) -> str:
    if decision.code not in _EVENTS:
        return ""
    reason, message = _EVENTS[decision.code]
    return record_event(node, reason, message, cluster, run)
