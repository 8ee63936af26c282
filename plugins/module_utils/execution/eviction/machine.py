# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The drain as a state machine: told what happened, it says what to do next. No I/O, no clock.

observe(event) changes what is known, decide(now) returns the requests to make. The driver carries
them out and tells the machine what came of them; a test does the same with made-up events. All
rules are asked anew at each decision, so what the watches have shown meanwhile always counts.
"""

from __future__ import annotations

from typing import Any, Iterable, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction import answers
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.arrivals import (
    admit,
    arrive,
    judge_again,
    waits_for_rollout,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.events import (
    Answered,
    Command,
    Delete,
    Event,
    Evict,
    Forget,
    Listed,
    Lost,
    Now,
    ReadPod,
    Restart,
    Restarted,
    Seen,
    Tell,
    Vanished,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.leaver import (
    LAST_CHANCE,
    Leaver,
    Stage,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.options import (
    FAIL_FAST,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.ordering import (
    in_order,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.rollouts import (
    Rollouts,
    came_back,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.state import (
    DrainState,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.turns import (
    hurdle_of,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.volumes import (
    still_attached,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.budget import Budget
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.controller import Controller
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import Node
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.pod import Pod
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.consent import Consent, Verdict

# Requests in flight at once. The API server's processor is the limit from about here on.
SLOTS = 8


class DrainMachine:
    """`finished` turns true when there is nothing left to do or to wait for."""

    def __init__(self, state: DrainState, consent: Consent, slots: int = SLOTS) -> None:
        self.state = state
        self.rollouts = Rollouts(state)
        self.finished = False
        self._consent = consent
        self._slots = slots
        self._to_read: list[Leaver] = []

    def begin(
        self, verdicts: Iterable[Verdict], controllers: Iterable[Controller], now: Now
    ) -> None:
        """Enters the judged pods, and takes over the restarts that a dead run left behind."""
        self.rollouts.adopt(controllers)
        for verdict in verdicts:
            leaver = admit(self.state, verdict, now.mono)
            self._enter(leaver)
            if leaver is not None:
                self.state.began_with[leaver.place] += 1

    def observe(self, event: Event, now: Now) -> None:
        """Takes one event in. The order of events of one collection matters, no other does."""
        if isinstance(event, Seen):
            self._seen(event.object, now)
        elif isinstance(event, Vanished):
            self._vanished(event.object, now)
        elif isinstance(event, Listed):
            for gone in self.state.world.missing(event.kind, event.items):
                self._vanished(gone, now)
            for item in event.items:
                self._seen(item, now)
        elif isinstance(event, Restarted):
            self.rollouts.answered(event, now.mono)
        else:
            self._answered(event, now)

    def decide(self, now: Now) -> list[Command]:
        """Returns what to do now; nothing when all is waiting for an event or for wakes_at()."""
        commands: list[Command] = list(self.rollouts.commands(now.mono))
        commands += self._readings(now)
        commands += self._evictions(now)
        self._conclude(commands, now)
        return commands

    def nodes_of(self, command: Command) -> list[str]:
        """The nodes whose locks must be ours for this command."""
        if isinstance(command, (Evict, Delete)):
            return [command.pod.node]
        if isinstance(command, Tell):
            return [command.node.name]
        return sorted(self.state.targets) if isinstance(command, Restart) else []

    def withdraw(self, command: Command, now: Now) -> None:
        """The run stopped before this command was sent; its pod may be gone all the same."""
        if isinstance(command, (Evict, Delete)):
            leaver = self.state.leavers[command.pod.meta.uid]
            self.state.ledger.release(leaver.uid)
            leaver.stage = Stage.WAITING
            self._close(leaver, now)
        elif isinstance(command, (Restart, Forget)):
            self.rollouts.withdraw(command.uid)

    @property
    def under_way(self) -> bool:
        """Is the answer to a request of ours still to come?"""
        return self.state.in_flight() > 0 or self.rollouts.under_way

    def wakes_at(self, now: Now) -> Optional[float]:
        """Clock.monotonic() of the next decision that needs no event, None when there is none."""
        times = [
            time
            for leaver in self.state.unsettled()
            for time in (leaver.not_before, leaver.chance_until)
        ]
        times += [self.state.paused_until, (self.state.last_departure or 0.0) + LAST_CHANCE]
        times += [self.state.ledger.opens_at(now.mono) or 0.0]
        times += [self.rollouts.wakes_at(now.mono) or 0.0]
        return min((time for time in times if time > now.mono), default=None)

    def _enter(self, leaver: Optional[Leaver]) -> None:
        if leaver is None or not waits_for_rollout(leaver, self.state.options.fragile):
            return
        if not self.rollouts.join(leaver):
            self.state.fail(
                leaver,
                "comes_back",
                came_back(leaver),
            )

    # What the watches tell

    def _seen(self, item: Any, now: Now) -> None:
        if isinstance(item, Budget):
            known = self.state.ledger.known(item)
            self.state.ledger.observe(item)
            self.state.world.put(item)
            if known is None or known.selector != item.selector:
                self._judge_namespace_again(item.meta.namespace)
            return
        self.state.world.put(item)
        if isinstance(item, Pod):
            self._pod_seen(item, now)
        elif isinstance(item, Node):
            self._node_seen(item, now)
        elif isinstance(item, Controller) and self.state.early:
            self._take_in(list(self.state.early.values()), now)

    def _vanished(self, item: Any, now: Now) -> None:
        self.state.world.drop(item)
        if isinstance(item, Pod):
            self._pod_vanished(item.meta.uid, now)
        elif isinstance(item, Budget):
            self.state.ledger.forget(item)
            self._judge_namespace_again(item.meta.namespace)
        elif isinstance(item, Node):
            self._node_gone(item, now)

    def _pod_vanished(self, uid: str, now: Now) -> None:
        self.state.skipped.pop(uid, None)
        self.state.early.pop(uid, None)
        leaver = self.state.leavers.get(uid)
        if leaver is None:
            return
        leaver.vanished = True
        if leaver.bucket == "failed":
            # Somebody saw to it: nothing of it is left to fail for.
            self.state.depart(leaver, now.mono)
        self._close(leaver, now)

    def _pod_seen(self, pod: Pod, now: Now) -> None:
        leaver = self.state.leavers.get(pod.meta.uid)
        if leaver is None:
            self._take_in([pod], now)
            return
        if leaver.settled:
            return
        before, leaver.pod = leaver.pod, pod
        if _identity(before) != _identity(pod):
            self._judge_again(leaver)
        if pod.finished and leaver.accepted:
            self.state.depart(leaver, now.mono)
        elif pod.terminating and leaver.stage is Stage.WAITING:
            leaver.leave(now.mono)

    def _take_in(self, pods: Iterable[Pod], now: Now) -> None:
        """Judges those of these pods that are on a target node and were not judged before."""
        for pod in pods:
            known = pod.meta.uid in self.state.leavers or pod.meta.uid in self.state.skipped
            if pod.node in self.state.targets and not known:
                self.state.early.pop(pod.meta.uid, None)
                self._enter(arrive(self.state, pod, self._consent, now.mono))

    def _judge_namespace_again(self, namespace: str) -> None:
        """A budget came, went or selects other pods."""
        for leaver in list(self.state.unsettled()):
            if leaver.pod.meta.namespace == namespace:
                self._judge_again(leaver)

    def _judge_again(self, leaver: Leaver) -> None:
        if leaver.stage is Stage.WAITING:
            judge_again(self.state, leaver, self._consent)
            if leaver.refusal is None and leaver.uid in self.state.leavers:
                self._enter(leaver)

    def _node_seen(self, node: Node, now: Now) -> None:
        target = self.state.targets.get(node.name)
        if target is None:
            return
        if target.uid != node.meta.uid:
            self._abandon(target.name, now)
        else:
            # C25: whoever opens it meanwhile is not fought; the report warns.
            was_open, target.cordoned = not target.cordoned, node.unschedulable
            if was_open and target.cordoned:
                self._take_in(self.state.world.pods_on(node.name), now)

    def _node_gone(self, node: Node, now: Now) -> None:
        target = self.state.targets.get(node.name)
        if target is not None and target.uid == node.meta.uid:
            self._abandon(target.name, now)

    def _abandon(self, name: str, now: Now) -> None:
        """C23: the Node object vanished. Its pods go with it; the other nodes go on."""
        self.state.targets[name].gone = True
        for leaver in self.state.unsettled():
            if leaver.node == name:
                self._close(leaver, now)

    def _close(self, leaver: Leaver, now: Now) -> None:
        """Settles a pod that is gone, or whose node is.

        While a request about it is under way that waits: its answer says whether we did it.
        """
        if leaver.settled or leaver.stage is Stage.POSTED:
            return
        if leaver.vanished:
            self.state.depart(leaver, now.mono)
        elif self.state.targets[leaver.node].gone:
            self.state.ledger.release(leaver.uid)
            detail = f"Node {leaver.node} was removed from the cluster while it was being emptied."
            leaver.settle("skipped", self.state.action, "node_gone", detail)

    # What our own requests brought

    def _answered(self, event: Any, now: Now) -> None:
        leaver = self.state.leavers[event.uid]
        if leaver.settled:
            return
        if isinstance(event, Answered):
            unclear = answers.answered(self.state, leaver, event, now)
        elif isinstance(event, Lost):
            unclear = leaver.lost = True
        else:
            unclear = answers.read(self.state, leaver, event, now)
        if leaver.vanished or self.state.targets[leaver.node].gone:
            leaver.stage = Stage.LEAVING if not leaver.settled else leaver.stage
            self._close(leaver, now)
        elif unclear:
            leaver.stage = Stage.READING
            self._to_read.append(leaver)

    # What to do next

    def _readings(self, now: Now) -> list[Command]:
        due = [leaver for leaver in self._to_read if now.mono >= leaver.not_before]
        self._to_read = [leaver for leaver in self._to_read if now.mono < leaver.not_before]
        return [ReadPod(leaver.pod) for leaver in due if leaver.stage is Stage.READING]

    def _evictions(self, now: Now) -> list[Command]:
        free = self._slots - self.state.in_flight()
        if free <= 0:
            return []
        ordered = in_order(self.state.leavers.values(), self.state.queues)
        if self.state.options.on_refusal == FAIL_FAST:
            self._fail_hopeless(ordered, now)
        commands: list[Command] = []
        for leaver in ordered if not self.state.stopped_posting else ():
            if len(commands) == free:
                # Those behind are judged when a place is free: an API server that is busy answers
                # one request after the other, and each answer would judge them all.
                break
            hurdle = hurdle_of(self.state, leaver, now)
            if hurdle is not None:
                leaver.hold(hurdle, now.mono)
            else:
                commands.append(self._post(leaver))
        return commands

    def _fail_hopeless(self, waiting: Iterable[Leaver], now: Now) -> None:
        """fail_fast: what can never pass is refused before the next pod is touched."""
        for leaver in waiting:
            hurdle = hurdle_of(self.state, leaver, now)
            if hurdle is None or not hurdle.for_good:
                continue
            leaver.hold(hurdle, now.mono)
            if now.mono >= leaver.chance_until:
                self.state.fail(leaver, hurdle.code, hurdle.detail)

    def _post(self, leaver: Leaver) -> Command:
        leaver.stage = Stage.POSTED
        leaver.hurdle = None
        if self.state.options.disable_eviction:
            return Delete(leaver.pod)
        budgets = self.state.budgets_of(leaver.pod)
        leaver.seen = self.state.ledger.events_of(budgets)
        self.state.ledger.charge(leaver.pod, budgets)
        return Evict(leaver.pod)

    # The end

    def _conclude(self, commands: list[Command], now: Now) -> None:
        unsettled = list(self.state.unsettled())
        waiting = [each for each in unsettled if each.stage is Stage.WAITING]
        if commands or self.under_way:
            return
        if not self.state.options.wait:
            self.finished = True
            return
        if (
            len(waiting) < len(unsettled)
            or self.rollouts.unfinished()
            or still_attached(self.state)
        ):
            return
        hopeless = all(each.hurdle is not None and each.hurdle.for_good for each in waiting)
        if hopeless and waiting and now.mono < self._last_chance(waiting):
            return
        if hopeless:
            for leaver in waiting:
                if leaver.hurdle is not None:
                    self.state.fail(leaver, leaver.hurdle.code, leaver.hurdle.detail)
        self.finished = hopeless or self.state.stopped_posting

    def _last_chance(self, waiting: Iterable[Leaver]) -> float:
        """Clock.monotonic() at which those that can never pass fail; past when nothing moved."""
        chances = [leaver.chance_until for leaver in waiting]
        if self.state.last_departure is not None:
            chances.append(self.state.last_departure + LAST_CHANCE)
        return max(chances)


def _identity(pod: Pod) -> tuple[Any, ...]:
    """What a pod is judged by and can change while it runs."""
    return pod.meta.owner, pod.meta.labels, pod.meta.annotations
