# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Runs the drain machine against a cluster: one thread decides, a few post, watches tell.

Nothing is polled: one watch per collection feeds the inbox, and the loop sleeps in it, a second at
most, so that a signal or the death of the parent ends it in time.
"""

from __future__ import annotations

from typing import Any, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.base import Cluster
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.clock import Inbox
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction import fencing
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.checks import (
    lost_request,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.events import (
    Command,
    Event,
    Listed,
    Now,
    Seen,
    Told,
    Vanished,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.leaver import Leaver
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.machine import (
    SLOTS,
    DrainMachine,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.posting import (
    ANSWERS,
    Performer,
    Posts,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.rollouts import (
    RECORD,
    record_of,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.snapshot import (
    Snapshot,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.status import (
    StatusAnnotation,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.summary import (
    report,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.telling import (
    Teller,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.lock import Locks
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.run import Progress, Run
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.watching import (
    Changed,
    Failed,
    Follower,
    Resynced,
    follow,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import (
    FleetError,
    Superseded,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.report import Report
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.resources import (
    BUDGETS,
    DAEMON_SETS,
    DEPLOYMENTS,
    NODES,
    PODS,
    REPLICA_SETS,
    STATEFUL_SETS,
    VOLUME_ATTACHMENTS,
    Resource,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.times import format_instant
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.consent import FRAGILE_SURGE
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.disruption import counts_scale

# One eviction brings eight events; judging anew at each took more than posting it.
GATHER = 0.02
# Seconds for the answers of requests that are under way when the run must stop.
LAST_ANSWERS = 1.0


class TimedOut(FleetError):
    code = "timeout"


class Drain:
    """One call's run. `run()` always returns a report: what ended it early is in it."""

    def __init__(
        self, machine: DrainMachine, snapshot: Snapshot, cluster: Cluster, run: Run, locks: Locks
    ) -> None:
        self._machine = machine
        self._state = machine.state
        self._snapshot = snapshot
        self._cluster = cluster
        self._run = run
        self._locks = locks
        self._inbox: Inbox[Any] = Inbox()
        self._teller = Teller()
        self._status = StatusAnnotation(self._state, run.clock.monotonic())
        limit = self._state.options.wait_timeout
        self._deadline = run.clock.monotonic() + limit if limit > 0 else None

    def run(self) -> Report:
        followers = [self._follow(resource) for resource in self._collections()]
        performer = self._performer()
        posts = Posts(SLOTS, self._inbox, self._run.clock, performer)
        failure, problem = "", ""
        try:
            self._set_fences()
            self._loop(posts)
            self._lift_fences()
            for line in self._status.last(self._now()):
                self._take_in(ANSWERS, performer(line))
        except FleetError as error:
            failure, problem = error.code, str(error)
            for unsent in posts.take_back():
                self._machine.withdraw(unsent, self._now())
            self._take_last_answers()
        finally:
            posts.close()
            for follower in followers:
                follower.stop()
        return report(self._state, self._now(), failure=failure, problem=problem)

    def _loop(self, posts: Posts) -> None:
        while True:
            self._check()
            commands = self._machine.decide(self._now())
            self._submit([*commands, *self._status.due(self._now())], posts)
            finished = self._machine.finished
            for progress in self._teller.news(self._state, self._now(), last=finished):
                self._run.progress(progress)
            if finished:
                return
            self._receive(self._patience())

    def _submit(self, commands: Sequence[Command], posts: Posts) -> None:
        """Looks at the locks before each act. What was not sent goes back into the machine."""
        for index, command in enumerate(commands):
            try:
                self._run.check()
                for node in self._machine.nodes_of(command):
                    self._locks.check(node)
            except FleetError:
                for unsent in commands[index:]:
                    self._machine.withdraw(unsent, self._now())
                raise
            posts.submit(command)

    def _check(self) -> None:
        """Raises when the run must stop: before each decision, so at least once a second."""
        self._run.check()
        for name, target in self._state.targets.items():
            node = self._state.world.node(name)
            problem = lost_request(node, self._state.options) if node is not None else ""
            if problem and not target.gone:
                raise Superseded(name, problem)
        if self._deadline is not None and self._run.clock.monotonic() >= self._deadline:
            limit = self._state.options.wait_timeout
            raise TimedOut(f"Timed out after {limit:g} s (wait_timeout).")

    def _patience(self) -> float:
        now = self._now()
        times = [self._machine.wakes_at(now), self._teller.looks_at, self._deadline]
        times.append(now.mono + self._run.clock.look_every)
        return max(0.0, min(time for time in times if time is not None) - now.mono)

    def _receive(self, timeout: float) -> None:
        """Waits for one message, and for what comes with it: one decision for many events.

        But not after an answer: the thread that brought it is free, and would wait, too.
        """
        message = self._run.clock.receive(self._inbox, timeout)
        until = self._run.clock.monotonic() + GATHER
        while message is not None:
            self._take_in(*message)
            if message[0] == ANSWERS:
                until = 0.0
            left = until - self._run.clock.monotonic()
            message = self._run.clock.receive(self._inbox, max(0.0, left))

    def _take_in(self, tag: Any, message: Any) -> None:
        if isinstance(message, FleetError):
            raise message
        if isinstance(message, Told):
            complaint = self._status.answered(message)
            if complaint:
                self._run.progress(Progress(message.node, complaint))
        elif tag == ANSWERS:
            self._machine.observe(message, self._now())
        elif isinstance(message, Failed):
            if message.final:
                raise message.error
            self._run.progress(Progress("", f"cannot follow {tag.plural}: {message.error}"))
        else:
            self._machine.observe(_event(tag, message), self._now())

    def _take_last_answers(self) -> None:
        """Requests are out: what they did belongs into the report, if it is known in time."""
        until = self._run.clock.monotonic() + LAST_ANSWERS
        while self._machine.under_way and self._run.clock.monotonic() < until:
            message = self._run.clock.receive(self._inbox, until - self._run.clock.monotonic())
            if message is None:
                # A clock may say so a little before the time is over.
                continue
            try:
                self._take_in(*message)
            except FleetError:
                # The first error is the one that ended the run.
                continue

    def _now(self) -> Now:
        return Now(self._run.clock.monotonic(), self._run.clock.now())

    # What is watched

    def _collections(self) -> list[Resource[Any]]:
        """Controllers only where the pace depends on them: fragile pods wait for their replicas,
        a surge for its rollouts, and an integer minAvailable is compared with what owners want.

        DaemonSets always: a pod of one that is new must not be taken for an orphan.
        """
        found: list[Resource[Any]] = [PODS, BUDGETS, NODES, DAEMON_SETS]
        surges = self._state.options.fragile == FRAGILE_SURGE or self._machine.rollouts.unfinished()
        if surges or any(self._needs_owner(leaver) for leaver in self._state.unsettled()):
            found += [DEPLOYMENTS, REPLICA_SETS, STATEFUL_SETS]
        if VOLUME_ATTACHMENTS.kind in self._snapshot.listings:
            found.append(VOLUME_ATTACHMENTS)
        return found

    def _needs_owner(self, leaver: Leaver) -> bool:
        """An owner that wants one replica at most has none that a fragile pod could wait for."""
        owner = self._state.world.family(leaver.pod).controller_of(leaver.pod)
        waits_for_others = leaver.fragile and (owner is None or owner.replicas > 1)
        budgets = self._state.budgets_of(leaver.pod)
        return waits_for_others or not all(counts_scale(budget) for budget in budgets)

    def _follow(self, resource: Resource[Any]) -> Follower[Any]:
        return follow(
            self._cluster,
            resource,
            self._inbox,
            tag=resource,
            clock=self._run.clock,
            listing=self._snapshot.listings[resource.kind],
        )

    def _performer(self) -> Performer:
        clock = self._run.clock
        since = format_instant(clock.now())
        return Performer(
            self._cluster,
            self._state.options.grace_period_seconds,
            self._run.prefix + RECORD,
            record_of(self._state.targets, self._run.holder, since),
            lambda: format_instant(clock.now()),
            self._state.options.status_annotation,
        )

    # The out-of-service taint

    def _set_fences(self) -> None:
        for node in self._snapshot.nodes:
            if self._state.targets[node.name].fenced:
                self._locks.check(node.name)
                if fencing.fence(node, self._cluster, self._run):
                    self._state.wrote = True
                self._run.progress(Progress(node.name, "is off: its pods are removed by force"))

    def _lift_fences(self) -> None:
        """Without `wait` pods are still being removed: a later call finds the record."""
        if not self._state.options.wait:
            return
        for node in self._snapshot.nodes:
            if self._state.targets[node.name].fenced and fencing.lift(
                node, self._cluster, self._run
            ):
                self._state.wrote = True


def _event(resource: Resource[Any], message: Any) -> Event:
    """From a follower's event to the machine's."""
    if isinstance(message, Resynced):
        return Listed(resource.kind, tuple(message.items))
    if isinstance(message, Changed):
        return Vanished(message.object) if message.gone else Seen(message.object)
    raise AssertionError(f"a follower posts no {type(message).__name__}")
