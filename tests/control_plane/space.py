# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What one test has of a shared plane: its own nodes, namespaces and users."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from . import objects
from .api import STRATEGIC_MERGE_PATCH, Api, ApiError, Document
from .audit import Audit, Request
from .objects import PodShape
from .plane import Plane
from .users import Users

T = TypeVar("T")

NODES = "/api/v1/nodes"
WAIT_SECONDS = 60.0


class Space:
    """Nodes carry the label test-space=ID, and every pod a nodeSelector for it.

    Builders return the object as the server stored it, and do not wait; `wait_running` does.
    Unless said otherwise they work in the namespace `space.namespace`.
    """

    def __init__(self, plane: Plane, scratch: Path) -> None:
        """`scratch` is a directory for kubeconfigs."""
        self.plane = plane
        self.id = uuid.uuid4().hex[:6]
        self.api: Api = plane.api()
        self.namespace = f"t-{self.id}"
        self.audit = Audit(plane)
        self._users = Users(plane, self.id, self.namespace, scratch)
        self._namespaces: list[str] = []
        self._nodes: list[str] = []
        self._added: list[str] = []
        # (path, pods expected or None for a DaemonSet, must they be Ready) of each workload
        self._workloads: list[tuple[str, int | None, bool]] = []
        self._budgets: list[str] = []
        self.add_namespace(self.namespace)

    # Nodes

    def nodes(
        self,
        count: int,
        *,
        labels: Mapping[str, str] | None = None,
        zones: Sequence[str] = (),
        cpu: str = "8",
        memory: str = "32Gi",
        pods: int = 110,
        control_plane: bool = False,
        kubelet_version: str = "v1.37.2",
        taints: Sequence[Document] = (),
    ) -> list[str]:
        """Creates `count` nodes, waits until they are Ready, and returns their names in order.

        `zones` are given to them in turn.
        """
        names = [f"{self.id}-n{len(self._nodes) + number + 1}" for number in range(count)]
        self._nodes += names
        for number, name in enumerate(names):
            zone = {"topology.kubernetes.io/zone": zones[number % len(zones)]} if zones else {}
            document = objects.node(
                name,
                self.id,
                labels={**zone, **(labels or {})},
                cpu=cpu,
                memory=memory,
                pods=pods,
                control_plane=control_plane,
                kubelet_version=kubelet_version,
                taints=taints,
            )
            self.api.create(NODES, document)
        self.wait(lambda: all(is_ready(self.node(name)) for name in names), "nodes are Ready")
        # The node lifecycle controller takes its own taint away a moment later.
        self.wait(lambda: not any(_not_ready_taint(self.node(name)) for name in names), "no taint")
        return names

    def node(self, name: str) -> Document:
        return self.api.get(f"{NODES}/{name}")

    def patch_node(self, name: str, patch: Document) -> Document:
        """A strategic merge patch, as kubectl's: {"spec": {"unschedulable": True}}."""
        return self.api.patch(f"{NODES}/{name}", patch, STRATEGIC_MERGE_PATCH)

    def cordon(self, name: str) -> None:
        """As an administrator does it."""
        self.patch_node(name, {"spec": {"unschedulable": True}})

    def uncordon(self, name: str) -> None:
        self.patch_node(name, {"spec": {"unschedulable": None}})

    def annotate_node(self, name: str, **annotations: str | None) -> None:
        self.patch_node(name, {"metadata": {"annotations": annotations}})

    def power_off(self, name: str) -> None:
        """The machine is off: no heartbeat, its pods neither start nor stop; Ready is Unknown.

        What the node lifecycle controller would find after its grace period is written at once.
        """
        self.patch_node(name, {"metadata": {"labels": {"kubelet": "stopped"}}})
        self._set_ready(name, "Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status.")

    def power_on(self, name: str) -> None:
        """With a new boot id. Ready a moment later."""
        info = {"nodeInfo": {"bootID": str(uuid.uuid4())}}
        self.api.patch(f"{NODES}/{name}/status", {"status": info}, STRATEGIC_MERGE_PATCH)
        self.patch_node(name, {"metadata": {"labels": {"kubelet": None}}})

    def reboot(self, name: str) -> None:
        """Off and on again; the pods that are bound to it come back with it."""
        self.power_off(name)
        self.power_on(name)

    def not_ready(self, name: str) -> None:
        """The kubelet lives and reports Ready=False, until `recover`."""
        self.annotate_node(name, behaviour="not-ready")

    def recover(self, name: str) -> None:
        self.annotate_node(name, behaviour=None)

    def remove_node(self, name: str) -> None:
        """The Node object vanishes, as when a cloud takes the machine away."""
        self.api.delete(f"{NODES}/{name}")

    def _set_ready(self, name: str, status: str, reason: str, message: str) -> None:
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        condition = {
            "type": "Ready",
            "status": status,
            "reason": reason,
            "message": message,
            "lastTransitionTime": now,
        }
        patch = {"status": {"conditions": [condition]}}
        self.api.patch(f"{NODES}/{name}/status", patch, STRATEGIC_MERGE_PATCH)

    # Workloads: keyword arguments of the pods are those of objects.PodShape

    def deployment(
        self,
        name: str,
        replicas: int = 1,
        *,
        strategy: Document | None = None,
        namespace: str = "",
        **pod: Any,
    ) -> Document:
        shape = PodShape(**pod)
        document = objects.deployment(name, self.id, replicas, strategy, shape)
        return self._workload("apps/v1", "deployments", namespace, document, replicas, shape)

    def statefulset(
        self,
        name: str,
        replicas: int = 1,
        *,
        parallel: bool = False,
        namespace: str = "",
        **pod: Any,
    ) -> Document:
        """OrderedReady unless `parallel`."""
        shape = PodShape(**pod)
        document = objects.stateful_set(name, self.id, replicas, parallel, shape)
        return self._workload("apps/v1", "statefulsets", namespace, document, replicas, shape)

    def daemonset(self, name: str, *, namespace: str = "", **pod: Any) -> Document:
        shape = PodShape(**pod)
        document = objects.daemon_set(name, self.id, shape)
        return self._workload("apps/v1", "daemonsets", namespace, document, None, shape)

    def job(
        self, name: str, *, completions: int = 1, namespace: str = "", **pod: Any
    ) -> Document:
        """Runs until `finish_seconds` are over, or for ever without them."""
        document = objects.job(name, self.id, completions, PodShape(**pod))
        return self.api.create(self.path("batch/v1", "jobs", namespace=namespace), document)

    def bare_pod(self, name: str, *, namespace: str = "", **pod: Any) -> Document:
        """A pod that no controller brings back."""
        shape = PodShape(**pod)
        return self._pod(objects.bare_pod(name, self.id, shape), namespace, shape)

    def mirror_pod(self, name: str, node: str, *, namespace: str = "", **pod: Any) -> Document:
        """A static pod of `node`, as its kubelet shows it."""
        shape = PodShape(**pod)
        document = objects.mirror_pod(name, self.id, self.node(node), shape)
        return self._pod(document, namespace, shape)

    def _pod(self, document: Document, namespace: str, shape: PodShape) -> Document:
        if shape.finish_seconds is None:
            return self._workload("v1", "pods", namespace, document, 1, shape)
        return self.api.create(self.path("v1", "pods", namespace=namespace), document)

    def _workload(
        self,
        api_version: str,
        plural: str,
        namespace: str,
        document: Document,
        replicas: int | None,
        shape: PodShape,
    ) -> Document:
        path = self.path(api_version, plural, document["metadata"]["name"], namespace)
        self._workloads.append((path, replicas, shape.becomes_ready))
        return self.api.create(self.path(api_version, plural, namespace=namespace), document)

    def scale(self, name: str, replicas: int, plural: str = "deployments") -> None:
        path = self.path("apps/v1", plural, name)
        self.api.patch(path, {"spec": {"replicas": replicas}})
        self._workloads = [
            (known, replicas if known == path else count, ready)
            for known, count, ready in self._workloads
        ]

    def budget(
        self,
        name: str,
        selector: Mapping[str, str] | str | None = None,
        *,
        min_available: int | str | None = None,
        max_unavailable: int | str | None = None,
        policy: str | None = None,
        expressions: Sequence[Document] = (),
        namespace: str = "",
    ) -> Document:
        """A PodDisruptionBudget over the labels `selector`, by default app=NAME; "x": app=x."""
        labels = {"app": selector or name} if not isinstance(selector, Mapping) else selector
        whole: Document = {"matchLabels": dict(labels)} if labels else {}
        if expressions:
            whole["matchExpressions"] = list(expressions)
        document = objects.budget(name, whole, min_available, max_unavailable, policy)
        path = self.path("policy/v1", "poddisruptionbudgets", namespace=namespace)
        self._budgets.append(f"{path}/{name}")
        return self.api.create(path, document)

    # Anything else

    def path(
        self, api_version: str, plural: str, name: str = "", namespace: str = ""
    ) -> str:
        """The API path of a collection or an object in a namespace of the space."""
        root = "/api" if "/" not in api_version else "/apis"
        parts = [root, api_version, "namespaces", namespace or self.namespace, plural]
        return "/".join([*parts, name] if name else parts)

    def add(self, path: str, document: Document) -> Document:
        """Creates an object outside the space's namespaces and deletes it at the end."""
        created = self.api.create(path, document)
        self._added.append(f"{path}/{created['metadata']['name']}")
        return created

    def add_namespace(self, name: str, labels: Mapping[str, str] | None = None) -> str:
        """A further namespace; begin its name with the space's id, as all planes are shared."""
        metadata = {"name": name, "labels": {SPACE: self.id, **(labels or {})}}
        self.api.create("/api/v1/namespaces", {"metadata": metadata})
        self._namespaces.append(name)
        return name

    # Looking and waiting

    def pods(
        self, app: str = "", *, node: str = "", selector: str = "", namespace: str = ""
    ) -> list[Document]:
        """Pods by name; of workload `app`, on `node`, with a label selector."""
        labels = ",".join(part for part in (f"app={app}" if app else "", selector) if part)
        path = self.path("v1", "pods", namespace=namespace)
        found = self.api.list(path, labelSelector=labels)
        return sorted(
            (pod for pod in found if not node or pod["spec"].get("nodeName") == node),
            key=lambda pod: str(pod["metadata"]["name"]),
        )

    def pod(self, name: str, namespace: str = "") -> Document | None:
        return self.api.find(self.path("v1", "pods", name, namespace))

    def events(self, kind: str, name: str, namespace: str = "default") -> list[Document]:
        """Events about an object, oldest first; those of Nodes are in `default`."""
        selector = f"involvedObject.kind={kind},involvedObject.name={name}"
        found = self.api.list(
            self.path("v1", "events", namespace=namespace), fieldSelector=selector
        )
        return sorted(found, key=lambda event: str(event["metadata"]["creationTimestamp"]))

    def wait(
        self, condition: Callable[[], T], what: str = "", seconds: float = WAIT_SECONDS
    ) -> T:
        """The first true value of `condition`; TimeoutError with `what` after `seconds`."""
        deadline = time.monotonic() + seconds
        while True:
            value = condition()
            if value:
                return value
            if time.monotonic() > deadline:
                raise TimeoutError(f"not within {seconds:g} s: {what or condition}")
            time.sleep(0.05)

    def wait_running(self, seconds: float = WAIT_SECONDS) -> None:
        """Every workload of the builders has all its pods Running, and Ready where they may become
        so; every budget of the builders counts what is there."""
        for path, replicas, ready in list(self._workloads):
            self.wait(lambda: self._runs(path, replicas, ready), f"{path} runs", seconds)
        for path in list(self._budgets):
            self.wait(lambda: self._budget_is_current(path), f"{path} is current", seconds)

    def _runs(self, path: str, replicas: int | None, ready: bool) -> bool:
        workload = self.api.get(path)
        if path.rsplit("/", 2)[1] == "pods":
            pods = [workload]
        else:
            pods = self.pods(
                workload["metadata"]["name"], namespace=workload["metadata"]["namespace"]
            )
        if replicas is None:
            status = workload.get("status", {})
            if status.get("observedGeneration") != workload["metadata"]["generation"]:
                return False
            replicas = status["desiredNumberScheduled"]
        running = [pod for pod in pods if pod["status"].get("phase") == "Running"]
        return len(running) == replicas and (not ready or all(map(is_ready, running)))

    def _budget_is_current(self, path: str) -> bool:
        budget = self.api.get(path)
        status = budget.get("status", {})
        if status.get("observedGeneration") != budget["metadata"]["generation"]:
            return False
        labels = budget["spec"]["selector"].get("matchLabels", {})
        if budget["spec"]["selector"].get("matchExpressions") or not labels:
            return True
        text = ",".join(f"{key}={value}" for key, value in labels.items())
        pods = self.pods(selector=text, namespace=budget["metadata"]["namespace"])
        return bool(status["currentHealthy"] == len([pod for pod in pods if is_ready(pod)]))

    # Users and what they did

    def kubeconfig(
        self,
        user: str = "runner",
        *,
        roles: Path | None = None,
        token_seconds: int | None = None,
        server: str | None = None,
    ) -> Path:
        """A kubeconfig for a user of this test only; `user` is the test's name for it.

        May do everything, or, with `roles` (a manifest with ClusterRoles and Roles), only what
        they say. `token_seconds`: its token comes from an exec plugin, lives so long, and its
        user is a ServiceAccount. `server` replaces the API server's URL, for a proxy.
        """
        return self._users.kubeconfig(user, roles, token_seconds, server)

    def token(self, user: str = "runner") -> str:
        """The token of a user that `kubeconfig` has made, for `api_key`."""
        return self._users.token(user)

    def requests(
        self, user: str = "runner", since: int | None = None, agent: str = ""
    ) -> list[Request]:
        """What the user of `kubeconfig(user)` asked for; see Audit.requests."""
        return self.audit.requests(self._users.name(user), since, agent)

    def writes(
        self, user: str = "runner", since: int | None = None, agent: str = ""
    ) -> list[Request]:
        """What it asked to change; see Audit.writes."""
        return self.audit.writes(self._users.name(user), since, agent)

    # The end

    def close(self) -> None:
        """Takes everything away without waiting for it: the next test has names of its own."""
        for path in [*self._users.created, *self._added]:
            self.api.delete(path)
        for namespace in self._namespaces:
            self.api.delete(f"/api/v1/namespaces/{namespace}")
            self._force_pods_away(namespace)
        for name in self._nodes:
            self.api.delete(f"{NODES}/{name}")
            self.api.delete(f"/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/fleet-node-{name}")
        self.api.close()

    def _force_pods_away(self, namespace: str) -> None:
        path = self.path("v1", "pods", namespace=namespace)
        self.api.delete(path, {"gracePeriodSeconds": 0})
        for pod in self.api.list(path):
            if pod["metadata"].get("finalizers"):
                try:
                    self.api.patch(
                        f"{path}/{pod['metadata']['name']}", {"metadata": {"finalizers": None}}
                    )
                except ApiError as error:
                    if error.status != 404:
                        raise


SPACE = objects.SPACE_LABEL


def is_ready(document: Document) -> bool:
    """Of a Node or a Pod: whether its Ready condition is True."""
    conditions = document.get("status", {}).get("conditions", [])
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)


def _not_ready_taint(node: Document) -> bool:
    taints = node["spec"].get("taints", [])
    return any(taint["key"] == "node.kubernetes.io/not-ready" for taint in taints)
