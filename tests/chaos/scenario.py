# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The world of each run, how it is asked to change, and how it must look afterwards."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.evenkeel.fleet import plugins
from tests.control_plane.objects import SPACE_LABEL
from tests.control_plane.space import LEASES, Space

from .hook import Hook
from .playing import Playing
from .proxy import Proxy
from .watcher import Floor, Guard, Kept, Watcher

PREFIX = "fleet.evenkeel.dev/"
SCALE_DOWN = "cluster-autoscaler.kubernetes.io/scale-down-disabled"
PROTECTIONS = ("karpenter.sh/do-not-disrupt", SCALE_DOWN)
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
REPLICAS = {"web": 6, "api": 5, "solo": 1}
SURGE = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
FOREIGN = "example.com/rack"


@dataclass
class Scenario:
    """3 nodes of which the first two are emptied, 12 pods, 2 budgets, one surge and one hook.

    cordoned: the second node was cordoned by an administrator beforehand.
    """

    space: Space
    directory: Path
    nodes: list[str]
    cordoned: bool
    hook: Hook
    watcher: Watcher

    @classmethod
    def build(cls, space: Space, directory: Path, *, cordoned: bool) -> Scenario:
        first, second, third = space.nodes(3)
        space.deployment("solo", REPLICAS["solo"], strategy=SURGE, node=first)
        space.deployment("web", REPLICAS["web"], start_seconds=1)
        space.budget("web", max_unavailable=2)
        space.deployment("api", REPLICAS["api"], stop_seconds=1)
        space.budget("api", min_available=3)
        space.daemonset("agent")
        space.wait_running()
        # What somebody else has decided about these nodes, and nobody may undo.
        space.annotate_node(first, **{FOREIGN: "r1", SCALE_DOWN: "true"})
        space.annotate_node(second, **{FOREIGN: "r2"})
        kept = {
            first: Kept(False, {FOREIGN: "r1", SCALE_DOWN: "true"}),
            second: Kept(cordoned, {FOREIGN: "r2"}),
            third: Kept(False, {}),
        }
        if cordoned:
            space.cordon(second)
        # A Deployment that may surge brings its replacement first: there is never a gap.
        watcher = Watcher(space, Guard((Floor("surge of solo", {"app": "solo"}, 1),), kept))
        watcher.start()
        hook = Hook(lambda nodes: _not_ready_for_patching(space, nodes), directory)
        return cls(space, directory, [first, second], cordoned, hook, watcher)

    def close(self) -> None:
        self.hook.close()
        self.watcher.stop()

    # Runs.

    def enter_and_exit(
        self, user: str, proxy: Proxy | None = None, how: type[Playing] = Playing
    ) -> Playing:
        return self.enter(user, proxy, how, exit_after="true")

    def enter(
        self, user: str, proxy: Proxy | None = None, how: type[Playing] = Playing, **more: str
    ) -> Playing:
        options = {
            "reason": "patching",
            "fragile": "surge",
            "settle": "true",
            "maintenance_tasks": str(self.hook.tasks),
            **more,
        }
        return self._play("maintenance_enter", options, user, proxy, how)

    def exit(self, user: str) -> Playing:
        return self._play("maintenance_exit", {}, user, None, Playing)

    def _play(
        self,
        playbook: str,
        options: Mapping[str, str],
        user: str,
        proxy: Proxy | None,
        how: type[Playing],
    ) -> Playing:
        kubeconfig = self.space.kubeconfig(user, server=proxy.url if proxy else None)
        given = {"nodes": ",".join(self.nodes), **options}
        arguments = [f"evenkeel.fleet.{playbook}"]
        for name, value in given.items():
            arguments += ["-e", f"{name}={value}"]
        return how(arguments, _environment(kubeconfig), self.directory)

    # How it must look: what is not so, in sentences.

    def wrong_in_maintenance(self) -> list[str]:
        """After an enter that ended well."""
        wrong = _not_ready_for_patching(self.space, self.nodes)
        for name in self.nodes:
            annotations = self.space.node(name)["metadata"].get("annotations", {})
            wrong += [
                f"{key} of {name} is {annotations.get(key)!r}"
                for key in PROTECTIONS
                if annotations.get(key) != "true"
            ]
            mark = annotations.get(PREFIX + "maintenance-cordoned")
            if (mark == "true") is self._is_cordoned(name):
                wrong.append(f"maintenance-cordoned of {name} is {mark!r}")
        return [*wrong, *self._wrong_anyway()]

    def wrong_after_exit(self) -> list[str]:
        """The nodes are as they were found, and everything that moved runs."""
        wrong = []
        for name in self.nodes:
            node = self.space.node(name)
            closed = bool(node["spec"].get("unschedulable"))
            if closed is not self._is_cordoned(name):
                wrong.append(f"{name} is {'closed' if closed else 'open'}")
            annotations = node["metadata"].get("annotations", {})
            ours = {key: value for key, value in annotations.items() if key.startswith(PREFIX)}
            if ours:
                wrong.append(f"{name} still has {ours}")
            protections = {key for key in PROTECTIONS if key in annotations}
            if protections != ({SCALE_DOWN} if name == self.nodes[0] else set()):
                wrong.append(f"{name} has the protections {sorted(protections)}")
            wrong += self._wrong_events(name)
        return [*wrong, *self._wrong_anyway()]

    def _wrong_anyway(self) -> list[str]:
        wrong = []
        own = f"{SPACE_LABEL}={self.space.id}"
        for node in self.space.api.list("/api/v1/nodes", labelSelector=own):
            name = node["metadata"]["name"]
            keys = {taint["key"] for taint in node["spec"].get("taints", [])} - {UNSCHEDULABLE}
            if keys:
                wrong.append(f"{name} is tainted: {sorted(keys)}")
            lease = self.space.api.find(f"{LEASES}/fleet-node-{name}")
            if lease is not None and lease["spec"].get("holderIdentity"):
                wrong.append(f"the lock of {name} is held by {lease['spec']['holderIdentity']}")
        for name in REPLICAS:
            wrong += self._wrong_deployment(name)
        return wrong

    def _wrong_deployment(self, name: str) -> list[str]:
        path = self.space.path("apps/v1", "deployments", name)
        try:
            self.space.wait(lambda: _is_up(self.space.api.get(path)), f"{name} is up", 20)
        except TimeoutError as error:
            return [str(error)]
        annotations = self.space.api.get(path)["metadata"].get("annotations", {})
        return [f"Deployment {name} still has {key}" for key in annotations if PREFIX in key]

    def _wrong_events(self, name: str) -> list[str]:
        """At most one for each time that the node arrived: a run that is killed may not come to
        telling, and none may tell twice."""
        told = [
            event
            for event in self.space.events("Node", name)
            if event["reason"] == "MaintenanceReady"
        ]
        arrivals = self.watcher.guard.arrivals.get(name, 0)
        if len(told) > arrivals:
            return [f"{name} arrived {arrivals} times, and {len(told)} Events tell of it"]
        return []

    def _is_cordoned(self, name: str) -> bool:
        """By an administrator."""
        return self.cordoned and name == self.nodes[1]


def _not_ready_for_patching(space: Space, nodes: list[str]) -> list[str]:
    wrong = []
    for name in nodes:
        node = space.node(name)
        state = node["metadata"].get("annotations", {}).get(PREFIX + "maintenance-state")
        if state != "InMaintenance":
            wrong.append(f"{name} is in state {state!r}")
        if not node["spec"].get("unschedulable"):
            wrong.append(f"{name} is open")
        pods = [
            pod["metadata"]["name"]
            for pod in space.pods(node=name)
            if pod["metadata"]["labels"]["app"] != "agent"
        ]
        if pods:
            wrong.append(f"{name} is not empty: {pods}")
    return wrong


def _is_up(deployment: dict[str, Any]) -> bool:
    """All replicas are of the newest template and Ready."""
    status, wanted = deployment["status"], deployment["spec"]["replicas"]
    return (
        status.get("observedGeneration") == deployment["metadata"]["generation"]
        and status.get("replicas") == wanted
        and status.get("updatedReplicas") == wanted
        and status.get("readyReplicas") == wanted
    )


def _environment(kubeconfig: Path) -> dict[str, str]:
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("ANSIBLE_", "K8S_AUTH_"))
    }
    return {
        **inherited,
        "ANSIBLE_COLLECTIONS_PATH": str(Path(next(iter(plugins.__path__))).parents[3]),
        "ANSIBLE_LOCALHOST_WARNING": "false",
        "ANSIBLE_INVENTORY_UNPARSED_WARNING": "false",
        "ANSIBLE_NOCOLOR": "1",
        "KUBECONFIG": str(kubeconfig),
    }
