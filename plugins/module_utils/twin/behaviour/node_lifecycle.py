# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Nodes that are not heard of or not Ready: their condition, their taints, and what happens to
their pods; and the pods of nodes that are out of service or gone.

Sources: pkg/controller/nodelifecycle, pkg/controller/tainteviction, pkg/controller/podgc, 1.37. The
limits on how many nodes of a zone are tainted at a time are left out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from random import Random
from typing import Iterable, Mapping, Optional, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.base import (
    Act,
    Change,
    Delete,
    Key,
    Later,
    Object,
    Update,
    View,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.kubelet import stopped
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.matching import (
    Taint,
    taints_of,
    tolerates,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.raw import (
    NODES,
    PODS,
    Raw,
    condition,
    created_at,
    finished,
    key_of,
    leaving,
    node_of,
    ready,
    seconds_of,
    status_of,
    text_of,
    uid_of,
    with_conditions,
    with_spec,
)

NOT_READY = "node.kubernetes.io/not-ready"
UNREACHABLE = "node.kubernetes.io/unreachable"
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
_PRESSURES = {
    "MemoryPressure": "node.kubernetes.io/memory-pressure",
    "DiskPressure": "node.kubernetes.io/disk-pressure",
    "PIDPressure": "node.kubernetes.io/pid-pressure",
}
_OWN = (NOT_READY, UNREACHABLE, UNSCHEDULABLE, *_PRESSURES.values())

# Keys that are no objects: pods whose node was lost; the rest is what the pod GC looks for.
MARKING, EVICTION, COLLECTION, ORPHANS = "marking", "eviction", "collection", "orphans"
# Seconds between two rounds of the pod GC, and how long a node must have been away.
_ROUND, _QUARANTINE = 20.0, 40.0


@dataclass(frozen=True)
class NodeLifecycle:
    """grace: seconds without a heartbeat after which a node is Unknown."""

    grace: float = 50.0

    name = "node_lifecycle"
    watches = (NODES, PODS)

    def keys(self, change: Change, view: View) -> Iterable[Key]:
        if change.resource == PODS:
            return _of_pod(change, view)
        name = change.object["metadata"]["name"]
        if change.type == "DELETED":
            return (Key(ORPHANS, "", name),)
        found = [Key(NODES, "", name)]
        if change.before is not None and ready(change.before) and not ready(change.object):
            found.append(Key(MARKING, "", name))
        if change.before is None or taints_of(change.before) != taints_of(change.object):
            found += [Key(EVICTION, "", name)] if _evicting(change.object) else []
            found += [Key(COLLECTION, "", name)] if _out(change.object) else []
        return found

    def reconcile(self, key: Key, view: View, now: float, draw: Random) -> Iterable[Act]:  # noqa: ARG002
        node = view.get(Key(NODES, "", key.name))
        if key.resource == ORPHANS:
            return _orphans(key, view, now) if node is None else ()
        if key.resource == PODS:
            return _evicted(view.get(key), view, now)
        if node is None:
            return ()
        if key.resource == MARKING:
            return () if ready(node) else _marked(key.name, view, now)
        if key.resource == EVICTION:
            return [act for pod in view.pods_on(key.name) for act in _evict_from(pod, node, now)]
        if key.resource == COLLECTION:
            return _collected(node, view, now)
        return self._node(node, now)

    def _node(self, node: Object, now: float) -> Iterable[Act]:
        if leaving(node):
            return ()
        if stopped(node) and condition(node, "Ready").get("status") != "Unknown":
            due = _last_heard(node) + self.grace
            if due <= now:
                return (_silent(node, now),)
            return (Later(due), *_tainted(node, now))
        return _tainted(node, now)


def _of_pod(change: Change, view: View) -> Iterable[Key]:
    pod = change.object
    name = node_of(pod)
    if change.type == "DELETED" or not name:
        return ()
    node = view.get(Key(NODES, "", name))
    if node is None:
        return (Key(ORPHANS, "", name),)
    if not _evicting(node):
        return ()
    placed = change.before is None or not node_of(change.before)
    found = [key_of(PODS, pod)] if placed else []
    if leaving(pod) and _out(node):
        found.append(Key(COLLECTION, "", name))
    return found


# --- the node's condition and taints -------------------------------------------------------


def _last_heard(node: Object) -> float:
    when = condition(node, "Ready").get("lastHeartbeatTime")
    return seconds_of(when) if when else created_at(node)


def _silent(node: Object, now: float) -> Act:
    never = not condition(node, "Ready")
    reason = "NodeStatusNeverUpdated" if never else "NodeStatusUnknown"
    text = "Kubelet never posted node status." if never else "Kubelet stopped posting node status."
    wanted = []
    for kind in ("Ready", *_PRESSURES):
        before = condition(node, kind)
        heard = before.get("lastHeartbeatTime") or node["metadata"]["creationTimestamp"]
        wanted.append(
            {
                "type": kind,
                "status": "Unknown",
                "reason": reason,
                "message": text,
                "lastHeartbeatTime": heard,
            }
        )
    conditions = with_conditions(status_of(node).get("conditions") or (), *wanted, now=now)
    status = {**status_of(node), "conditions": conditions}
    return Update(NODES, {**node, "status": status}, status=True)


def _tainted(node: Object, now: float) -> Iterable[Act]:
    wanted = _wanted_taints(node)
    found = [(one["key"], one["effect"]) for one in taints_of(node) if one["key"] in _OWN]
    if sorted(found) == sorted(wanted):
        return ()
    kept = [
        one
        for one in taints_of(node)
        if one["key"] not in _OWN or (one["key"], one["effect"]) in wanted
    ]
    added = [
        {"key": key, "effect": effect, "timeAdded": text_of(now)}
        for key, effect in wanted
        if (key, effect) not in found
    ]
    return (Update(NODES, with_spec({"spec": {}, **node}, taints=[*kept, *added])),)


def _wanted_taints(node: Object) -> list[tuple[str, str]]:
    value = condition(node, "Ready").get("status")
    wanted: list[tuple[str, str]] = []
    if value is None:
        # As admission made it: nobody may come before the node was heard of.
        wanted.append((NOT_READY, "NoSchedule"))
    elif value != "True":
        key = NOT_READY if value == "False" else UNREACHABLE
        wanted += [(key, "NoSchedule"), (key, "NoExecute")]
    if (node.get("spec") or {}).get("unschedulable"):
        wanted.append((UNSCHEDULABLE, "NoSchedule"))
    for kind, key in _PRESSURES.items():
        if condition(node, kind).get("status") == "True":
            wanted.append((key, "NoSchedule"))
    return wanted


def _marked(node: str, view: View, now: float) -> Iterable[Act]:
    """The pods of a node that was lost are not Ready, so that nobody counts on them."""
    for pod in view.pods_on(node):
        if ready(pod):
            wanted = {"type": "Ready", "status": "False", "reason": "NodeNotReady"}
            yield _with_condition(pod, wanted, now)


def _with_condition(pod: Object, wanted: Raw, now: float, **status: str) -> Update:
    conditions = with_conditions(status_of(pod).get("conditions") or (), wanted, now=now)
    changed = {**status_of(pod), **status, "conditions": conditions}
    return Update(PODS, {**pod, "status": changed}, status=True)


# --- taint eviction ------------------------------------------------------------------------


def _evicting(node: Object) -> bool:
    return any(one["effect"] == "NoExecute" for one in taints_of(node))


def _evicted(pod: Optional[Object], view: View, now: float) -> Iterable[Act]:
    node = None if pod is None else view.get(Key(NODES, "", node_of(pod)))
    return () if pod is None or node is None else _evict_from(pod, node, now)


def _evict_from(pod: Object, node: Object, now: float) -> Iterable[Act]:
    if leaving(pod):
        return
    due = eviction_due(pod["spec"].get("tolerations") or (), taints_of(node), now)
    if due is None:
        return
    if due > now:
        yield Later(due)
        return
    wanted = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "DeletionByTaintManager",
        "message": "Taint manager: deleting due to NoExecute taint",
    }
    yield _with_condition(pod, wanted, now)
    yield Delete(key_of(PODS, pod), uid_of(pod))


def eviction_due(
    tolerations: Sequence[Mapping[str, object]], taints: Iterable[Taint], now: float
) -> Optional[float]:
    """When a pod has to go; None when it may stay. The shortest toleration counts."""
    moments = []
    for taint in taints:
        if taint["effect"] != "NoExecute":
            continue
        matching = [one for one in tolerations if tolerates(one, taint)]
        if not matching:
            return now
        limits = [
            float(str(one["tolerationSeconds"]))
            for one in matching
            if one.get("tolerationSeconds") is not None
        ]
        if limits:
            since = seconds_of(taint["timeAdded"]) if taint.get("timeAdded") else now
            moments.append(since + max(0.0, min(limits)))
    return min(moments, default=None)


# --- pod GC --------------------------------------------------------------------------------


def _out(node: Object) -> bool:
    return any(one["key"] == OUT_OF_SERVICE for one in taints_of(node))


def _collected(node: Object, view: View, now: float) -> Iterable[Act]:
    """Pods that leave a node that is out of service are not waited for."""
    if ready(node) or not _out(node):
        return ()
    pods = [pod for pod in view.pods_on(node["metadata"]["name"]) if leaving(pod)]
    if pods and not _round(now):
        return (Later(_next_round(now)),)
    return [act for pod in pods for act in _forced(pod, now)]


def _orphans(key: Key, view: View, now: float) -> Iterable[Act]:
    """Nothing tells any more when the node went. The first look comes at any moment and asks for
    one at a round after the quarantine; so a look at a round is the one that was asked for."""
    pods = list(view.pods_on(key.name))
    if not pods:
        return ()
    if not _round(now):
        return (Later(_next_round(now + _QUARANTINE)),)
    return [act for pod in pods for act in _forced(pod, now, orphan=True)]


def _forced(pod: Object, now: float, orphan: bool = False) -> Iterable[Act]:
    if not finished(pod):
        text = "PodGC: node no longer exists" if orphan else "PodGC: node is out of service"
        wanted = {
            "type": "DisruptionTarget",
            "status": "True",
            "reason": "DeletionByPodGC",
            "message": text,
        }
        yield _with_condition(pod, wanted, now, phase="Failed")
    yield Delete(key_of(PODS, pod), uid_of(pod), grace_seconds=0)


def _next_round(now: float) -> float:
    return math.ceil(now / _ROUND) * _ROUND


def _round(now: float) -> bool:
    """Is this a moment at which the pod GC looks? Those fall on whole rounds of its clock."""
    return now % _ROUND < 0.5
