# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Closes nodes to new pods for an owner, and opens them again when no owner is left.

The rules, drift included (C25), are those of policy/cordon_ownership.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.base import Cluster
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.chosen import choose
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.node_writes import (
    Rule,
    write_nodes,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.run import Run
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import (
    InvalidOption,
    Refused,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.fleet import Fleet
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import Node
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.report import Report
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.times import format_instant
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.cordon_ownership import (
    MAINTENANCE,
    SOMEONE_ELSE,
    Claim,
    Ruling,
    claim,
    decide,
    read_cordon,
    release,
    release_all,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.last_node import (
    last_node_reasons,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.node_edit import NodeDecision
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.node_selection import (
    NodeSelection,
    not_found,
)

CORDONED = "cordoned"
UNCORDONED = "uncordoned"


@dataclass(frozen=True)
class CordonOptions:
    """state: cordoned or uncordoned. owner: who claims, or gives up.

    reason: told to others beside the claim; "" leaves the one that is there.
    release_all: with uncordoned, opens the nodes whoever holds them.
    allow_last: closes the last node that new pods could go to, too.
    ignore_not_found: nodes named that are not there are skipped (node_gone), not refused.
    """

    selection: NodeSelection
    state: str
    owner: str = MAINTENANCE
    reason: str = ""
    release_all: bool = False
    allow_last: bool = False
    ignore_not_found: bool = False


def cordon(options: CordonOptions, cluster: Cluster, run: Run) -> Report:
    """Returns the report; `extra` has the nodes whose spec.unschedulable changed, by its new value.

    Raises InvalidOption, and Refused (unknown_nodes, nothing_selected, malformed_owners,
    last_schedulable_node, control_plane_majority), before any write.
    """
    _check(options)
    fleet, nodes = choose(options.selection, cluster, ignore_not_found=options.ignore_not_found)
    rule = _rule(options, run)
    if options.state == CORDONED and not options.allow_last:
        _spare_the_last(fleet, nodes, rule)
    report = write_nodes(nodes, rule, cluster, run, gone=not_found(options.selection, fleet))
    return replace(report, extra=_flipped(report))


def _check(options: CordonOptions) -> None:
    if options.state not in (CORDONED, UNCORDONED):
        raise InvalidOption(
            "state", f"{options.state!r} is not a state.", f"Use {CORDONED} or {UNCORDONED}."
        )
    if options.release_all and options.state != UNCORDONED:
        raise InvalidOption(
            "release_all", "opens nodes.", f"Use it with state: {UNCORDONED}, or leave it out."
        )
    if not options.owner.strip() or options.owner == SOMEONE_ELSE:
        raise InvalidOption(
            "owner",
            f"{options.owner!r} cannot own a cordon.",
            f"Use a name of your own; {SOMEONE_ELSE} stands for cordons that nobody signed.",
        )


def _rule(options: CordonOptions, run: Run) -> Rule:
    wish = Claim(options.owner, options.reason, format_instant(run.clock.now()))
    action = "cordon" if options.state == CORDONED else "uncordon"
    return Rule(action, partial(_judge, options, wish, run.prefix))


def _judge(options: CordonOptions, wish: Claim, prefix: str, node: Node) -> NodeDecision:
    found = read_cordon(node, prefix)
    ruling: Ruling
    if options.state == CORDONED:
        ruling = claim(found, wish)
    elif options.release_all:
        ruling = release_all(found)
    else:
        ruling = release(found, options.owner)
    return decide(node, prefix, found, ruling)


def _spare_the_last(fleet: Fleet, nodes: tuple[Node, ...], rule: Rule) -> None:
    """Judges only nodes that this call would close: one that is closed already is no new loss."""
    closing = [node for node in nodes if rule.judge(node).edit.unschedulable]
    reasons = last_node_reasons(fleet, closing)
    if reasons:
        first = reasons[0]
        raise Refused(
            "Cluster",
            first.code,
            " ".join(reason.sentence for reason in reasons),
            first.remedy,
        )


def _flipped(report: Report) -> dict[str, list[str]]:
    names: dict[str, list[str]] = {CORDONED: [], UNCORDONED: []}
    for outcome in report.done:
        names[outcome.code].append(outcome.node)
    return names
