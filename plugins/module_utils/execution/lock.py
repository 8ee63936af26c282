# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""One Lease per node, held while we act on it.

    with hold(nodes, cluster, run, purpose="maintenance") as locks:
        locks.check("n1")   # before each act
        ...

Nodes are taken in the order of their names, so that two runners that want the same ones never wait
for each other in a circle. One thread renews all of them. `check` lets an act go on only while the
last renewal is younger than the time that everybody else grants us; later it asks the server first,
and raises LockLost when somebody has taken over (C29). An act that was sent before that lands: acts
carry preconditions of their own.

On leaving, the Lease is freed, not deleted: a deletion cannot be tied to our being the holder (its
precondition is the UID, and the Lease of whoever took over has the same), and the generation goes
on counting. The Lease belongs to its Node: the garbage collector removes it with the node.

A runner with the same purpose joins: it waits until the Lease is free and then goes on, as all work
here is found done when it is done. With another purpose it is refused at once. Check mode takes
nothing; it only tells who would refuse it.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from typing import Iterable, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.base import Cluster
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.clock import Inbox
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.identity import (
    holder_is_dead,
    process_space,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.run import (
    DEFAULT_STATE_NAMESPACE,
    Progress,
    Run,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import (
    ApiFailure,
    Conflict,
    FleetError,
    Forbidden,
    LockHeld,
    LockLost,
    NotFound,
    Refused,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.lease import Lease
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import Node
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.resources import (
    LEASES,
    NAMESPACES,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.times import format_instant
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.lock_rules import (
    SPACE_ANNOTATION,
    Claimant,
    Sighting,
    Step,
    decide,
    lease_name,
    new_lease,
    releasing,
    renewing,
    sight,
    taking,
)

DEFAULT_TTL = 30
DEFAULT_JOIN_TIMEOUT = 600

# Seconds between two renewals while they fail.
_RETRY_EVERY = 1.0
# A renewal that finds the Lease ours with another generation confirms nothing: the next one does.
_RENEWALS = 2
# Locks that are freed at once.
_SIDE_BY_SIDE = 8
# Seconds for the renewing thread to end; a request of it may be under way.
_JOIN_SECONDS = 5.0
_VERBS = ("get", "create", "patch")


@dataclass
class _Held:
    """A Lease of ours. confirmed_*: both clocks when the last renewal that succeeded was sent."""

    node: Node
    generation: int
    confirmed_mono: float
    confirmed_wall: datetime
    lost: Optional[LockLost] = None


@dataclass
class Locks:
    """The Leases of a batch, as a context manager; made by hold()."""

    nodes: tuple[Node, ...]
    cluster: Cluster
    run: Run
    claimant: Claimant
    join_timeout: float
    _held: dict[str, _Held] = field(default_factory=dict)
    # Guards _held; never taken while a request is under way.
    _guard: threading.Lock = field(default_factory=threading.Lock)
    _stop: Inbox[bool] = field(default_factory=Inbox)
    _renewer: Optional[threading.Thread] = None

    def __enter__(self) -> Locks:
        if self.run.check_mode:
            self._foresee()
            return self
        _check_access(self.cluster, self.run)
        try:
            for node in self.nodes:
                self._acquire(node)
        except BaseException:
            # __exit__ is not called when __enter__ raises, and no Lease may stay behind.
            self._release_all()
            raise
        return self

    def __exit__(self, *_exc: object) -> None:
        self._release_all()

    def check(self, node: str) -> None:
        """Raises LockLost when another runner holds the node now. Call it before each act.

        Asks the server only when the last renewal is too old to be relied on; then Unreachable and
        other ApiFailures come through: without an answer nothing may be done.
        """
        held = self._held.get(node)
        if held is None:
            if self.run.check_mode:
                return
            raise AssertionError(f"{node} is not one of the nodes that were locked")
        for _attempt in range(_RENEWALS):
            if held.lost is None and not self._valid(held):
                self._renew(held)
        if held.lost is not None:
            raise held.lost
        if not self._valid(held):
            raise Conflict(f"The lock of node {node} changes faster than it can be renewed.")

    def _valid(self, held: _Held) -> bool:
        """By both clocks: the monotonic one stands still while the machine sleeps."""
        clock = self.run.clock
        limit = self.claimant.validity
        return (
            clock.monotonic() - held.confirmed_mono < limit
            and (clock.now() - held.confirmed_wall).total_seconds() < limit
        )

    # Taking.

    def _foresee(self) -> None:
        leases = [self._read(node) for node in self.nodes]
        if not any(leases):
            self._check_namespace()
        for node, lease in zip(self.nodes, leases):
            if self._decide(lease, None) is Step.REFUSE:
                raise _held_by_another(node, lease)

    def _check_namespace(self) -> None:
        """Where there is no Lease yet, their namespace may be missing, too. A user who may not
        read namespaces is told at the first Lease that cannot be created."""
        namespace = self.run.state_namespace
        if namespace == DEFAULT_STATE_NAMESPACE:
            return
        try:
            self.cluster.get(NAMESPACES, namespace)
        except NotFound as error:
            raise _no_namespace(namespace) from error
        except Forbidden:
            pass

    def _acquire(self, node: Node) -> None:
        clock = self.run.clock
        began = clock.monotonic()
        sighting: Optional[Sighting] = None
        while True:
            self.run.check()
            lease = self._read(node)
            sighting = sight(lease, sighting, clock.monotonic()) if lease else None
            step = self._decide(lease, sighting)
            if step is Step.REFUSE:
                raise _held_by_another(node, lease)
            if step is Step.WAIT:
                if clock.monotonic() - began >= self.join_timeout:
                    raise _held_by_another(node, lease)
                self._tell_waiting(node, lease, began)
                clock.sleep(clock.look_every)
            elif self._try_step(step, lease, node):
                return

    def _try_step(self, step: Step, lease: Optional[Lease], node: Node) -> bool:
        """False when somebody was faster: look again."""
        mono, wall = self.run.clock.monotonic(), self.run.clock.now()
        try:
            taken = self._take(step, lease, node, wall)
        except Conflict:
            return False
        if step is Step.TAKE_OVER and lease is not None:
            text = f"took its lock over from {lease.holder}, which is gone or silent"
            self.run.progress(Progress(node.name, text, urgent=True))
        with self._guard:
            self._held[node.name] = _Held(node, taken.transitions, mono, wall)
        if self._renewer is None:
            self._renewer = self.run.clock.start_thread(self._renew_all, "renew")
        return True

    def _take(self, step: Step, lease: Optional[Lease], node: Node, now: datetime) -> Lease:
        namespace, prefix = self.run.state_namespace, self.run.prefix
        if lease is None:
            body = new_lease(node, self.claimant, namespace=namespace, prefix=prefix, now=now)
            try:
                return self.cluster.create(LEASES, body, namespace=namespace)
            except NotFound as error:
                raise _no_namespace(namespace) from error
        if step is Step.KEEP:
            patch = renewing(self.claimant, lease.transitions, now)
        else:
            patch = taking(lease, node, self.claimant, prefix=prefix, now=now)
        return self.cluster.patch(LEASES, lease_name(node.name), patch, namespace=namespace)

    def _decide(self, lease: Optional[Lease], sighting: Optional[Sighting]) -> Step:
        clock = self.run.clock
        return decide(
            lease,
            self.claimant,
            prefix=self.run.prefix,
            now=clock.now(),
            unmoved=clock.monotonic() - sighting.since if sighting else 0.0,
            moved=sighting is not None and sighting.moved,
            holder_is_dead=lease is not None and _is_dead(lease, self.run.prefix),
        )

    def _read(self, node: Node) -> Optional[Lease]:
        name = lease_name(node.name)
        try:
            return self.cluster.get(LEASES, name, namespace=self.run.state_namespace)
        except NotFound:
            return None

    def _tell_waiting(self, node: Node, lease: Optional[Lease], began: float) -> None:
        holder, until = _holder_and_end(lease)
        text = f"held by {holder} until {until}"
        self.run.progress(Progress(node.name, text, waiting_since=began))

    # Keeping.

    def _renew_all(self) -> None:
        pause = self.claimant.renew_interval
        while self.run.clock.receive(self._stop, pause) is None:
            with self._guard:
                mine = [held for held in self._held.values() if held.lost is None]
            pause = self.claimant.renew_interval
            for held in mine:
                try:
                    self._renew(held)
                except FleetError:
                    # check() asks again before anything is done on the strength of this Lease.
                    pause = min(pause, _RETRY_EVERY)

    def _renew(self, held: _Held) -> None:
        """Renews, or finds out who has the Lease now. Raises ApiFailure without a clear answer."""
        mono, wall = self.run.clock.monotonic(), self.run.clock.now()
        patch = renewing(self.claimant, held.generation, wall)
        name = lease_name(held.node.name)
        try:
            self.cluster.patch(LEASES, name, patch, namespace=self.run.state_namespace)
        except Conflict:
            self._look_for_winner(held)
            return
        except NotFound:
            if not self._recreated(held, wall):
                return
        held.confirmed_mono, held.confirmed_wall = mono, wall

    def _recreated(self, held: _Held, now: datetime) -> bool:
        """Somebody deleted the Lease: whoever creates it first has it."""
        try:
            held.generation = self._take(Step.CREATE, None, held.node, now).transitions
        except Conflict:
            self._look_for_winner(held)
            return False
        return True

    def _look_for_winner(self, held: _Held) -> None:
        lease = self._read(held.node)
        if lease is not None and lease.holder == self.claimant.holder:
            # Ours after all: an answer of the server was lost. Only a renewal confirms it.
            held.generation = lease.transitions
            return
        held.lost = LockLost(held.node.name, _holder_and_end(lease)[0])

    # Freeing.

    def _release_all(self) -> None:
        if self._renewer is not None:
            self._stop.put(True)
            self._renewer.join(_JOIN_SECONDS)
            self._renewer = None
        with self._guard:
            mine = [held for held in self._held.values() if held.lost is None]
            self._held.clear()
        # Where the first cannot be freed the others would end the same way, after all their tries.
        if all(self._release(held) for held in mine[:1]) and mine[1:]:
            with ThreadPoolExecutor(_SIDE_BY_SIDE, thread_name_prefix="free") as workers:
                list(workers.map(self._release, mine[1:]))

    def _release(self, held: _Held) -> bool:
        """Raises nothing: the work is done, and a Lease that is not freed runs out by itself.

        False when there is no use in trying to free others.
        """
        name = lease_name(held.node.name)
        patch = releasing(self.claimant, held.generation)
        try:
            self.cluster.patch(LEASES, name, patch, namespace=self.run.state_namespace)
        except (Conflict, NotFound):
            # Taken over or removed meanwhile: it is not ours to free.
            pass
        except ApiFailure as error:
            text = f"its lock could not be freed and runs out in {self.claimant.ttl} s: {error}"
            self.run.progress(Progress(held.node.name, text, urgent=True))
            return False
        return True


def hold(
    nodes: Iterable[Node],
    cluster: Cluster,
    run: Run,
    *,
    purpose: str,
    ttl: int = DEFAULT_TTL,
    join_timeout: float = DEFAULT_JOIN_TIMEOUT,
) -> Locks:
    """Returns the context manager that holds these nodes' Leases.

    ttl: seconds after which a silent holder loses a node. join_timeout: seconds to wait for a
    runner with the same purpose. Entering raises, with nothing held: LockHeld, Refused
    (no_state_namespace), Forbidden (a verb on leases is missing), Interrupted, ApiFailure.
    One process holds a node at most once at a time: a second hold by the same holder is the first.
    """
    ordered = tuple(sorted(nodes, key=lambda node: node.name))
    claimant = Claimant(run.holder, purpose, process_space(), ttl)
    return Locks(ordered, cluster, run, claimant, join_timeout)


def _check_access(cluster: Cluster, run: Run) -> None:
    """Finds a missing verb now, not at the first renewal, when half of the work is done."""
    for verb in _VERBS:
        if not cluster.allowed(verb, LEASES, namespace=run.state_namespace):
            raise Forbidden(
                f"This user may not {verb} leases in namespace {run.state_namespace}, where the"
                " locks of nodes are kept.",
                'Grant get, create and patch on "leases" there, or set state_namespace.',
                verb=verb,
                resource="leases",
            )


def _is_dead(lease: Lease, prefix: str) -> bool:
    return holder_is_dead(lease.holder, lease.meta.annotations.get(prefix + SPACE_ANNOTATION, ""))


def _no_namespace(namespace: str) -> Refused:
    return Refused(
        f"Namespace {namespace}",
        "no_state_namespace",
        "it does not exist, and the locks of nodes are kept in it.",
        "Create it, or set state_namespace to one that exists.",
    )


def _held_by_another(node: Node, lease: Optional[Lease]) -> LockHeld:
    return LockHeld(node.name, *_holder_and_end(lease))


def _holder_and_end(lease: Optional[Lease]) -> tuple[str, str]:
    """Words for a Lease that has just been freed or removed, too."""
    if lease is None or not lease.holder:
        return "another runner", "a moment ago"
    return lease.holder, format_instant(lease.expires_at) if lease.expires_at else "its expiry"
