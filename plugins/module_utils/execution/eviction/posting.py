# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Carries out the machine's requests in a few threads; what came of them goes into the inbox."""

from __future__ import annotations

from typing import Any, Callable, Optional, Union

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.base import Cluster
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.clock import (
    FOREVER,
    Clock,
    Inbox,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction import restarts
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.events import (
    Answered,
    Command,
    Delete,
    Event,
    Evict,
    Lost,
    Read,
    ReadPod,
    Restart,
    Restarted,
    Tell,
    Told,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.faults import (
    as_fleet_error,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import (
    ApiFailure,
    FleetError,
    Forbidden,
    NotFound,
    Unauthorized,
    Unreachable,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.resources import (
    NODES,
    PODS,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.node_edit import (
    NodeEdit,
    operations,
)

# Where the answers of our own requests come from, in the inbox that the watches share.
ANSWERS = "answers"

# No other pod would fare better: these end the call.
_FATAL = (Forbidden, Unauthorized)


class _Stop:
    """The last job of a thread."""


class Posts:
    """Daemon threads: a request that hangs must not keep a process alive that is to end."""

    def __init__(
        self,
        threads: int,
        inbox: Inbox[Any],
        clock: Clock,
        perform: Callable[[Command], Event],
    ) -> None:
        self._jobs: Inbox[Union[Command, _Stop]] = Inbox()
        self._inbox = inbox
        self._clock = clock
        self._perform = perform
        self._threads = threads
        for number in range(threads):
            clock.start_thread(self._work, f"evict-{number}")

    def submit(self, command: Command) -> None:
        self._jobs.put(command)

    def take_back(self) -> list[Command]:
        """Returns what no thread has begun yet; it is not done any more."""
        unsent: list[Command] = []
        while True:
            command = self._clock.receive(self._jobs, 0)
            if command is None:
                return unsent
            if not isinstance(command, _Stop):
                unsent.append(command)

    def close(self) -> None:
        for _unused in range(self._threads):
            self._jobs.put(_Stop())

    def _work(self) -> None:
        while True:
            command = self._clock.receive(self._jobs, FOREVER)
            if isinstance(command, _Stop):
                return
            if command is None:
                continue
            try:
                self._inbox.put((ANSWERS, self._perform(command)))
            except Exception as error:  # noqa: BLE001 - faults.py says why
                self._inbox.put((ANSWERS, as_fleet_error(error)))


class Performer:
    """Turns a command into requests, and their end into an event.

    key: the annotation that records a restart, record: its value; now(): RFC 3339.
    status_key: the annotation of nodes that says what they wait for.
    Raises what no other pod would fare better with (Forbidden, Unauthorized).
    """

    def __init__(
        self,
        cluster: Cluster,
        grace_period_seconds: Optional[int],
        key: str,
        record: str,
        now: Callable[[], str],
        status_key: str = "",
    ) -> None:
        self._cluster = cluster
        self._grace = grace_period_seconds
        self._key = key
        self._record = record
        self._now = now
        self._status_key = status_key

    def __call__(self, command: Command) -> Event:
        if isinstance(command, Evict):
            return self._evict(command)
        if isinstance(command, Delete):
            return self._delete(command)
        if isinstance(command, ReadPod):
            return self._read(command)
        if isinstance(command, Tell):
            return self._tell(command)
        return self._roll(command)

    def _evict(self, command: Evict) -> Event:
        meta = command.pod.meta
        try:
            answer = self._cluster.evict(
                meta.namespace, meta.name, uid=meta.uid, grace_period_seconds=self._grace
            )
        except Unreachable as error:
            return Lost(meta.uid, str(error))
        return Answered(meta.uid, answer.status, answer.body, answer.retry_after)

    def _delete(self, command: Delete) -> Event:
        meta = command.pod.meta
        try:
            self._cluster.delete(
                PODS,
                meta.name,
                namespace=meta.namespace,
                uid=meta.uid,
                grace_period_seconds=self._grace,
            )
        except NotFound:
            gone = {"reason": "NotFound", "details": {"name": meta.name}}
            return Answered(meta.uid, 404, gone, None)
        except Unreachable as error:
            return Lost(meta.uid, str(error))
        except _FATAL:
            raise
        except ApiFailure as error:
            body = {"message": error.problem, "reason": error.reason}
            return Answered(meta.uid, error.status, body, None)
        return Answered(meta.uid, 200, {}, None)

    def _read(self, command: ReadPod) -> Event:
        meta = command.pod.meta
        try:
            return Read(meta.uid, self._cluster.get(PODS, meta.name, namespace=meta.namespace))
        except NotFound:
            return Read(meta.uid, None)
        except _FATAL:
            raise
        except ApiFailure as error:
            return Read(meta.uid, None, str(error))

    def _tell(self, command: Tell) -> Told:
        """What cannot be told must not keep a drain from its work: no error leaves this."""
        meta = command.node.meta
        raw = {"metadata": {"uid": meta.uid, "annotations": dict(meta.annotations)}}
        edit = NodeEdit({self._status_key: command.text or None})
        try:
            self._cluster.patch(NODES, meta.name, operations(raw, edit))
        except FleetError as error:
            return Told(meta.name, str(error))
        return Told(meta.name)

    def _roll(self, command: Any) -> Event:
        arguments = (self._cluster, command.namespace, command.name, command.uid, self._key)
        try:
            if isinstance(command, Restart):
                wrote = restarts.restart(*arguments, self._record, self._now())
            else:
                wrote = restarts.forget(*arguments)
        except _FATAL as error:
            # A record that a surge left may be met by a user who may not remove it: it stays then.
            if isinstance(command, Restart):
                raise
            return Restarted(command.uid, str(error))
        except FleetError as error:
            return Restarted(command.uid, str(error))
        return Restarted(command.uid, wrote=wrote)
