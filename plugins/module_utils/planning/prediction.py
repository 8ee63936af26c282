# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a run would do, from the journals of its rehearsals: one for each seed of chance.

A pod waits for a budget while the budget allows no disruption, from the moment at which the pod's
node was closed until the pod begins to leave, or until the run ends. All durations are seconds.
What is predicted of single pods is of the rehearsal in the middle, by duration; sets (refusals,
unfinished) are of all rehearsals together, and waits the longest of all.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Iterable, Mapping, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.model import journal
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.journal import Entry

# What the timeline tells of.
_TOLD = (
    journal.CORDONED,
    journal.UNCORDONED,
    journal.EVICTED,
    journal.DELETED,
    journal.GONE,
    journal.UNPLACED,
    journal.DENIED,
)


@dataclass(frozen=True)
class Left:
    """A pod ("namespace/name") that the run refused, or did not finish with, and why."""

    workload: str
    node: str
    code: str
    detail: str


@dataclass(frozen=True)
class Rehearsal:
    """One run on a twin. started, ended: its time. problem: what the run failed with, or ""."""

    seed: int
    started: float
    ended: float
    problem: str
    entries: tuple[Entry, ...]
    refused: tuple[Left, ...] = ()
    unfinished: tuple[Left, ...] = ()

    @property
    def duration(self) -> float:
        return self.ended - self.started


@dataclass(frozen=True)
class Spread:
    least: float
    median: float
    most: float


@dataclass(frozen=True)
class Happening:
    """seconds: since the run began."""

    seconds: float
    event: str
    subject: str
    owner: str
    node: str
    detail: str


@dataclass(frozen=True)
class Move:
    """A pod that left its node. to: the node of one that its owner started instead; "" for none.
    how: evicted or deleted."""

    workload: str
    owner: str
    node: str
    to: str
    seconds: float
    how: str


@dataclass(frozen=True)
class Wait:
    """pods: how many waited for this budget. longest: of any of them. owner: of that one."""

    budget: str
    pods: int
    longest: float
    owner: str


@dataclass(frozen=True)
class Advice:
    """What to change before the real run. code: budget_wait, unplaced, or that of a refusal."""

    code: str
    subject: str
    sentence: str
    remedy: str


@dataclass(frozen=True)
class Prediction:
    """problem: what the run would fail with; "" when every rehearsal succeeded. violated: budgets
    of which fewer pods than they want would be healthy at some time."""

    seeds: tuple[int, ...]
    problem: str
    duration: Spread
    timeline: tuple[Happening, ...]
    moved: tuple[Move, ...]
    waits: tuple[Wait, ...]
    violated: tuple[str, ...]
    refused: tuple[Left, ...]
    unfinished: tuple[Left, ...]
    unplaced: tuple[Left, ...]
    first: tuple[Advice, ...]

    @property
    def succeeds(self) -> bool:
        return not self.problem

    def moved_by_owner(self) -> Mapping[str, int]:
        return Counter(move.owner for move in self.moved)


def predict(rehearsals: Sequence[Rehearsal]) -> Prediction:
    """rehearsals: at least one."""
    middle = sorted(rehearsals, key=lambda one: one.duration)[(len(rehearsals) - 1) // 2]
    waits = _longest(wait for one in rehearsals for wait in waits_of(one))
    refused = _together(one.refused for one in rehearsals)
    unplaced = _together(map(unplaced_of, rehearsals))
    return Prediction(
        seeds=tuple(one.seed for one in rehearsals),
        problem=next((one.problem for one in rehearsals if one.problem), ""),
        duration=_spread([one.duration for one in rehearsals]),
        timeline=_timeline(middle),
        moved=moves_of(middle),
        waits=waits,
        violated=tuple(sorted({name for one in rehearsals for name in violated_of(one)})),
        refused=refused,
        unfinished=_together(one.unfinished for one in rehearsals),
        unplaced=unplaced,
        first=(*_of_refusals(refused), *_of_unplaced(unplaced), *_of_waits(waits)),
    )


def _spread(values: Sequence[float]) -> Spread:
    ordered = sorted(values)
    return Spread(ordered[0], ordered[(len(ordered) - 1) // 2], ordered[-1])


def _timeline(rehearsal: Rehearsal) -> tuple[Happening, ...]:
    leaving = {one.subject for one in _of_the_run(rehearsal)}
    return tuple(
        Happening(
            one.at - rehearsal.started, one.event, one.subject, one.owner, one.node, one.detail
        )
        for one in rehearsal.entries
        if one.event in _TOLD and one.at <= rehearsal.ended
        if one.event not in (*journal.LEAVING, journal.GONE) or one.subject in leaving
    )


def _together(lists: Iterable[Iterable[Left]]) -> tuple[Left, ...]:
    """Each pod once, as it was first told of."""
    found: dict[tuple[str, str], Left] = {}
    for one in (one for listed in lists for one in listed):
        found.setdefault((one.workload, one.node), one)
    return tuple(found.values())


# --- what moved ----------------------------------------------------------------------------


def moves_of(rehearsal: Rehearsal) -> tuple[Move, ...]:
    """Pods that left while the run was under way, in order. The first that left is told with the
    first that its owner started instead: which is for which, no controller says."""
    leaving = [one for one in _of_the_run(rehearsal) if one.at <= rehearsal.ended]
    began = {one.owner: one.at for one in reversed(leaving)}
    places = _places(rehearsal.entries, began)
    return tuple(
        Move(
            one.subject,
            one.owner,
            one.node,
            places[one.owner].pop(0) if places[one.owner] else "",
            one.at - rehearsal.started,
            one.event,
        )
        for one in leaving
    )


def _of_the_run(rehearsal: Rehearsal) -> list[Entry]:
    """Pods that leave a node, but not what others have deleted: in a cluster that is copied while
    it lives, something is always under way."""
    closed = {
        one.subject for one in rehearsal.entries if one.event in (journal.CLOSED, journal.CORDONED)
    }
    concerned = {one.owner for one in rehearsal.entries if one.event == journal.CONCERNED}

    def concerns(pod: Entry) -> bool:
        return pod.event == journal.EVICTED or pod.node in closed or pod.owner in concerned

    leaving = [one for one in rehearsal.entries if one.event in journal.LEAVING and one.node]
    return [one for one in leaving if concerns(one)]


def _places(entries: Sequence[Entry], began: Mapping[str, float]) -> defaultdict[str, list[str]]:
    """The nodes of the pods of each owner that were bound since its first one left."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for one in entries:
        if one.event == journal.BOUND and one.at >= began.get(one.owner, one.at + 1):
            found[one.owner].append(one.node)
    return found


def unplaced_of(rehearsal: Rehearsal) -> tuple[Left, ...]:
    """Pods for which no node was found until the end."""
    waiting: dict[str, Entry] = {}
    for one in rehearsal.entries:
        if one.event == journal.UNPLACED:
            waiting[one.subject] = one
        elif one.event in (journal.BOUND, journal.GONE):
            waiting.pop(one.subject, None)
    return tuple(
        Left(pod, "", "unplaced", f"{one.owner}: {one.detail}") for pod, one in waiting.items()
    )


# --- waits ---------------------------------------------------------------------------------


def violated_of(rehearsal: Rehearsal) -> tuple[str, ...]:
    """Of the budgets of the pods that must leave, those that are violated before the run ends."""
    events = (*journal.LEAVING, journal.CONCERNED)
    concerned = {
        budget for one in rehearsal.entries if one.event in events for budget in one.budgets
    }
    return tuple(
        dict.fromkeys(
            one.subject
            for one in rehearsal.entries
            if one.event == journal.VIOLATED
            and one.subject in concerned
            and one.at <= rehearsal.ended
        )
    )


@dataclass(frozen=True)
class _Span:
    begin: float
    end: float

    def shared(self, other: _Span) -> float:
        return max(0.0, min(self.end, other.end) - max(self.begin, other.begin))


def waits_of(rehearsal: Rehearsal) -> tuple[Wait, ...]:
    """How long pods waited for each budget, the longest wait first."""
    closed = _exhausted(rehearsal)
    found: defaultdict[str, list[tuple[float, str]]] = defaultdict(list)
    for pod, span in _stays(rehearsal):
        for budget in pod.budgets:
            seconds = sum(span.shared(one) for one in closed.get(budget, ()))
            if seconds > 0:
                found[budget].append((seconds, pod.owner))
    return tuple(
        sorted(
            (Wait(budget, len(waits), *max(waits)) for budget, waits in found.items()),
            key=lambda wait: (-wait.longest, wait.budget),
        )
    )


def _exhausted(rehearsal: Rehearsal) -> Mapping[str, Sequence[_Span]]:
    """By budget, when it allowed nothing."""
    spans: defaultdict[str, list[_Span]] = defaultdict(list)
    since: dict[str, float] = {}
    for one in rehearsal.entries:
        if one.event == journal.EXHAUSTED:
            since.setdefault(one.subject, one.at)
        elif one.event == journal.OPEN and one.subject in since:
            spans[one.subject].append(_Span(since.pop(one.subject), one.at))
    for budget, begin in since.items():
        spans[budget].append(_Span(begin, rehearsal.ended))
    return spans


def _stays(rehearsal: Rehearsal) -> Iterable[tuple[Entry, _Span]]:
    """Each pod that was to leave, from the closing of its node until it left."""
    left = {one.subject: one for one in _of_the_run(rehearsal)}
    concerned = {one.subject: one for one in rehearsal.entries if one.event == journal.CONCERNED}
    for pod, one in {**left, **concerned}.items():
        begin = concerned[pod].at if pod in concerned else rehearsal.started
        end = left[pod].at if pod in left else rehearsal.ended
        yield left.get(pod, one), _Span(begin, min(end, rehearsal.ended))


def _longest(waits: Iterable[Wait]) -> tuple[Wait, ...]:
    found: dict[str, Wait] = {}
    for wait in waits:
        known = found.get(wait.budget)
        if known is None or wait.longest > known.longest:
            found[wait.budget] = wait
    return tuple(sorted(found.values(), key=lambda wait: (-wait.longest, wait.budget)))


# --- what to change first ------------------------------------------------------------------


def _of_refusals(refused: Sequence[Left]) -> Iterable[Advice]:
    for one in refused:
        yield Advice(one.code, f"Pod {one.workload}", one.detail or "It may not be moved.", "")


def _of_unplaced(unplaced: Sequence[Left]) -> Iterable[Advice]:
    for one in unplaced:
        sentence = f"Its replacement finds no node: {one.detail}"
        remedy = "Make room for it, or add a node first."
        yield Advice("unplaced", f"Pod {one.workload}", sentence, remedy)


def _of_waits(waits: Sequence[Wait]) -> Iterable[Advice]:
    for one in waits:
        many = "1 pod waits" if one.pods == 1 else f"{one.pods} pods wait"
        yield Advice(
            "budget_wait",
            f"PodDisruptionBudget {one.budget}",
            f"{many} for it, the longest {one.longest:.0f} s.",
            f"Let it allow more, or give {one.owner} more replicas first.",
        )
