# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Writes decisions to nodes: one JSON patch per node, held to what was decided from.

Every node is judged before the first one is written, so that a refusal comes before any write. Each
is then read again, decided again with the same rule, and written; when what it was decided from has
changed in between, the server refuses the patch and the node is read and decided anew, a few times.

No lock is taken: one patch with its tests either happens as decided or not at all. So `exit` is not
held up by an `enter` that is under way elsewhere; it is how that one is stopped.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Callable, Mapping, Optional, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.base import Cluster
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.run import Progress, Run
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.backoff import Backoff
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import (
    Conflict,
    FleetError,
    NotFound,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import Node, parse_node
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.report import Outcome, Report
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.resources import (
    NODES,
    Raw,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.node_edit import (
    DONE,
    FAILED,
    SKIPPED,
    NodeDecision,
    documents,
    operations,
)

# The patch must know whether a node has annotations at all, which the model does not say.
_RAW_NODES = NODES.raw()

# Each time that a write is refused, another writer has succeeded: so many may come at once.
_ATTEMPTS = 8
_BACKOFF = Backoff(first=0.02, most=0.5)

GONE = NodeDecision(SKIPPED, "node_gone", "The node was removed meanwhile.")


@dataclass(frozen=True)
class Rule:
    """What is to become of each node. action: the word in the Outcome: cordon, maintenance, ...

    judge: the decision for a node; pure, raises Refused. after(node, decision): what follows the
    write of a decision that was carried out (an Event); returns a sentence when it went wrong.
    """

    action: str
    judge: Callable[[Node], NodeDecision]
    after: Callable[[Node, NodeDecision], str] = lambda _node, _decision: ""


@dataclass
class _Tally:
    """Gathers what a call did, node by node, so that a call that breaks off still reports it."""

    results: dict[str, list[Outcome]] = field(
        default_factory=lambda: {DONE: [], SKIPPED: [], FAILED: []}
    )
    changed: bool = False
    before: dict[str, Any] = field(default_factory=dict)
    after: dict[str, Any] = field(default_factory=dict)

    def skip_gone(self, rule: Rule, name: str) -> None:
        outcome = Outcome("", name, rule.action, GONE.code, GONE.detail)
        self.results[SKIPPED].append(outcome)

    def add(self, rule: Rule, node: Node, decision: NodeDecision) -> None:
        outcome = Outcome("", node.name, rule.action, decision.code, decision.detail)
        self.results[decision.result].append(outcome)
        if not decision.edit.empty:
            self.changed = True
            before, after = documents(node, decision.edit)
            self.before[node.name] = before
            self.after[node.name] = after


def write_nodes(
    nodes: Sequence[Node], rule: Rule, cluster: Cluster, run: Run, *, gone: Sequence[str] = ()
) -> Report:
    """Carries the rule out on all nodes, by name, and reports on each.

    gone: names of nodes that were there when the caller chose them; they are skipped.

    In check mode nothing is written and the report says what would be. A node whose decision is a
    failure is left as it is and the others go on; the call then fails with that code. An error of
    the API or an interruption ends the call; the nodes not reached are `pending`.
    Raises Refused when a rule refuses a node, before any write.
    """
    ordered = sorted(nodes, key=lambda node: node.name)
    tally = _Tally()
    for name in gone:
        tally.skip_gone(rule, name)
    for node in ordered:
        rule.judge(node)
    for index, node in enumerate(ordered):
        try:
            run.check()
            written, decision = _turn(node, rule, cluster, run)
        except FleetError as error:
            return _broken_off(tally, rule, ordered[index:], error)
        tally.add(rule, written, decision)
        if not run.check_mode:
            run.progress(Progress(node.name, _words(decision)))
    return _report(tally, rule)


def _turn(node: Node, rule: Rule, cluster: Cluster, run: Run) -> tuple[Node, NodeDecision]:
    """Returns the node as it was decided from, and the decision that was carried out."""
    if run.check_mode:
        return node, rule.judge(node)
    conflict: Optional[FleetError] = None
    for attempt in range(_ATTEMPTS):
        raw = _read(cluster, node)
        if raw is None:
            return node, GONE
        found = parse_node(raw)
        decision = rule.judge(found)
        if decision.edit.empty:
            return found, decision
        try:
            cluster.patch(NODES, node.name, operations(raw, decision.edit))
        except (Conflict, NotFound) as error:
            conflict = error
            run.clock.sleep(_BACKOFF.delay(attempt))
            continue
        trouble = rule.after(found, decision)
        return found, replace(decision, detail=f"{decision.detail} {trouble}".strip())
    raise conflict or Conflict(f"Node {node.name} changes faster than it can be written.")


def _read(cluster: Cluster, node: Node) -> Optional[Raw]:
    """None when the node is gone; another one of its name is another node."""
    try:
        raw = cluster.get(_RAW_NODES, node.name)
    except NotFound:
        return None
    return raw if (raw.get("metadata") or {}).get("uid") == node.meta.uid else None


def _words(decision: NodeDecision) -> str:
    return f"{decision.code.replace('_', ' ')}. {decision.detail}".rstrip(". ")


def _report(tally: _Tally, rule: Rule) -> Report:
    failed = tally.results[FAILED]
    return Report(
        changed=tally.changed,
        msg=" ".join(f"Node {bad.node}: {bad.detail}" for bad in failed) or _summary(tally, rule),
        done=tuple(tally.results[DONE]),
        skipped=tuple(tally.results[SKIPPED]),
        failed=tuple(failed),
        failure=failed[0].code if failed else "",
        diff=_diff(tally),
    )


def _broken_off(tally: _Tally, rule: Rule, rest: Sequence[Node], error: FleetError) -> Report:
    return replace(
        _report(tally, rule),
        msg=str(error),
        pending=tuple(Outcome("", node.name, rule.action, "not_reached", "") for node in rest),
        failure=error.code,
    )


def _diff(tally: _Tally) -> Mapping[str, Any]:
    return {"before": tally.before, "after": tally.after} if tally.changed else {}


def _summary(tally: _Tally, rule: Rule) -> str:
    """cordon: n1, n2 cordoned; n3 already cordoned."""
    by_code: dict[str, list[str]] = {}
    for outcome in tally.results[DONE] + tally.results[SKIPPED]:
        by_code.setdefault(outcome.code, []).append(outcome.node)
    parts = [f"{', '.join(names)} {code.replace('_', ' ')}" for code, names in by_code.items()]
    return f"{rule.action}: {'; '.join(parts)}."
