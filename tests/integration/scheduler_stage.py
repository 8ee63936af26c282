# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Puts a random world before the real scheduler, and the same world before our rules."""

from __future__ import annotations

import time
from collections.abc import Iterable
from copy import deepcopy
from typing import Any

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import parse_node
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.scheduling import (
    parse_scheduling,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.volumes import (
    parse_scheduling_storage,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.state import (
    ClusterState,
)
from tests.control_plane.scheduler_lab import PIN, SchedulerLab

from .scheduler_worlds import ENDING, FINISHED, NAMESPACES, World

Document = dict[str, Any]

STORAGE = "/apis/storage.k8s.io/v1"
NODES, VOLUMES = "/api/v1/nodes", "/api/v1/persistentvolumes"
CLUSTER_WIDE = (
    NODES, VOLUMES, f"{STORAGE}/storageclasses", f"{STORAGE}/csinodes", f"{STORAGE}/csidrivers",
    f"{STORAGE}/volumeattachments",
)  # fmt: skip
NOW = {"gracePeriodSeconds": 0}
ANSWER_SECONDS = 20.0


class Stage:
    """One world in the lab; `state` is ours, and follows what is done here."""

    def __init__(self, lab: SchedulerLab, world: World) -> None:
        self.lab, self.api = lab, lab.api
        self.world = world
        self._number = 0
        _clear(lab)
        self.state = self._build()

    def _build(self) -> ClusterState:
        world = self.world
        classes = self._create_all(f"{STORAGE}/storageclasses", world.classes)
        drivers = self._create_all(f"{STORAGE}/csidrivers", world.csi_drivers)
        nodes = self._create_all(NODES, world.nodes)
        csi_nodes = self._create_all(f"{STORAGE}/csinodes", world.csi_nodes)
        volumes = self._create_all(VOLUMES, world.volumes)
        claims = [self._create(_in(one, "persistentvolumeclaims"), one) for one in world.claims]
        attachments = self._create_all(f"{STORAGE}/volumeattachments", world.attachments)
        state = ClusterState(
            [parse_node(raw) for raw in nodes],
            {
                name: {"kubernetes.io/metadata.name": name, **labels}
                for name, labels in NAMESPACES.items()
            },
            parse_scheduling_storage(claims, volumes, classes, csi_nodes, drivers, attachments),
        )
        running = [self.api.create(_in(pod, "pods"), pod) for pod in world.running]
        for number, pod in enumerate(running):
            if number < ENDING:
                # Nobody confirms it: so it goes on ending.
                self.api.delete(_path(pod), {"gracePeriodSeconds": 600})
                _place(state, pod, terminating=True)
            elif number < ENDING + FINISHED:
                self.api.patch(f"{_path(pod)}/status", {"status": {"phase": "Succeeded"}})
            else:
                _place(state, pod)
        return state

    def _create_all(self, path: str, documents: Iterable[Document]) -> list[Document]:
        return [self._create(path, one) for one in documents]

    def _create(self, path: str, document: Document) -> Document:
        """Status is a request of its own, as only that endpoint takes it."""
        created = self.api.create(path, document)
        if document.get("status"):
            status = {"status": document["status"]}
            created = self.api.patch(f"{path}/{created['metadata']['name']}/status", status)
        return created

    def ask(self, pods: Iterable[Document]) -> list[tuple[Document, frozenset[str]]]:
        """Each pod as it is stored, and the nodes that passed all of the scheduler's filters."""
        asked = [self.api.create(_in(pod, "pods"), self._renamed(pod)) for pod in pods]
        waiting = {pod["metadata"]["uid"] for pod in asked}
        deadline = time.monotonic() + ANSWER_SECONDS
        while waiting:
            if time.monotonic() > deadline:
                raise TimeoutError(f"the scheduler says nothing of {len(waiting)} pods")
            time.sleep(0.05)
            for pod in self.api.list("/api/v1/pods"):
                if _is_decided(pod):
                    waiting.discard(pod["metadata"]["uid"])
        for pod in asked:
            self._delete(pod)
        heard = self.lab.extender.passed
        return [(pod, heard.get(pod["metadata"]["uid"], frozenset())) for pod in asked]

    def bind(self, pod: Document, node: str) -> bool:
        """Lets the scheduler bind the pod to this node alone; does it? Then it stays there."""
        pinned = self._renamed(pod)
        pinned["metadata"].setdefault("annotations", {})[PIN] = node
        path = _in(pod, "pods")
        created = self.api.create(path, pinned)
        deadline = time.monotonic() + ANSWER_SECONDS
        while time.monotonic() < deadline:
            found = self.api.get(f"{path}/{created['metadata']['name']}")
            if found["spec"].get("nodeName"):
                _place(self.state, found)
                return True
            if _is_decided(found):
                self._delete(found)
                return False
            time.sleep(0.01)
        raise TimeoutError(f"the scheduler says nothing of {created['metadata']['name']}")

    def remove(self, pod: Document) -> None:
        """Takes a running pod away, here and there."""
        self._delete(pod)
        self.state.remove(pod["metadata"]["name"])

    def _delete(self, pod: Document) -> None:
        self.api.delete(_path(pod), NOW)

    def _renamed(self, pod: Document) -> Document:
        self._number += 1
        copy = deepcopy(pod)
        copy["metadata"]["name"] = f"{pod['metadata']['name']}-{self._number}"
        return copy


def prepare(lab: SchedulerLab) -> None:
    """The namespaces, which stay: nothing here could delete them."""
    for name, labels in NAMESPACES.items():
        lab.api.create("/api/v1/namespaces", {"metadata": {"name": name, "labels": labels}})


def _clear(lab: SchedulerLab) -> None:
    for name in NAMESPACES:
        lab.api.delete(f"/api/v1/namespaces/{name}/pods", NOW)
        lab.api.delete(f"/api/v1/namespaces/{name}/persistentvolumeclaims", NOW)
    for path in CLUSTER_WIDE:
        lab.api.delete(path, NOW)


def _place(state: ClusterState, raw: Document, terminating: bool = False) -> None:
    pod = state.pod_class(parse_scheduling(raw))
    state.place(raw["metadata"]["name"], pod, raw["spec"]["nodeName"], terminating)


def _path(pod: Document) -> str:
    return f"{_in(pod, 'pods')}/{pod['metadata']['name']}"


def _in(document: Document, plural: str) -> str:
    return f"/api/v1/namespaces/{document['metadata']['namespace']}/{plural}"


def _is_decided(pod: Document) -> bool:
    """The condition is written after the extender has answered: no answer means no node passed."""
    conditions = pod.get("status", {}).get("conditions", [])
    return any(one["type"] == "PodScheduled" for one in conditions)
