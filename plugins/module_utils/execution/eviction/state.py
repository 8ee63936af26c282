# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""All that the drain machine remembers. The files beside it hold the rules that change it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Iterable, Iterator, Mapping, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.leaver import (
    Leaver,
    Stage,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.ledger import Ledger
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.options import (
    FAIL_FAST,
    EvictOptions,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.world import World
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.budget import Budget
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.pod import Pod
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.report import Outcome
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.fragility import (
    count_ready,
    owner_key,
    owner_replicas,
)


@dataclass
class Target:
    """A node that is to be emptied.

    cordoned: closed to new pods as far as known; new ones join the drain only while it is.
    fenced: it is stated to be off: its pods are not evicted, the out-of-service taint ends them.
    """

    name: str
    uid: str
    cordoned: bool
    fenced: bool = False
    gone: bool = False


@dataclass(frozen=True)
class Moved:
    """An owner of pods that are to leave, and how many of its replicas were Ready beforehand."""

    kind: str
    namespace: str
    name: str
    ready: int

    @property
    def key(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"


@dataclass
class DrainState:
    """leavers: by UID, in the order of their arrival. owners: by Moved.key.

    paused_until: Clock.monotonic() until which the API server asked to be left alone.
    last_departure: when a pod last left, None before the first.
    stopped_posting: on_refusal=fail_fast met a failure. wrote: something was really written.
    began_with, evicted_before: how many pods of an owner were on a node when the call began, and
    how many left it since, by Leaver.place.
    early: pods of owners that the watch has not shown yet, by UID.
    volumes: the PersistentVolume bound to a claim, by "namespace/claim".
    """

    options: EvictOptions
    prefix: str
    world: World
    ledger: Ledger
    targets: dict[str, Target]
    volumes: Mapping[str, str] = field(default_factory=dict)
    leavers: dict[str, Leaver] = field(default_factory=dict)
    skipped: dict[str, Outcome] = field(default_factory=dict)
    early: dict[str, Pod] = field(default_factory=dict)
    owners: dict[str, Moved] = field(default_factory=dict)
    began_with: Counter[tuple[str, str]] = field(default_factory=Counter)
    evicted_before: Counter[tuple[str, str]] = field(default_factory=Counter)
    paused_until: float = 0.0
    last_departure: Optional[float] = None
    stopped_posting: bool = False
    wrote: bool = False

    def add(self, leaver: Leaver) -> None:
        """A new leaver; its owner's Ready replicas are counted at the first of its pods."""
        self.leavers[leaver.uid] = leaver
        pod = leaver.pod
        family = self.world.family(pod)
        leaver.owner = owner_key(pod, family)
        if leaver.owner and leaver.owner not in self.owners:
            kind, _unused, path = leaver.owner.partition(" ")
            ready = count_ready(owner_replicas(pod, family))
            name = path.partition("/")[2]
            self.owners[leaver.owner] = Moved(kind, pod.meta.namespace, name, ready)

    def unsettled(self) -> Iterator[Leaver]:
        return (leaver for leaver in self.leavers.values() if not leaver.settled)

    def leaving_uids(self) -> set[str]:
        """What this drain asked to go and what terminates anyway, as far as not gone."""
        return {leaver.uid for leaver in self.leavers.values() if leaver.on_its_way}

    def leaving_among(self, pods: Iterable[Pod]) -> set[str]:
        """The same of these pods only: an owner has few of them, the drain may have thousands."""
        leavers = (self.leavers.get(pod.meta.uid) for pod in pods)
        return {leaver.uid for leaver in leavers if leaver is not None and leaver.on_its_way}

    def leaving_from(self, place: tuple[str, str]) -> int:
        """How many of an owner are on their way off a node; place: Leaver.place."""
        return sum(
            1 for leaver in self.leavers.values() if leaver.place == place and leaver.on_its_way
        )

    def in_flight(self) -> int:
        """Requests about pods that have no answer yet."""
        flying = (Stage.POSTED, Stage.READING)
        return sum(1 for leaver in self.leavers.values() if leaver.stage in flying)

    def budgets_of(self, pod: Pod) -> tuple[Budget, ...]:
        return self.world.budgets_of(pod)

    def queues(self, leaver: Leaver) -> tuple[str, ...]:
        """What it waits its turn in (ordering.in_order)."""
        budgets = tuple(f"PDB {budget.key}" for budget in self.budgets_of(leaver.pod))
        return (*budgets, leaver.owner) if leaver.fragile and leaver.owner else budgets

    def fail(self, leaver: Leaver, code: str, detail: str) -> None:
        """Refused for good. The others go on, unless the user asked to stop at the first."""
        self.ledger.release(leaver.uid)
        leaver.settle("failed", self.action, code, detail)
        if self.options.on_refusal == FAIL_FAST:
            self.stopped_posting = True

    def depart(self, leaver: Leaver, now: float) -> None:
        """The pod is gone, or finished after its eviction."""
        self.ledger.release(leaver.uid)
        self.last_departure = leaver.waiting_since = now
        # An eviction without an answer, and then the pod was gone: it was ours, as far as one can
        # know.
        leaver.accepted = leaver.accepted or leaver.lost
        self.wrote = self.wrote or leaver.accepted
        code = self._departure(leaver)
        leaver.settle("done", self.action, code, DEPARTURES.get(code, ""))
        self.evicted_before[leaver.place] += 1

    def accept(self, leaver: Leaver, now: float) -> None:
        """The API took the eviction."""
        leaver.accepted = self.wrote = True
        self.ledger.accepted(self.budgets_of(leaver.pod))
        leaver.leave(now)

    def _departure(self, leaver: Leaver) -> str:
        if leaver.rolled:
            return "surged"
        if leaver.accepted:
            return "forced" if self.options.disable_eviction else "evicted"
        return "fenced" if self.targets[leaver.node].fenced else "already_gone"

    @property
    def action(self) -> str:
        return "delete" if self.options.disable_eviction else "evict"


DEPARTURES: Mapping[str, str] = {
    "already_gone": "It went without this run: somebody else deleted or replaced it.",
    "fenced": "It was removed because its node is stated to be off.",
    "surged": "The rollout of its owner started a replacement first.",
}
