# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Empties nodes of their pods: read, judge, refuse or lock, drain, report."""

from __future__ import annotations

from dataclasses import replace
from typing import Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.base import Cluster
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction import fencing
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.checks import (
    check_access,
    check_nodes,
    check_surge,
    judge_pods,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.driver import Drain
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.events import Now
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.ledger import Ledger
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.machine import (
    SLOTS,
    DrainMachine,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.options import (
    EvictOptions,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.snapshot import (
    Snapshot,
    take_snapshot,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.state import (
    DrainState,
    Target,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.summary import (
    refusal,
    report,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.world import World
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.lock import hold
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.run import Run
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import Node
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.report import Report
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.consent import (
    EVICT,
    REFUSE,
    Consent,
    Verdict,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.node_selection import (
    check_selection,
)

# Runs that empty nodes for whatever reason join each other; the lock keeps others away.
PURPOSE = "maintenance"
# Seconds that taking the locks may last before what was read is too old to act on.
FRESH = 2.0


def evict(options: EvictOptions, cluster: Cluster, run: Run) -> Report:
    """Empties the selected nodes, or says what stands in the way; the report lists every pod.

    Nothing is written before every pod of every node was judged. Raises InvalidOption, Refused,
    Superseded, LockHeld, Forbidden and ApiFailure for what stops it before its first act; from then
    on whatever ends it early is the report's `failure`.
    """
    check_selection(options.selection)
    consent = options.consent(run.prefix)
    snapshot, verdicts = _judged(options, consent, cluster)
    refused = _refused(verdicts)
    if refused:
        return refusal(refused, "delete" if options.disable_eviction else "evict")
    if run.check_mode:
        # An open node refuses nothing yet: whoever checks before closing it, as the role does, is
        # warned of it in the report where the real run would refuse it (a surge). Rights to write
        # are not asked for: who may only read can still plan.
        with hold(snapshot.nodes, cluster, run, purpose=PURPOSE):
            return _plan(options, consent, snapshot, verdicts, run)
    check_surge(options, snapshot.nodes, verdicts)
    evicting = {pod.meta.namespace for pod in (v.pod for v in verdicts if v.decision == EVICT)}
    check_access(options, cluster, sorted(evicting))
    asked = run.clock.monotonic()
    with hold(snapshot.nodes, cluster, run, purpose=PURPOSE) as locks:
        if run.clock.monotonic() - asked > FRESH:
            # Another run had the nodes meanwhile: the world is not what was judged.
            snapshot, verdicts = _judged(options, consent, cluster)
            refused = _refused(verdicts)
            if refused:
                return refusal(refused, "delete" if options.disable_eviction else "evict")
            check_surge(options, snapshot.nodes, verdicts)
        machine = _machine(options, consent, snapshot, verdicts, run, SLOTS)
        _lift_old_fences(machine.state, snapshot, cluster, run)
        return Drain(machine, snapshot, cluster, run, locks).run()


def _judged(
    options: EvictOptions, consent: Consent, cluster: Cluster
) -> tuple[Snapshot, list[Verdict]]:
    snapshot = take_snapshot(options, cluster)
    check_nodes(options, snapshot)
    verdicts = judge_pods(snapshot, consent)
    return snapshot, verdicts


def _refused(verdicts: Sequence[Verdict]) -> list[Verdict]:
    return [verdict for verdict in verdicts if verdict.decision == REFUSE]


def _plan(
    options: EvictOptions,
    consent: Consent,
    snapshot: Snapshot,
    verdicts: Sequence[Verdict],
    run: Run,
) -> Report:
    """C16: the first decision of the real run, as if every request were sent at once."""
    machine = _machine(options, consent, snapshot, verdicts, run, max(SLOTS, len(verdicts)))
    now = Now(run.clock.monotonic(), run.clock.now())
    machine.decide(now)
    planned = report(machine.state, now, planned=True)
    fences = any(_writes_fence(node, options, run) for node in snapshot.nodes)
    return replace(planned, changed=planned.changed or fences)


def _writes_fence(node: Node, options: EvictOptions, run: Run) -> bool:
    """Would the real run set this node's out-of-service taint, or lift one that is ours?"""
    if not options.fenced:
        return fencing.is_fenced(node, run.prefix)
    return not fencing.has_taint(node) or (options.wait and fencing.is_fenced(node, run.prefix))


def _machine(
    options: EvictOptions,
    consent: Consent,
    snapshot: Snapshot,
    verdicts: Sequence[Verdict],
    run: Run,
    slots: int,
) -> DrainMachine:
    state = DrainState(
        options=options,
        prefix=run.prefix,
        world=World(snapshot.fleet, snapshot.attachments),
        ledger=Ledger(snapshot.fleet.budgets),
        targets=_targets(options, snapshot),
        volumes=snapshot.volumes,
    )
    machine = DrainMachine(state, consent, slots)
    now = Now(run.clock.monotonic(), run.clock.now())
    machine.begin(verdicts, snapshot.fleet.controllers, now)
    return machine


def _targets(options: EvictOptions, snapshot: Snapshot) -> dict[str, Target]:
    there = [
        Target(node.name, node.meta.uid, node.unschedulable, options.fenced)
        for node in snapshot.nodes
    ]
    gone = [Target(name, "", cordoned=False, gone=True) for name in snapshot.gone]
    return {target.name: target for target in [*there, *gone]}


def _lift_old_fences(state: DrainState, snapshot: Snapshot, cluster: Cluster, run: Run) -> None:
    """A run that was killed may have left its taint: no pod could ever start there again."""
    for node in snapshot.nodes:
        if fencing.is_fenced(node, run.prefix) and not state.targets[node.name].fenced:
            state.wrote = fencing.lift(node, cluster, run) or state.wrote
