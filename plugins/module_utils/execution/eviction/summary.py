# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The report of a drain: the four lists, and the sentence that a person reads."""

from __future__ import annotations

from typing import Any, Iterable, Mapping, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.events import Now
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.leaver import (
    Hurdle,
    Leaver,
    Stage,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.reasons import (
    attached_hurdle,
    why_still_there,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.state import (
    DEPARTURES,
    DrainState,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.volumes import (
    still_attached,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.report import Outcome, Report
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.resources import CONTROLLERS
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.consent import Verdict

# What to do after a call that ended early.
RESUME = "What is done stays done: run it again to go on, or uncordon the nodes to undo."
# A message names so many pods; the lists have them all.
_NAMED = 3


def refusal(refused: Sequence[Verdict], action: str) -> Report:
    """Nothing was written: every pod that may not be touched, with all that it needs."""
    outcomes = tuple(
        Outcome(verdict.pod.key, verdict.pod.node, action, verdict.code, verdict.detail)
        for verdict in refused
    )
    return Report(
        msg=f"Refused, nothing was changed: {_counted(len(refused), 'pod')} may not be evicted. "
        + _named(outcomes),
        failed=outcomes,
        failure="refused",
    )


def report(
    state: DrainState, now: Now, *, failure: str = "", problem: str = "", planned: bool = False
) -> Report:
    """The report of a call that acted, or (planned) of what it would do first.

    failure, problem: the code and the sentence of what ended the call early, if anything did.
    """
    disks = still_attached(state)
    held_by_disk = {
        each.leaver.uid: attached_hurdle(each) for each in disks if each.leaver is not None
    }
    buckets: dict[str, list[Outcome]] = {"done": [], "pending": [], "skipped": [], "failed": []}
    for leaver in state.leavers.values():
        bucket, outcome = _entry(state, leaver, held_by_disk, now, planned)
        buckets[bucket].append(outcome)
    buckets["skipped"] += state.skipped.values()
    buckets["pending"] += [
        Outcome("", each.node, state.action, "volume_attached", attached_hurdle(each).detail)
        for each in disks
        if each.leaver is None
    ]
    lists = {name: tuple(sorted(each, key=_by_node)) for name, each in buckets.items()}
    code = failure or next((outcome.code for outcome in lists["failed"]), "")
    return Report(
        changed=state.wrote or (planned and bool(lists["done"])),
        msg=_message(state, lists, problem, planned),
        failure=code,
        extra={
            "nodes": [_node(state, name, lists) for name in sorted(state.targets)],
            "owners": _owners(state, planned),
            "warnings": _warnings(state, planned),
            **({"problem": problem, "remedy": RESUME} if problem else {}),
        },
        done=lists["done"],
        skipped=lists["skipped"],
        pending=lists["pending"],
        failed=lists["failed"],
    )


def _entry(
    state: DrainState,
    leaver: Leaver,
    held_by_disk: Mapping[str, Hurdle],
    now: Now,
    planned: bool,
) -> tuple[str, Outcome]:
    disk = held_by_disk.get(leaver.uid)
    if disk is not None:
        return "pending", _outcome(state, leaver, disk)
    if leaver.outcome is not None:
        return leaver.bucket, leaver.outcome
    if planned and leaver.stage is Stage.POSTED:
        code = "forced" if state.options.disable_eviction else "evicted"
        return "done", _outcome(state, leaver, Hurdle(code, ""))
    if planned and leaver.stage is Stage.ROLLING:
        return "done", _outcome(state, leaver, Hurdle("surged", DEPARTURES["surged"]))
    hurdle = why_still_there(state, leaver, now)
    # A call that ends early may not have come to failing it.
    return ("failed" if hurdle.for_good else "pending"), _outcome(state, leaver, hurdle)


def _outcome(state: DrainState, leaver: Leaver, hurdle: Hurdle) -> Outcome:
    return Outcome(leaver.pod.key, leaver.node, state.action, hurdle.code, hurdle.detail)


def _message(
    state: DrainState, lists: Mapping[str, Sequence[Outcome]], problem: str, planned: bool
) -> str:
    nodes = ", ".join(sorted(state.targets))
    gone, total = len(lists["done"]), len(state.leavers)
    left = f"would leave {nodes} at once" if planned else f"left {nodes}"
    parts = [problem, RESUME] if problem else []
    parts.append(f"{gone} of {_counted(total, 'pod')} {left}.")
    deferred = [outcome for outcome in lists["skipped"] if outcome.code == "deferred"]
    if deferred:
        parts.append(
            f"Not empty: {_counted(len(deferred), 'fragile pod')} stayed as fragile: defer asks."
        )
    if lists["failed"]:
        parts.append(f"{len(lists['failed'])} cannot leave: {_named(lists['failed'])}")
    if lists["pending"]:
        parts.append(f"{len(lists['pending'])} pending: {_named(lists['pending'])}")
    return " ".join(parts + _warnings(state, planned))


def _named(outcomes: Sequence[Outcome]) -> str:
    words = [
        f"{outcome.workload} on {outcome.node}: {outcome.detail.rstrip('.') or outcome.code}"
        for outcome in outcomes[:_NAMED]
    ]
    more = len(outcomes) - _NAMED
    return "; ".join(words) + (f"; and {more} more." if more > 0 else ".")


def _node(state: DrainState, name: str, lists: Mapping[str, Sequence[Outcome]]) -> dict[str, Any]:
    counts = {
        bucket: sum(1 for outcome in outcomes if outcome.node == name)
        for bucket, outcomes in lists.items()
    }
    total = sum(1 for leaver in state.leavers.values() if leaver.node == name)
    target = state.targets[name]
    deferred = any(each.node == name and each.code == "deferred" for each in lists["skipped"])
    emptied = not (target.gone or counts["pending"] or counts["failed"] or deferred)
    return {"name": name, "total": total, "emptied": emptied, "gone": target.gone, **counts}


def _owners(state: DrainState, planned: bool) -> list[dict[str, Any]]:
    """The owners of what was moved, for whoever waits until their replicas are Ready again.

    Of other kinds (a Job, an operator's own) nobody can say how many replicas must come back.
    """
    moved = {
        leaver.owner
        for leaver in state.leavers.values()
        if planned or leaver.accepted or leaver.rolled or leaver.bucket == "done"
    }
    countable = {resource.kind for resource in CONTROLLERS}
    owners: Iterable[Any] = (state.owners[key] for key in sorted(state.owners) if key in moved)
    return [
        {
            "kind": owner.kind,
            "namespace": owner.namespace,
            "name": owner.name,
            "ready": owner.ready,
        }
        for owner in owners
        if owner.kind in countable
    ]


def _warnings(state: DrainState, planned: bool) -> list[str]:
    """In check mode the cordon that stands before this in a play was not written: an open node is
    worth a word there only where the real run would refuse it, which is a surge."""
    nowhere = [
        f"There is no pod in namespace {name}: check the spelling of namespaces."
        for name in state.options.namespaces
        if not state.world.fleet(name).pods
    ]
    open_nodes = sorted(
        name for name, target in state.targets.items() if not (target.cordoned or target.gone)
    )
    if not planned:
        return nowhere + [
            f"Node {name} is not cordoned: pods may start on it again at any time."
            for name in open_nodes
        ]
    surging = {leaver.node for leaver in state.unsettled() if leaver.stage is Stage.ROLLING}
    return nowhere + [
        f"Node {name} is not cordoned: cordon it before the surge, or that is refused."
        for name in open_nodes
        if name in surging
    ]


def _counted(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def _by_node(outcome: Outcome) -> tuple[str, str]:
    return (outcome.node, outcome.workload)
