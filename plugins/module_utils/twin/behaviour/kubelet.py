# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The kubelets: pods start, become Ready, end and stop; nodes report that they are Ready.

The annotations and their effects are those of the simulated kubelets of the tests' control plane
(tests/control_plane/stages), second by second, so that one suite of tests can run on both:

- start-seconds, stop-seconds, finish-seconds, exit-code of a pod, and its behaviour: never-ready,
  crash-loop, never-stops;
- the label `kubelet: stopped` of a node: nothing happens on it, and nobody hears of it;
- the annotation `behaviour: not-ready` of a node: its kubelet reports Ready=False.

Pods without an annotation follow the Pace.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any, Iterable, Optional, Sequence

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
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.pace import Pace
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.raw import (
    NODES,
    PODS,
    Raw,
    annotations_of,
    condition,
    key_of,
    labels_of,
    leaving,
    node_of,
    ready,
    seconds_of,
    status_of,
    text_of,
    uid_of,
    with_conditions,
)

# Keys that are no objects: the last heartbeat of a node that stops.
LAST_HEARTBEAT = "heartbeats"
_NEVER_READY = ("never-ready", "crash-loop")
# Seconds between the crashes of a pod that crashes again and again.
_CRASH_PERIOD = 5.0
# Instants lose half a second on average when they are cut to whole ones.
_CUT = 0.5


def stopped(node: Object) -> bool:
    return labels_of(node).get("kubelet") == "stopped"


@dataclass(frozen=True)
class Kubelet:
    """seed: what is drawn for a pod must be the same each time the pod is looked at, so it is
    drawn from this and the pod's UID and not from the engine's chance."""

    pace: Pace
    seed: int = 0

    name = "kubelet"
    watches = (PODS, NODES)

    def keys(self, change: Change, view: View) -> Iterable[Key]:
        if change.resource == PODS:
            if change.type != "DELETED" and node_of(change.object):
                yield key_of(PODS, change.object)
            return
        node, before = change.object, change.before
        if change.type == "DELETED":
            return
        name = node["metadata"]["name"]
        if stopped(node):
            if before is not None and not stopped(before):
                yield Key(LAST_HEARTBEAT, "", name)
            return
        yield key_of(NODES, node)
        if before is None or stopped(before):
            for pod in view.pods_on(name):
                yield key_of(PODS, pod)

    def reconcile(self, key: Key, view: View, now: float, draw: Random) -> Iterable[Act]:  # noqa: ARG002
        if key.resource == PODS:
            return self._pod(view.get(key), view, now)
        node = view.get(Key(NODES, "", key.name))
        if node is None:
            return ()
        if key.resource == LAST_HEARTBEAT:
            return _last_heartbeat(node, now)
        return () if stopped(node) else _report(node, now)

    def _pod(self, pod: Optional[Object], view: View, now: float) -> Iterable[Act]:
        if pod is None or not node_of(pod):
            return ()
        node = view.get(Key(NODES, "", node_of(pod)))
        if node is None or stopped(node):
            return ()
        if leaving(pod):
            return self._stop(pod, now)
        phase = status_of(pod).get("phase")
        if phase == "Pending":
            return (_write(pod, _started(pod, now, self._starts_ready(pod))),)
        return self._running(pod, now) if phase == "Running" else ()

    # Times

    def _drawn(self, pod: Object, what: str) -> float:
        times = self.pace.times(labels_of(pod))
        chance = Random(f"{self.seed} {uid_of(pod)} {what}")
        seconds = (times.start if what == "start" else times.stop).sample(chance)
        return seconds + _CUT if seconds > 0 else 0.0

    def _start_seconds(self, pod: Object) -> float:
        given = annotations_of(pod).get("start-seconds")
        return self._drawn(pod, "start") if given is None else _at_least(float(given))

    def _starts_ready(self, pod: Object) -> bool:
        annotations = annotations_of(pod)
        if "start-seconds" in annotations or annotations.get("behaviour") in _NEVER_READY:
            return False
        return self._drawn(pod, "start") == 0

    # Stopping

    def _stop(self, pod: Object, now: float) -> Iterable[Act]:
        metadata = pod["metadata"]
        grace = int(metadata.get("deletionGracePeriodSeconds") or 0)
        # With a grace period of 0 only finalizers still hold it: nothing is left to stop.
        if annotations_of(pod).get("behaviour") == "never-stops" or grace == 0:
            return ()
        given = annotations_of(pod).get("stop-seconds")
        if given is None:
            takes = min(self._drawn(pod, "stop"), grace + _CUT)
        else:
            takes = _at_least(min(float(given), float(grace)))
        due = seconds_of(metadata["deletionTimestamp"]) - grace + takes
        if now < due:
            return (Later(due),)
        return (Delete(key_of(PODS, pod), uid_of(pod), grace_seconds=0),)

    # Running

    def _running(self, pod: Object, now: float) -> Iterable[Act]:
        behaviour = annotations_of(pod).get("behaviour")
        if behaviour == "crash-loop":
            return _crash(pod, now)
        if behaviour == "never-ready":
            return (_write(pod, _not_ready(pod, now)),) if ready(pod) else ()
        started = seconds_of(status_of(pod).get("startTime") or text_of(now))
        if not ready(pod):
            due = started + self._start_seconds(pod)
            return (_write(pod, _ready(pod, now)),) if due <= now else (Later(due),)
        ends = annotations_of(pod).get("finish-seconds")
        if ends is None:
            return ()
        due = started + _at_least(float(ends))
        return (_write(pod, _ended(pod, now)),) if due <= now else (Later(due),)


def _at_least(seconds: float) -> float:
    """Instants are whole seconds, cut off: one more, so that it takes no less than it says."""
    return seconds + 1 if seconds > 0 else 0.0


def _crash(pod: Object, now: float) -> Iterable[Act]:
    containers: Sequence[Any] = status_of(pod).get("containerStatuses") or ({},)
    last = ((containers[0].get("lastState") or {}).get("terminated") or {}).get("finishedAt")
    if containers[0].get("restartCount") and last and seconds_of(last) + _CRASH_PERIOD > now:
        return (Later(seconds_of(last) + _CRASH_PERIOD),)
    return (_write(pod, _crashed(pod, now)),)


# --- what a pod's status becomes -----------------------------------------------------------


def _write(pod: Object, status: Raw) -> Update:
    return Update(PODS, {**pod, "status": status}, status=True)


def _with_ready(pod: Object, value: str, reason: str, now: float, *more: Raw) -> Raw:
    said = {"reason": reason} if reason else {}
    wanted = [
        {"type": kind, "status": value, "lastProbeTime": None, **said}
        for kind in ("Ready", "ContainersReady")
    ]
    found = status_of(pod).get("conditions") or ()
    return {**status_of(pod), "conditions": with_conditions(found, *more, *wanted, now=now)}


def _containers(pod: Object, **state: Any) -> list[Raw]:
    before = {one.get("name"): one for one in status_of(pod).get("containerStatuses") or ()}
    return [
        {
            "image": one.get("image", ""),
            "name": one["name"],
            "restartCount": before.get(one["name"], {}).get("restartCount", 0),
            **state,
        }
        for one in pod["spec"].get("containers") or ()
    ]


def _started(pod: Object, now: float, at_once: bool) -> Raw:
    state = {"running": {"startedAt": text_of(now)}}
    initialized = {"type": "Initialized", "status": "True", "lastProbeTime": None}
    gates = [
        {"type": gate["conditionType"], "status": "True", "lastProbeTime": None}
        for gate in (pod["spec"].get("readinessGates") or () if at_once else ())
    ]
    value, reason = ("True", "") if at_once else ("False", "ContainersNotReady")
    return {
        **_with_ready(pod, value, reason, now, initialized, *gates),
        "containerStatuses": _containers(pod, ready=at_once, started=True, state=state),
        "phase": "Running",
        "startTime": text_of(now),
    }


def _ready(pod: Object, now: float) -> Raw:
    state = {"running": {"startedAt": text_of(now)}}
    containers = _containers(pod, ready=True, started=True, state=state)
    return {**_with_ready(pod, "True", "", now), "containerStatuses": containers}


def _not_ready(pod: Object, now: float) -> Raw:
    return _with_ready(pod, "False", "ContainersNotReady", now)


def _crashed(pod: Object, now: float) -> Raw:
    instants = {"startedAt": text_of(now), "finishedAt": text_of(now)}
    containers = _containers(
        pod,
        ready=False,
        started=False,
        lastState={"terminated": {"exitCode": 1, "reason": "Error", **instants}},
        state={
            "waiting": {
                "reason": "CrashLoopBackOff",
                "message": "back-off 5s restarting failed container",
            }
        },
    )
    for one in containers:
        one["restartCount"] += 1
    return {**_not_ready(pod, now), "containerStatuses": containers}


def _ended(pod: Object, now: float) -> Raw:
    code = int(annotations_of(pod).get("exit-code") or 0)
    terminated = {
        "exitCode": code,
        "reason": "Error" if code else "Completed",
        "startedAt": text_of(now),
        "finishedAt": text_of(now),
    }
    containers = _containers(pod, ready=False, started=False, state={"terminated": terminated})
    return {
        **_with_ready(pod, "False", "PodCompleted", now),
        "containerStatuses": containers,
        "phase": "Failed" if code else "Succeeded",
    }


# --- what a node's status becomes ----------------------------------------------------------

_PRESSURES = (
    ("MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ("DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
)


def _report(node: Object, now: float) -> Iterable[Act]:
    found = condition(node, "Ready").get("status")
    if annotations_of(node).get("behaviour") == "not-ready":
        return () if found == "False" else (_report_of(node, now, _UNREADY),)
    if found == "True":
        return ()
    pressures = [
        {"type": kind, "status": "False", "reason": reason, "message": text}
        for kind, reason, text in _PRESSURES
    ]
    return (_report_of(node, now, _READY, *pressures),)


_READY = {
    "type": "Ready",
    "status": "True",
    "reason": "KubeletReady",
    "message": "kubelet is posting ready status",
}
_UNREADY = {
    "type": "Ready",
    "status": "False",
    "reason": "KubeletNotReady",
    "message": "container runtime is down",
}


def _report_of(node: Object, now: float, *wanted: Raw) -> Update:
    beaten = [{**one, "lastHeartbeatTime": text_of(now)} for one in wanted]
    conditions = with_conditions(status_of(node).get("conditions") or (), *beaten, now=now)
    status = {**status_of(node), "conditions": conditions}
    return Update(NODES, {**node, "status": status}, status=True)


def _last_heartbeat(node: Object, now: float) -> Iterable[Act]:
    """Nodes that run are not written every few seconds: the label tells that they live. What the
    node lifecycle controller must know of one that stopped is when it was last heard of."""
    found = condition(node, "Ready")
    return (_report_of(node, now, dict(found)),) if found else ()
