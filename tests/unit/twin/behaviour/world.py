# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A small world for controllers: the twin's own store and life cycle of objects, and a loop that
carries out what controllers say, in virtual time."""

from __future__ import annotations

import heapq
from random import Random
from typing import Any, Callable, Mapping, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.answers import Refusal
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour import base
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.catalogue import (
    Settings,
    all_controllers,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.raw import (
    key_of,
    ready,
    text_of,
    uid_of,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.kinds import Kinds
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.lifecycle import (
    DeleteOptions,
    Lifecycle,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.store import Store, Write

START = 1_800_000_000.0
SPACE = "shop"
GIBI = 2**30


class World:
    """now: seconds since START."""

    def __init__(self, settings: Optional[Settings] = None, seed: int = 1) -> None:
        self.seconds = START
        self.store = Store()
        self.kinds = Kinds()
        self.lifecycle = Lifecycle(self.store, self.kinds, lambda: self.seconds, Random(seed))
        self.draw = Random(seed)
        self.writes = 0
        self._queue: list[tuple[float, int, Any, base.Key]] = []
        self._waiting: set[tuple[str, base.Key]] = set()
        self._order = 0
        self.controllers = all_controllers(settings or Settings())
        self.store.listen(self._hear)
        self.add("namespaces", {"metadata": {"name": SPACE}})

    # What a user does

    def add(self, resource: str, raw: Mapping[str, Any]) -> base.Object:
        kind = self.kinds.named(resource)
        return self.lifecycle.create(kind, raw, SPACE if kind.namespaced else "")

    def get(self, resource: str, name: str) -> Any:
        kind = self.kinds.named(resource)
        return self.store.get(base.Key(resource, SPACE if kind.namespaced else "", name))

    def change(self, resource: str, name: str, **parts: Mapping[str, Any]) -> None:
        """Sets fields of parts, as `spec={"replicas": 2}`."""
        found = self.get(resource, name)
        wanted = {**found, **{part: {**found[part], **new} for part, new in parts.items()}}
        kind = self.kinds.named(resource)
        self.lifecycle.update(kind, key_of(resource, found), lambda _old: wanted)

    def delete(
        self, resource: str, name: str, propagation: str = "", grace: Optional[int] = None
    ) -> None:
        found = self.get(resource, name)
        options = DeleteOptions(grace_seconds=grace, propagation=propagation)
        self.lifecycle.delete(self.kinds.named(resource), key_of(resource, found), options)

    def evict(self, name: str) -> bool:
        """As the API does with the one budget there may be: charges it, then deletes the pod."""
        pod = self.get("pods", name)
        for budget in self.store.objects("poddisruptionbudgets.policy"):
            status = budget["status"]
            if ready(pod):
                if status["disruptionsAllowed"] <= 0:
                    return False
                disrupted = {**status.get("disruptedPods", {}), name: text_of(self.seconds)}
                allowed = status["disruptionsAllowed"] - 1
                charged = {**status, "disruptionsAllowed": allowed, "disruptedPods": disrupted}
                self._put("poddisruptionbudgets.policy", {**budget, "status": charged}, True)
        self.delete("pods", name)
        return True

    # Time

    @property
    def now(self) -> float:
        return round(self.seconds - START, 2)

    def run(self, seconds: float) -> None:
        """Lets all happen that happens within so many seconds."""
        end = self.seconds + seconds
        while self._queue and self._queue[0][0] <= end:
            self._step()
        self.seconds = end

    def until(self, holds: Callable[[], bool], seconds: float = 600) -> float:
        """Returns when it holds for the first time; fails when it does not in time."""
        end = self.seconds + seconds
        while not holds():
            if not self._queue or self._queue[0][0] > end:
                raise AssertionError(f"still not so after {seconds} s")
            self._step()
        return self.now

    # What there is

    def pods(self, **labels: str) -> list[Any]:
        return [
            pod
            for pod in self.store.objects("pods")
            if labels.items() <= pod["metadata"].get("labels", {}).items()
        ]

    def ready_pods(self, **labels: str) -> list[Any]:
        return [
            pod
            for pod in self.pods(**labels)
            if ready(pod) and "deletionTimestamp" not in pod["metadata"]
        ]

    def settled(self, resource: str, name: str, replicas: int) -> bool:
        status = self.get(resource, name).get("status", {})
        current = self.get(resource, name)["metadata"]["generation"]
        return (
            status.get("observedGeneration") == current
            and status.get("readyReplicas", 0) == replicas
            and status.get("updatedReplicas", 0) == replicas
            and status.get("replicas", 0) == replicas
        )

    # Inside

    def _hear(self, write: Write) -> None:
        for controller in self.controllers:
            if write.change.resource in controller.watches:
                for key in controller.keys(write.change, self.store):
                    self._enqueue(controller, key)

    def _enqueue(self, controller: base.Controller, key: base.Key) -> None:
        if (controller.name, key) not in self._waiting:
            self._waiting.add((controller.name, key))
            self._push(self.seconds + 0.02, controller, key)

    def _push(self, when: float, controller: base.Controller, key: base.Key) -> None:
        self._order += 1
        heapq.heappush(self._queue, (when, self._order, controller, key))

    def _step(self) -> None:
        when, _order, controller, key = heapq.heappop(self._queue)
        self.seconds = max(self.seconds, when)
        self._waiting.discard((controller.name, key))
        for act in controller.reconcile(key, self.store, self.seconds, self.draw):
            if isinstance(act, base.Later):
                self._push(max(act.at, self.seconds), controller, key)
                continue
            self.writes += 1
            try:
                self._carry_out(act)
            except Refusal as refusal:
                if refusal.code not in (404, 409):
                    raise
                return

    def _carry_out(self, act: base.Act) -> None:
        if isinstance(act, base.Create):
            kind = self.kinds.named(act.resource)
            namespace = act.object["metadata"].get("namespace", "")
            self.lifecycle.create(kind, act.object, namespace)
        elif isinstance(act, base.Update):
            self._put(act.resource, act.object, act.status)
        elif isinstance(act, base.Delete):
            options = DeleteOptions(act.grace_seconds, act.uid)
            self.lifecycle.delete(self.kinds.named(act.key.resource), act.key, options)
        elif isinstance(act, base.Bind):
            pod = self.store.get(act.pod)
            assert pod is not None
            assert uid_of(pod) == act.uid
            self.store.put("pods", {**pod, "spec": {**pod["spec"], "nodeName": act.node}})

    def _put(self, resource: str, raw: base.Object, status: bool) -> None:
        kind, sub = self.kinds.named(resource), "status" if status else ""
        self.lifecycle.update(kind, key_of(resource, raw), lambda _old: raw, subresource=sub)


# --- objects -------------------------------------------------------------------------------


def add_nodes(world: World, *names: str, cpu: str = "4", **labels: str) -> None:
    room = {"cpu": cpu, "memory": "16Gi", "pods": "110"}
    for name in names:
        metadata = {"name": name, "labels": {"kubernetes.io/hostname": name, **labels}}
        status = {"allocatable": room, "capacity": room}
        world.add("nodes", {"metadata": metadata, "status": status})
    world.run(1)


def template(app: str, cpu: str = "100m", spec: Any = None, **annotations: str) -> dict[str, Any]:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}
    return {
        "metadata": {"labels": {"app": app}, "annotations": annotations},
        "spec": {"containers": [container], **(spec or {})},
    }


def workload(app: str, pod: Mapping[str, Any], **spec: Any) -> dict[str, Any]:
    selector = {"matchLabels": {"app": app}}
    return {"metadata": {"name": app}, "spec": {"selector": selector, "template": pod, **spec}}


def budget(app: str, **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": app}, "spec": {"selector": {"matchLabels": {"app": app}}, **spec}}
