# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Random worlds of pods and budgets, built on a real control plane.

A world has groups (the label `group`), each of a few workloads and of budgets over it. The pods
stay as they are while several rounds of budgets come and go over them: budgets are made after the
pods, because of two that cover one pod the disruption controller tells only one of a later change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Optional, Union

from hypothesis import strategies as st

from tests.control_plane import objects
from tests.control_plane.api import Document
from tests.control_plane.objects import PodShape
from tests.control_plane.space import Space, is_ready

GROUPS = 10
TIERS = ("a", "b", "")

# What pods are like, and how one sees that they have become so.
STATES = ("ready", "ready", "ready", "never-ready", "crash-loop", "pending", "stopping", "finished")
# Their controllers would make new pods for ever.
CANNOT_FINISH = ("Deployment", "StatefulSet", "ReplicaSet", "ReplicationController", "DaemonSet")
KINDS = ("Deployment", "Deployment", "StatefulSet", "ReplicaSet", "ReplicationController", "Job")
KINDS += ("DaemonSet", "Pod")


@dataclass(frozen=True)
class Workload:
    """`replicas` pods of one kind of owner in one state; "stopping" means that one of them is."""

    group: int
    kind: str
    replicas: int
    state: str
    tier: str


@dataclass(frozen=True)
class Guard:
    """A budget over a group (-1: over all pods), and over one tier of it if that is not empty.

    field: minAvailable or maxUnavailable; tier "!a" is all but that one.
    """

    group: int
    field: str
    value: Union[int, str]
    policy: Optional[str]
    tier: str

    def document(self, name: str) -> Document:
        selector: dict[str, Any] = {}
        if self.group >= 0:
            selector["matchLabels"] = {"group": str(self.group)}
        if self.tier:
            operator = "NotIn" if self.tier.startswith("!") else "In"
            values = [self.tier.removeprefix("!")]
            selector["matchExpressions"] = [{"key": "tier", "operator": operator, "values": values}]
        spec = {"selector": selector, self.field: self.value}
        if self.policy:
            spec["unhealthyPodEvictionPolicy"] = self.policy
        return {"metadata": {"name": name}, "spec": spec}


@st.composite
def workloads(draw: st.DrawFn, group: int) -> Workload:
    kind = draw(st.sampled_from(KINDS))
    state = draw(st.sampled_from(STATES))
    if state == "finished" and kind in CANNOT_FINISH:
        state = "ready"
    replicas = 1 if kind == "Pod" else draw(st.integers(1, 4))
    return Workload(group, kind, replicas, state, draw(st.sampled_from(TIERS)))


@st.composite
def guards(draw: st.DrawFn, group: int) -> Guard:
    amounts = st.one_of(st.integers(0, 6), st.integers(0, 100).map("{}%".format))
    return Guard(
        group,
        draw(st.sampled_from(("minAvailable", "maxUnavailable"))),
        draw(amounts),
        draw(st.sampled_from((None, "IfHealthyBudget", "AlwaysAllow"))),
        draw(st.sampled_from(("", "", "", "a", "!a"))),
    )


@st.composite
def rounds_of_guards(draw: st.DrawFn) -> list[Guard]:
    """Mostly one budget a group; now and then none, two, or one over everything."""
    found = []
    for group in range(GROUPS):
        for _each in range(draw(st.sampled_from((1, 1, 1, 1, 1, 0, 2)))):
            found.append(draw(guards(group)))
    if draw(st.integers(0, 5)) == 0:
        found.append(draw(guards(-1)))
    return found


@dataclass(frozen=True)
class World:
    workloads: tuple[Workload, ...]
    rounds: tuple[tuple[Guard, ...], ...]


@st.composite
def worlds(draw: st.DrawFn, rounds: int) -> World:
    found = [
        draw(workloads(group))
        for group in range(GROUPS)
        for _each in range(draw(st.integers(1, 2)))
    ]
    guarded = draw(st.lists(rounds_of_guards(), min_size=rounds, max_size=rounds))
    return World(tuple(found), tuple(map(tuple, guarded)))


# --- on the control plane ------------------------------------------------------------------


def build(space: Space, namespace: str, found: Sequence[Workload]) -> None:
    """Makes the workloads and waits until each pod is as it shall be."""
    for number, workload in enumerate(found):
        _create(space, namespace, f"w{number}", workload)
    for number, workload in enumerate(found):
        settled = partial(_settled, space, namespace, f"w{number}", workload)
        space.wait(settled, f"{workload} is settled")
    stopping = [
        (f"w{n}", workload) for n, workload in enumerate(found) if workload.state == "stopping"
    ]
    for name, _workload in stopping:
        first = space.pods(name, namespace=namespace)[0]
        space.api.delete(space.path("v1", "pods", first["metadata"]["name"], namespace))
    for name, workload in stopping:
        stops = partial(_one_stops, space, namespace, name, workload)
        space.wait(stops, f"one pod of {workload} stops")


def _create(space: Space, namespace: str, name: str, workload: Workload) -> None:
    labels = {"group": str(workload.group)}
    if workload.tier:
        labels["tier"] = workload.tier
    shape = PodShape(labels=labels, grace_seconds=600, **_likeness(workload.state))
    if workload.kind == "Deployment":
        space.deployment(name, workload.replicas, namespace=namespace, **vars(shape))
    elif workload.kind == "StatefulSet":
        space.statefulset(
            name, workload.replicas, parallel=True, namespace=namespace, **vars(shape)
        )
    elif workload.kind == "Job":
        space.job(name, completions=workload.replicas, namespace=namespace, **vars(shape))
    elif workload.kind == "DaemonSet":
        space.daemonset(name, namespace=namespace, **vars(shape))
    elif workload.kind == "Pod":
        space.bare_pod(name, namespace=namespace, **vars(shape))
    else:
        _create_replicas(space, namespace, name, workload, shape)


def _create_replicas(
    space: Space, namespace: str, name: str, workload: Workload, shape: PodShape
) -> None:
    """A ReplicaSet or a ReplicationController without anything above it."""
    document = objects.deployment(name, space.id, workload.replicas, None, shape)
    if workload.kind == "ReplicaSet":
        document["kind"] = "ReplicaSet"
        space.api.create(space.path("apps/v1", "replicasets", namespace=namespace), document)
        return
    document.update(apiVersion="v1", kind="ReplicationController")
    document["spec"]["selector"] = {"app": name}
    space.api.create(space.path("v1", "replicationcontrollers", namespace=namespace), document)


def _likeness(state: str) -> dict[str, Any]:
    if state == "pending":
        return {"spec": {"nodeSelector": {"there-is": "no-such-node"}}}
    if state == "stopping":
        return {"behaviour": "never-stops"}
    if state == "finished":
        return {"finish_seconds": 0}
    return {} if state == "ready" else {"behaviour": state}


def _settled(space: Space, namespace: str, name: str, workload: Workload) -> bool:
    found = space.pods(name, namespace=namespace)
    wanted = _wanted(space, workload)
    return len(found) == wanted and all(_is(pod, workload.state) for pod in found)


def _wanted(space: Space, workload: Workload) -> int:
    """A DaemonSet's pods: one on each node, none where its nodeSelector fits no node."""
    if workload.kind != "DaemonSet":
        return workload.replicas
    return 0 if workload.state == "pending" else len(space.node_names)


def _is(pod: Document, state: str) -> bool:
    phase = pod["status"].get("phase")
    if state == "finished":
        return bool(phase == "Succeeded")
    if state == "pending":
        return bool(phase == "Pending")
    if state in ("ready", "stopping"):
        return is_ready(pod)
    crashed = pod["status"].get("containerStatuses", [{}])[0].get("state", {}).get("waiting")
    return bool(phase == "Running" and not is_ready(pod) and (crashed or state != "crash-loop"))


def _one_stops(space: Space, namespace: str, name: str, workload: Workload) -> bool:
    """It goes on stopping; most controllers have made another by now, some wait for its end."""
    found = space.pods(name, namespace=namespace)
    live = [pod for pod in found if "deletionTimestamp" not in pod["metadata"]]
    waits = workload.kind in ("StatefulSet", "DaemonSet", "Pod")
    wanted = _wanted(space, workload) - (1 if waits else 0)
    return len(found) == len(live) + 1 and len(live) == wanted and all(map(is_ready, live))
