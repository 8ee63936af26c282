# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The scenario of tests/chaos on a twin in virtual time, and what is watched on it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import yaml

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.base import Key
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.build import twin_of
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.faults import Fault
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.messages import Request
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.spec import parse_spec
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.store import Write
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.treatment import (
    Script,
    Treatment,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.twin import Settings, Twin
from tests.chaos.judgement import AGENT, REPLICAS, Judge, foreign_annotations, guard_of, is_up
from tests.chaos.watcher import Guard

NODES = ["n1-1", "n2-1", "n3-1"]
NAMESPACE = "shop"
START = 1_800_000_000.0
# Seconds of the twin's time in which its pods have started, and in which what moved is up again.
SETTLED = 60.0
PATIENCE = 60
# solo comes first, so that it is on the first node: the scheduler takes equal nodes by name.
SPEC = f"""
workloads:
  - {{name: solo, namespace: {NAMESPACE}, replicas: {REPLICAS["solo"]}, start: 3s, stop: 2s}}
  - {{name: web, namespace: {NAMESPACE}, replicas: {REPLICAS["web"]}, start: 1s}}
  - {{name: api, namespace: {NAMESPACE}, replicas: {REPLICAS["api"]}, stop: 1s}}
  - {{name: {AGENT}, namespace: {NAMESPACE}, kind: DaemonSet}}
budgets:
  - {{name: web, namespace: {NAMESPACE}, max_unavailable: 2}}
  - {{name: api, namespace: {NAMESPACE}, min_available: 3}}
"""


@dataclass
class Watched:
    """Hears every write, as it is made: nothing can be missed. faults: what must never happen.
    restarts: how often the template of solo was changed."""

    guard: Guard
    faults: list[str] = field(default_factory=list)
    restarts: int = 0

    def hear(self, write: Write) -> None:
        change = write.change
        kind, found = change.type, dict(change.object)
        if change.resource == "pods":
            self.faults += self.guard.pod(kind, found)
        elif change.resource == "poddisruptionbudgets.policy":
            self.faults += self.guard.budget(kind, found)
        elif change.resource == "nodes":
            self.faults += self.guard.node(kind, found)
        elif change.resource == "deployments.apps" and found["metadata"]["name"] == "solo":
            before = change.before or found
            self.restarts += before["spec"]["template"] != found["spec"]["template"]


@dataclass
class Recorder:
    """treatment.Script: passes on what `script` says, and notes the requests.

    twice: evictions of pods that were leaving already.
    """

    twin: Twin
    script: Script
    requests: list[str] = field(default_factory=list)
    twice: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, request: Request) -> Treatment:
        with self._lock:
            self.requests.append(f"{request.method} {request.path}")
            treatment = self.script(request)
        parts = request.path.split("/")
        if request.method == "POST" and parts[-1] == "eviction":
            pod = self.twin.store.get(Key("pods", parts[-4], parts[-2]))
            if pod is not None and "deletionTimestamp" in pod["metadata"]:
                self.twice.append(f"{parts[-2]} was evicted though it was leaving")
        return treatment


@dataclass(frozen=True)
class OnTwin:
    """judgement.World: what the twin's store has."""

    twin: Twin

    def nodes(self) -> list[dict[str, Any]]:
        return [dict(node) for node in self.twin.store.objects("nodes")]

    def pods_on(self, node: str) -> list[dict[str, Any]]:
        return [dict(pod) for pod in self.twin.store.pods_on(node)]

    def lease(self, name: str) -> dict[str, Any] | None:
        """What a run that was killed held is over once it is not renewed in time."""
        key = Key("leases.coordination.k8s.io", "kube-system", name)
        found = self.twin.store.get(key)
        if found is None or not found["spec"].get("holderIdentity"):
            return None
        pass_time(self.twin, found["spec"]["leaseDurationSeconds"] + 1)
        later = self.twin.store.get(key)
        return dict(later) if later is not None and later != found else None

    def events_of(self, node: str) -> list[dict[str, Any]]:
        return [
            dict(event)
            for event in self.twin.store.objects("events", "default")
            if event["involvedObject"]["name"] == node
        ]

    def deployment(self, name: str) -> dict[str, Any]:
        key = Key("deployments.apps", NAMESPACE, name)
        for _second in range(PATIENCE):
            found = dict(self.twin.store.get(key) or {})
            if is_up(found):
                return found
            pass_time(self.twin, 1.0)
        raise TimeoutError(f"{name} is not up: {found}")


@dataclass
class Scenario:
    """3 nodes of which the first two are emptied, 12 pods, 2 budgets, one surge and one hook."""

    twin: Twin
    judge: Judge
    watched: Watched
    recorder: Recorder

    @property
    def nodes(self) -> list[str]:
        return NODES[:2]


@contextmanager
def a_scenario(
    *, cordoned: bool, faults: tuple[Fault, ...] = (), seed: int = 0
) -> Iterator[Scenario]:
    """cordoned: the second node was cordoned by an administrator beforehand."""
    settings = Settings(START, virtual=True, seed=seed, faults=faults)
    twin = twin_of(parse_spec(_spec()), settings)
    twin.start()
    try:
        pass_time(twin, SETTLED)
        if cordoned:
            _cordon(twin, NODES[1])
        guard = guard_of(NODES, cordoned)
        watched = Watched(guard)
        _watch(twin, watched)
        recorder = Recorder(twin, twin.script)
        twin.script = recorder
        yield Scenario(twin, Judge(OnTwin(twin), NODES[:2], cordoned, guard), watched, recorder)
    finally:
        twin.stop()


def pass_time(twin: Twin, seconds: float) -> None:
    """While no run is there to follow the twin's clock."""
    until = twin.time.now() + seconds
    twin.time.advance(seconds)
    while twin.time.now() < until:
        time.sleep(0.001)


def _spec() -> dict[str, Any]:
    foreign = foreign_annotations(NODES)
    pools = [
        {"pool": name.partition("-")[0], "annotations": dict(foreign[name]), "cpu": 8}
        for name in NODES
    ]
    return {"nodes": pools, **yaml.safe_load(SPEC)}


def _cordon(twin: Twin, name: str) -> None:
    nodes = twin.api.kinds.named("nodes")
    twin.api.lifecycle.update(
        nodes,
        Key("nodes", "", name),
        lambda node: {**node, "spec": {**node["spec"], "unschedulable": True}},
    )
    pass_time(twin, 1.0)


def _watch(twin: Twin, watched: Watched) -> None:
    """Budgets first: pods are judged by them."""
    with twin.store.lock:
        for budget in twin.store.objects("poddisruptionbudgets.policy"):
            watched.guard.budget("ADDED", dict(budget))
        for pod in twin.store.objects("pods"):
            watched.guard.pod("ADDED", dict(pod))
        for node in twin.store.objects("nodes"):
            watched.guard.node("ADDED", dict(node))
        twin.store.listen(watched.hear)
