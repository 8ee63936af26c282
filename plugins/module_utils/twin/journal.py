# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Writes down what happens to pods, nodes and budgets, from what is stored and what is answered."""

from __future__ import annotations

from collections import deque
from typing import Any, Callable, Iterator, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.model import journal
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.budget import parse_budget
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.journal import Entry
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.base import (
    Change,
    Key,
    Object,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.raw import (
    BUDGETS,
    NODES,
    PODS,
    REPLICA_SETS,
    annotations_of,
    condition,
    controller_of,
    finished,
    labels_of,
    leaving,
    node_of,
    ready,
    status_of,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.store import (
    ADDED,
    DELETED,
    Store,
    Write,
)

# What is older is forgotten: a twin may live for days.
_MOST = 500_000
_MIRROR = "kubernetes.io/config.mirror"


class Journal:
    """begin() listens to the store. Of what came before, only nodes that are closed and budgets
    that allow nothing are told. now(): seconds since the epoch."""

    def __init__(self, store: Store, now: Callable[[], float]) -> None:
        self._store = store
        self._now = now
        self._entries: deque[Entry] = deque(maxlen=_MOST)

    def begin(self) -> None:
        with self._store.lock:
            self._store.listen(self._hear)
            for raw in self._store.objects(NODES):
                if _closed(raw):
                    self._tell(journal.CLOSED, raw["metadata"]["name"])
            for raw in self._store.objects(BUDGETS):
                if not _allows(raw):
                    self._tell(journal.EXHAUSTED, _name(raw))

    def entries(self) -> tuple[Entry, ...]:
        with self._store.lock:
            return tuple(self._entries)

    def denied(self, namespace: str, pod: str, detail: str) -> None:
        """An eviction was answered with something else than success."""
        with self._store.lock:
            found = self._store.get(Key(PODS, namespace, pod))
            told = {"owner": self._owner(found), "node": node_of(found)} if found else {}
            self._tell(journal.DENIED, f"{namespace}/{pod}", detail=detail, **told)

    def _hear(self, write: Write) -> None:
        change = write.change
        if change.resource == PODS:
            self._pod(change)
        elif change.resource == NODES:
            self._node(change)
        elif change.resource == BUDGETS:
            self._budget(change)

    def _tell(self, event: str, subject: str, **more: Any) -> None:
        self._entries.append(Entry(self._now(), event, subject, **more))

    # Pods

    def _pod(self, change: Change) -> None:
        for event, detail in _pod_events(change):
            pod = change.object
            guarded = event in journal.LEAVING
            self._tell(
                event,
                _name(pod),
                owner=self._owner(pod),
                node=node_of(pod),
                budgets=self._budgets(pod) if guarded else (),
                detail=detail,
            )

    def _owner(self, pod: Object) -> str:
        namespace, owner = pod["metadata"]["namespace"], controller_of(pod)
        if owner is None:
            return f"Pod {_name(pod)}"
        if owner["kind"] == "ReplicaSet":
            found = self._store.get(Key(REPLICA_SETS, namespace, owner["name"]))
            owner = (controller_of(found) if found else None) or owner
        return f"{owner['kind']} {namespace}/{owner['name']}"

    def _budgets(self, pod: Object) -> tuple[str, ...]:
        namespace, labels = pod["metadata"]["namespace"], labels_of(pod)
        budgets = map(parse_budget, self._store.objects(BUDGETS, namespace))
        return tuple(one.key for one in budgets if one.selects(namespace, labels))

    # Nodes and budgets

    def _node(self, change: Change) -> None:
        closed, before = _closed(change.object), _closed(change.before)
        if change.type == DELETED or closed == before:
            return
        name = change.object["metadata"]["name"]
        self._tell(journal.CORDONED if closed else journal.UNCORDONED, name)
        for pod in self._store.pods_on(name) if closed else ():
            if _movable(pod):
                owner, budgets = self._owner(pod), self._budgets(pod)
                self._tell(journal.CONCERNED, _name(pod), owner=owner, node=name, budgets=budgets)

    def _budget(self, change: Change) -> None:
        allows, before = _allows(change.object), _allows(change.before)
        if change.type == DELETED:
            return
        if allows != before:
            self._tell(journal.OPEN if allows else journal.EXHAUSTED, _name(change.object))
        if _violated(change.object) and not _violated(change.before):
            self._tell(journal.VIOLATED, _name(change.object))


def _pod_events(change: Change) -> Iterator[tuple[str, str]]:
    """(event, detail)."""
    pod, before = change.object, change.before
    if change.type == ADDED:
        yield journal.CREATED, ""
    if change.type == DELETED:
        if before is not None and not leaving(before) and not finished(before):
            # Without a grace period there is no time in which it leaves.
            yield _how(pod), ""
        yield journal.GONE, ""
        return
    if node_of(pod) and not (before and node_of(before)):
        yield journal.BOUND, ""
    if leaving(pod) and not (before and leaving(before)) and not finished(pod):
        yield _how(pod), ""
    if ready(pod) and not (before and ready(before)):
        yield journal.READY, ""
    why = _unplaced(pod)
    if why and why != (_unplaced(before) if before else ""):
        yield journal.UNPLACED, why


def _how(pod: Object) -> str:
    by_api = condition(pod, "DisruptionTarget").get("reason") == "EvictionByEvictionAPI"
    return journal.EVICTED if by_api else journal.DELETED


def _unplaced(pod: Object) -> str:
    found = condition(pod, "PodScheduled")
    return str(found.get("message") or "") if found.get("reason") == "Unschedulable" else ""


def _movable(pod: Object) -> bool:
    """Not what stays on a node that is drained, or has ended anyway."""
    owner = controller_of(pod)
    of_node = owner is not None and owner["kind"] in ("DaemonSet", "Node")
    return not of_node and _MIRROR not in annotations_of(pod) and not finished(pod)


def _closed(node: Optional[Object]) -> bool:
    return bool(node and (node.get("spec") or {}).get("unschedulable"))


def _allows(budget: Optional[Object]) -> bool:
    return bool(budget and int(status_of(budget).get("disruptionsAllowed") or 0) > 0)


def _violated(budget: Optional[Object]) -> bool:
    status = status_of(budget) if budget else {}
    return int(status.get("currentHealthy") or 0) < int(status.get("desiredHealthy") or 0)


def _name(raw: Object) -> str:
    return f"{raw['metadata']['namespace']}/{raw['metadata']['name']}"
