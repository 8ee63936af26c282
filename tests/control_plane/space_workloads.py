# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The workloads of a Space: made without waiting, then waited for together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from . import objects
from .api import Document
from .objects import PodShape
from .plane import Plane
from .space_base import NODES, WAIT_SECONDS, SpaceBase, is_ready


class SpaceWorkloads(SpaceBase):
    """Every pod has a nodeSelector for the space's nodes, and the label app=NAME.

    Builders return the object as the server stored it. Their keyword arguments `**pod` are the
    fields of objects.PodShape. They work in `space.namespace` unless another is given.
    """

    def __init__(self, plane: Plane, scratch: Path) -> None:
        super().__init__(plane, scratch)
        # (path, pods expected or None for a DaemonSet, must they be Ready) of each workload
        self._workloads: list[tuple[str, int | None, bool]] = []
        self._budgets: list[str] = []

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

    def job(self, name: str, *, completions: int = 1, namespace: str = "", **pod: Any) -> Document:
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
        document = objects.mirror_pod(name, self.id, self.api.get(f"{NODES}/{node}"), shape)
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

    def autoscaler(self, name: str, *, minimum: int, maximum: int, namespace: str = "") -> Document:
        """A HorizontalPodAutoscaler of deployment `name`, which keeps it within these bounds."""
        path = self.path("autoscaling/v2", "horizontalpodautoscalers", namespace=namespace)
        return self.api.create(path, objects.autoscaler(name, minimum, maximum))

    def claim(
        self,
        name: str,
        *,
        node: str = "",
        zone: str = "",
        mode: str = "ReadWriteOnce",
        namespace: str = "",
    ) -> Document:
        """A bound PersistentVolumeClaim for pods' `claims`: a local volume of `node`, or one of a
        CSI driver, which is attached where its pod runs and reachable in `zone` only."""
        volume = f"{self.id}-{name}"
        document = objects.persistent_volume(
            volume, name, namespace or self.namespace, node, zone, mode
        )
        self.add("/api/v1/persistentvolumes", document)
        path = self.path("v1", "persistentvolumeclaims", namespace=namespace)
        self.api.create(path, objects.claim(name, volume, mode))
        return self.wait(lambda: self._bound(f"{path}/{name}"), f"claim {name} is bound")

    def _bound(self, path: str) -> Document | None:
        claim = self.api.get(path)
        return claim if claim["status"].get("phase") == "Bound" else None

    def attachments(self, node: str) -> list[Document]:
        """The VolumeAttachments of a node."""
        found = self.api.list("/apis/storage.k8s.io/v1/volumeattachments")
        return [item for item in found if item["spec"]["nodeName"] == node]

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

    def annotate_pod(self, name: str, **annotations: str | None) -> None:
        """None takes an annotation away; `behaviour` works on a running pod."""
        self.api.patch(self.path("v1", "pods", name), {"metadata": {"annotations": annotations}})

    def pod(self, name: str, namespace: str = "") -> Document | None:
        return self.api.find(self.path("v1", "pods", name, namespace))

    def events(self, kind: str, name: str, namespace: str = "default") -> list[Document]:
        """Events about an object, oldest first; those of Nodes are in `default`."""
        selector = f"involvedObject.kind={kind},involvedObject.name={name}"
        found = self.api.list(
            self.path("v1", "events", namespace=namespace), fieldSelector=selector
        )
        return sorted(found, key=lambda event: str(event["metadata"]["creationTimestamp"]))

    def wait_running(self, seconds: float = WAIT_SECONDS) -> None:
        """Every workload of the builders has all its pods Running, and Ready where they may become
        so; every budget of the builders counts what is there."""
        for workload in self._workloads:
            self.wait(partial(self._runs, *workload), f"{workload[0]} runs", seconds)
        for path in self._budgets:
            self.wait(partial(self._budget_is_current, path), f"{path} is current", seconds)

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
