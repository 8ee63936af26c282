# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Waits until what was moved has its Ready replicas again, and until nodes are back. Reads only.

Waiting is by watch: nothing is asked for again and again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Iterable, Mapping, Optional, Union

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.base import Cluster
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.clock import FOREVER, Inbox
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.run import Progress, Run
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.watching import (
    Changed,
    Failed,
    Resynced,
    Selection,
    follow,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.controller import Controller
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import InvalidOption
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.fleet import Fleet
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import Node
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.pod import Pod
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.report import Outcome, Report
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.resources import (
    CONTROLLERS,
    NODES,
    PODS,
    REPLICA_SETS,
    Resource,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.maintenance_record import (
    read_maintenance,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.settling import (
    MovedWorkload,
    Standing,
    judge_node,
    judge_workload,
)

_RESOURCES: Mapping[str, Resource[Controller]] = {each.kind: each for each in CONTROLLERS}


@dataclass(frozen=True)
class SettleOptions:
    """workloads: {kind, namespace, name, ready} each, as evict returns them in `owners`.

    nodes: names of the nodes that must be back: Ready, with their DaemonSet pods.
    boot_id_changed: they must have rebooted since maintenance was asked for.
    wait_timeout: seconds; 0 for no limit, as for evict.
    """

    workloads: tuple[Mapping[str, Any], ...] = ()
    nodes: tuple[str, ...] = ()
    boot_id_changed: bool = False
    wait_timeout: float = 600


@dataclass(frozen=True)
class _Part:
    """A part of a collection that is watched; the tag of its events."""

    resource: Resource[Any]
    selection: Selection


@dataclass(frozen=True)
class _Subject:
    """What is waited for: `name` as the Outcome has it, and the judge of it."""

    workload: str
    node: str
    judge: Callable[[], Standing]


@dataclass
class _View:
    """What the watches have told: objects by UID, per part. `error` ends the wait."""

    parts: dict[_Part, Optional[dict[str, Any]]]
    error: Optional[Exception] = None
    trouble: str = ""
    # Built once per burst of events, however many workloads are judged on them.
    _fleets: dict[str, Fleet] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        return all(objects is not None for objects in self.parts.values())

    def apply(self, part: _Part, event: Union[Changed[Any], Resynced[Any], Failed]) -> None:
        if isinstance(event, Failed):
            self.trouble = str(event.error)
            self.error = event.error if event.final else None
            return
        self.trouble = ""
        self._fleets.clear()
        if isinstance(event, Resynced):
            self.parts[part] = {item.meta.uid: item for item in event.items}
            return
        objects = self.parts[part]
        if objects is None:
            return
        if event.gone:
            objects.pop(event.object.meta.uid, None)
        else:
            objects[event.object.meta.uid] = event.object

    def fleet(self, namespace: str) -> Fleet:
        """One namespace's pods and controllers."""
        if namespace not in self._fleets:
            parts = [part for part in self.parts if part.selection.namespace == namespace]
            self._fleets[namespace] = self._fleet(parts)
        return self._fleets[namespace]

    def fleet_of_node(self, name: str) -> Fleet:
        """All nodes that are watched, and this node's pods."""
        return self._fleet(part for part in self.parts if part in _node_parts(name))

    def _fleet(self, parts: Iterable[_Part]) -> Fleet:
        found: dict[type, list[Any]] = {Pod: [], Controller: [], Node: []}
        for part in parts:
            for item in (self.parts[part] or {}).values():
                found[type(item)].append(item)
        return Fleet(
            nodes=tuple(found[Node]),
            pods=tuple(sorted(found[Pod], key=lambda pod: pod.key)),
            controllers=tuple(found[Controller]),
        )


def settle(options: SettleOptions, cluster: Cluster, run: Run) -> Report:
    """Returns the report: done is what has settled, pending what has not when wait_timeout ended.

    The failure is `timeout`, or `no_boot_id` at once where a reboot cannot be told. In check mode
    it tells how things stand and neither waits nor fails, as nothing has been moved.
    Raises InvalidOption, Interrupted, Refused (malformed_record), ApiFailure.
    """
    workloads = tuple(_workload(raw) for raw in options.workloads)
    view = _View(dict.fromkeys(_parts(workloads, options.nodes)))
    if not view.parts:
        return Report(msg="There is nothing to wait for.")
    boots = _Boots(run.prefix, options.boot_id_changed)
    subjects = _subjects(workloads, options.nodes, view, boots)
    inbox: Inbox[Any] = Inbox()
    followers = [
        follow(cluster, part.resource, inbox, clock=run.clock, tag=part, selection=part.selection)
        for part in view.parts
    ]
    try:
        standings = _wait(subjects, view, inbox, options, run)
    finally:
        for follower in followers:
            follower.stop()
    return _report(subjects, standings, options, run)


def _wait(
    subjects: list[_Subject], view: _View, inbox: Inbox[Any], options: SettleOptions, run: Run
) -> list[Standing]:
    """Returns the standings when all have settled, one is hopeless, or the time is over."""
    began = run.clock.monotonic()
    limit = options.wait_timeout if options.wait_timeout > 0 else FOREVER
    standings: list[Standing] = []
    while True:
        left = began + limit - run.clock.monotonic()
        _take_in(view, inbox, min(run.clock.look_every, left), run)
        run.check()
        if view.complete:
            standings = [subject.judge() for subject in subjects]
            _tell(subjects, standings, began, run)
            over = run.check_mode or any(standing.hopeless for standing in standings)
            if over or all(standing.settled for standing in standings):
                return standings
        if run.clock.monotonic() - began >= limit:
            unread = f"The cluster could not be read in time. {view.trouble}".strip()
            return standings or [Standing(False, "timeout", unread) for _subject in subjects]


def _take_in(view: _View, inbox: Inbox[Any], timeout: float, run: Run) -> None:
    """Waits for one event and takes in all that came with it, so that a burst is judged once."""
    received = run.clock.receive(inbox, timeout)
    while received is not None:
        view.apply(*received)
        if view.error is not None:
            raise view.error
        received = run.clock.receive(inbox, 0)


def _parts(workloads: Iterable[MovedWorkload], nodes: tuple[str, ...]) -> list[_Part]:
    parts: dict[_Part, None] = {}
    for workload in workloads:
        selection = Selection(namespace=workload.namespace)
        resources: list[Resource[Any]] = [_RESOURCES[workload.kind], PODS]
        if workload.kind == "Deployment":
            resources.append(REPLICA_SETS)
        parts.update(dict.fromkeys(_Part(resource, selection) for resource in resources))
    for name in nodes:
        parts.update(dict.fromkeys(_node_parts(name)))
    return list(parts)


def _node_parts(name: str) -> tuple[_Part, _Part]:
    return (
        _Part(NODES, Selection(field_selector=f"metadata.name={name}")),
        _Part(PODS, Selection(field_selector=f"spec.nodeName={name}")),
    )


@dataclass
class _Boots:
    """The boot IDs that maintenance recorded, kept from the first time a node is seen."""

    prefix: str
    wanted: bool
    _known: dict[str, str] = field(default_factory=dict)

    def judge(self, name: str, view: _View) -> Standing:
        fleet = view.fleet_of_node(name)
        node = fleet.node_by_name.get(name)
        if not self.wanted or node is None:
            return judge_node(name, fleet, None)
        if name not in self._known:
            record = read_maintenance(node, self.prefix).record
            if record is None or not record.boot_id:
                detail = f"Node {name}: no boot ID was recorded, so a reboot cannot be told."
                return Standing(False, "no_boot_id", detail, hopeless=True)
            self._known[name] = record.boot_id
        return judge_node(name, fleet, self._known[name])


def _subjects(
    workloads: Iterable[MovedWorkload], nodes: Iterable[str], view: _View, boots: _Boots
) -> list[_Subject]:
    def of_workload(workload: MovedWorkload) -> _Subject:
        name = f"{workload.namespace}/{workload.name}"
        return _Subject(name, "", lambda: judge_workload(workload, view.fleet(workload.namespace)))

    def of_node(name: str) -> _Subject:
        return _Subject("", name, lambda: boots.judge(name, view))

    return [of_workload(workload) for workload in workloads] + [of_node(name) for name in nodes]


def _tell(subjects: list[_Subject], standings: list[Standing], began: float, run: Run) -> None:
    """One line per node, and one for all workloads: it names the first of them."""
    settled = sum(1 for standing in standings if standing.settled)
    late: dict[str, list[str]] = {}
    for subject, standing in zip(subjects, standings):
        if not standing.settled:
            late.setdefault(subject.node, []).append(standing.detail.rstrip("."))
    for node, details in late.items():
        more = f"; {len(details) - 1} more have not settled" if len(details) > 1 else ""
        run.progress(Progress(node, details[0] + more, settled, len(subjects), began))


def _report(
    subjects: list[_Subject], standings: list[Standing], options: SettleOptions, run: Run
) -> Report:
    pairs = list(zip(subjects, standings))
    done = tuple(_outcome(*pair) for pair in pairs if pair[1].settled)
    pending = tuple(_outcome(*pair) for pair in pairs if not pair[1].settled)
    if not pending:
        return Report(msg=f"All {len(done)} have settled.", done=done)
    missing = " ".join(outcome.detail for outcome in pending)
    if run.check_mode:
        return Report(msg=f"It would wait for this: {missing}", done=done, pending=pending)
    hopeless = next((standing for standing in standings if standing.hopeless), None)
    if hopeless is not None:
        return Report(msg=hopeless.detail, done=done, pending=pending, failure=hopeless.code)
    count = f"{len(pending)} of {len(pairs)} have not settled"
    msg = f"After {options.wait_timeout:g} s {count}. {missing}"
    return Report(msg=msg, done=done, pending=pending, failure="timeout")


def _outcome(subject: _Subject, standing: Standing) -> Outcome:
    return Outcome(subject.workload, subject.node, "settle", standing.code, standing.detail)


def _workload(raw: Mapping[str, Any]) -> MovedWorkload:
    """Raises InvalidOption for what is not an element of evict's `owners`."""
    try:
        workload = MovedWorkload(
            str(raw["kind"]), str(raw["namespace"]), str(raw["name"]), int(raw["ready"])
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidOption(
            "workloads",
            f"{raw!r} is not a workload: it needs kind, namespace, name and ready.",
            "Give it `owners` of what evict returned.",
        ) from error
    if workload.kind not in _RESOURCES:
        raise InvalidOption(
            "workloads",
            f"{workload.kind} is not a kind whose replicas can be counted.",
            f"Use one of {', '.join(_RESOURCES)}.",
        )
    return workload
