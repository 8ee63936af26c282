# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What the API server fills in when an object is created: the defaults that somebody reads.

Source: pkg/apis/*/v1/defaults.go and the admission plugins that are on by default, 1.37.
"""

from __future__ import annotations

from base64 import b64encode
from typing import Any, Callable, Mapping

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.kinds import Kind

Raw = dict[str, Any]

_TOLERATED_SECONDS = 300
_PROBE = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}
_PROJECTIONS = ("configMap", "secret", "downwardAPI", "projected")


def with_defaults(kind: Kind, raw: Mapping[str, Any]) -> Raw:
    """Returns the object with what a client may leave out; what it gave stays as it is."""
    fill = _BY_RESOURCE.get(kind.resource)
    if "status" in kind.subresources and not kind.custom:
        raw = {"status": {}, **raw}
    return dict(raw) if fill is None else fill(raw)


def with_spec_defaults(kind: Kind, raw: Mapping[str, Any]) -> Raw:
    """The same for a changed spec: its containers may be new ones."""
    if kind.resource == "pods":
        return {**raw, "spec": pod_spec(raw["spec"])}
    if isinstance((raw.get("spec") or {}).get("template"), Mapping) and not kind.custom:
        return {**raw, "spec": _templated(raw["spec"])}
    return dict(raw)


def _over(defaults: Mapping[str, Any], given: Any) -> Raw:
    return {**defaults, **(given or {})}


# --- pods ----------------------------------------------------------------------------------


def pod_spec(given: Mapping[str, Any]) -> Raw:
    spec = _over(
        {
            "restartPolicy": "Always",
            "terminationGracePeriodSeconds": 30,
            "dnsPolicy": "ClusterFirst",
            "securityContext": {},
            "schedulerName": "default-scheduler",
        },
        given,
    )
    for field in ("containers", "initContainers"):
        if spec.get(field):
            spec[field] = [_container(one) for one in spec[field]]
    if spec.get("volumes"):
        spec["volumes"] = [_pod_volume(one) for one in spec["volumes"]]
    return spec


def _container(given: Mapping[str, Any]) -> Raw:
    container = _over(
        {
            "terminationMessagePath": "/dev/termination-log",
            "terminationMessagePolicy": "File",
            "imagePullPolicy": _pull_policy(str(given.get("image") or "")),
            "resources": {},
        },
        given,
    )
    resources = dict(container["resources"] or {})
    if resources.get("limits"):
        # A limit without a request is a request, too.
        resources["requests"] = _over(resources["limits"], resources.get("requests"))
    container["resources"] = resources
    if container.get("ports"):
        container["ports"] = [{"protocol": "TCP", **one} for one in container["ports"]]
    for field in ("livenessProbe", "readinessProbe", "startupProbe"):
        if container.get(field):
            container[field] = {**_PROBE, **container[field]}
    return container


def _pull_policy(image: str) -> str:
    """Whatever may change under its name is pulled each time."""
    tag = image.rpartition("/")[2].partition("@")[0].partition(":")[2]
    moving = tag in ("", "latest") and "@" not in image
    return "Always" if moving else "IfNotPresent"


def _pod_volume(given: Mapping[str, Any]) -> Raw:
    """A file of a projection can be read by all, unless the pod says otherwise."""
    return {
        field: {"defaultMode": 0o644, **value} if field in _PROJECTIONS else value
        for field, value in given.items()
    }


def _pod(raw: Mapping[str, Any]) -> Raw:
    spec = _over(
        {
            "enableServiceLinks": True,
            "serviceAccountName": "default",
            "serviceAccount": "default",
            "priority": 0,
            "preemptionPolicy": "PreemptLowerPriority",
        },
        pod_spec(raw.get("spec") or {}),
    )
    spec["tolerations"] = _tolerations(list(spec.get("tolerations") or ()))
    status = {"phase": "Pending", "qosClass": _quality(spec)}
    return {**raw, "spec": spec, "status": status}


def _tolerations(given: list[Any]) -> list[Any]:
    """The admission plugin DefaultTolerationSeconds."""
    for state in ("not-ready", "unreachable"):
        key = f"node.kubernetes.io/{state}"
        tolerated = any(
            one.get("key") in (None, "", key) and one.get("effect") in (None, "", "NoExecute")
            for one in given
        )
        if not tolerated:
            given.append(
                {
                    "key": key,
                    "operator": "Exists",
                    "effect": "NoExecute",
                    "tolerationSeconds": _TOLERATED_SECONDS,
                }
            )
    return given


def _quality(spec: Mapping[str, Any]) -> str:
    """status.qosClass, by CPU and memory alone."""
    resources = [one.get("resources") or {} for one in spec.get("containers") or ()]
    asked = any((one.get("requests") or {}) or (one.get("limits") or {}) for one in resources)
    guaranteed = bool(resources) and all(
        (one.get("limits") or {}).get(name) is not None
        and (one.get("limits") or {}).get(name) == (one.get("requests") or {}).get(name)
        for one in resources
        for name in ("cpu", "memory")
    )
    return "Guaranteed" if guaranteed else "Burstable" if asked else "BestEffort"


def _templated(spec: Mapping[str, Any]) -> Raw:
    template = dict(spec.get("template") or {})
    metadata = dict(template.get("metadata") or {})
    template = {**template, "metadata": metadata, "spec": pod_spec(template.get("spec") or {})}
    return {**spec, "template": template}


# --- controllers ---------------------------------------------------------------------------


def _deployment(raw: Mapping[str, Any]) -> Raw:
    defaults = {"replicas": 1, "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600}
    spec = _templated(_over(defaults, raw.get("spec")))
    strategy = _over({"type": "RollingUpdate"}, spec.get("strategy"))
    if strategy["type"] == "RollingUpdate":
        shares = {"maxUnavailable": "25%", "maxSurge": "25%"}
        strategy["rollingUpdate"] = _over(shares, strategy.get("rollingUpdate"))
    return {**raw, "spec": {**spec, "strategy": strategy}}


def _replica_set(raw: Mapping[str, Any]) -> Raw:
    spec = _templated(_over({"replicas": 1}, raw.get("spec")))
    return {**raw, "spec": spec, "status": {"replicas": 0}}


def _stateful_set(raw: Mapping[str, Any]) -> Raw:
    defaults = {
        "replicas": 1,
        "podManagementPolicy": "OrderedReady",
        "revisionHistoryLimit": 10,
        "serviceName": "",
    }
    spec = _templated(_over(defaults, raw.get("spec")))
    strategy = _over({"type": "RollingUpdate"}, spec.get("updateStrategy"))
    if strategy["type"] == "RollingUpdate":
        strategy["rollingUpdate"] = _over(
            {"partition": 0, "maxUnavailable": 1}, strategy.get("rollingUpdate")
        )
    retention = _over(
        {"whenDeleted": "Retain", "whenScaled": "Retain"},
        spec.get("persistentVolumeClaimRetentionPolicy"),
    )
    extra = {"updateStrategy": strategy, "persistentVolumeClaimRetentionPolicy": retention}
    status = {"replicas": 0, "availableReplicas": 0}
    return {**raw, "spec": {**spec, **extra}, "status": status}


def _daemon_set(raw: Mapping[str, Any]) -> Raw:
    spec = _templated(_over({"revisionHistoryLimit": 10}, raw.get("spec")))
    strategy = _over({"type": "RollingUpdate"}, spec.get("updateStrategy"))
    if strategy["type"] == "RollingUpdate":
        numbers = {"maxUnavailable": 1, "maxSurge": 0}
        strategy["rollingUpdate"] = _over(numbers, strategy.get("rollingUpdate"))
    counts = (
        "currentNumberScheduled",
        "desiredNumberScheduled",
        "numberMisscheduled",
        "numberReady",
    )
    status = dict.fromkeys(counts, 0)
    generation = {"deprecated.daemonset.template.generation": "1"}
    annotations = {**(raw["metadata"].get("annotations") or {}), **generation}
    return {
        **raw,
        "metadata": {**raw["metadata"], "annotations": annotations},
        "spec": {**spec, "updateStrategy": strategy},
        "status": status,
    }


def _job(raw: Mapping[str, Any]) -> Raw:
    defaults = {
        "parallelism": 1,
        "backoffLimit": 6,
        "completionMode": "NonIndexed",
        "suspend": False,
        "podReplacementPolicy": "TerminatingOrFailed",
        "manualSelector": False,
    }
    spec = _over(defaults, raw.get("spec"))
    if spec.get("completions") is None and (raw.get("spec") or {}).get("parallelism") is None:
        spec["completions"] = 1
    spec = _templated(spec)
    if not spec.get("selector"):
        # The pods of a Job are told apart by its UID, which create() has set.
        labels = {"batch.kubernetes.io/controller-uid": raw["metadata"]["uid"]}
        template = spec["template"]
        name = {"batch.kubernetes.io/job-name": raw["metadata"]["name"]}
        old = {"controller-uid": raw["metadata"]["uid"], "job-name": raw["metadata"]["name"]}
        merged = {**(template["metadata"].get("labels") or {}), **labels, **name, **old}
        spec["template"] = {**template, "metadata": {**template["metadata"], "labels": merged}}
        spec["selector"] = {"matchLabels": labels}
    return {**raw, "spec": spec}


# --- the rest ------------------------------------------------------------------------------


def _namespace(raw: Mapping[str, Any]) -> Raw:
    metadata = raw["metadata"]
    labels = {**(metadata.get("labels") or {}), "kubernetes.io/metadata.name": metadata["name"]}
    return {
        **raw,
        "metadata": {**metadata, "labels": labels},
        "spec": {"finalizers": ["kubernetes"]},
        "status": {"phase": "Active"},
    }


def _volume(raw: Mapping[str, Any]) -> Raw:
    defaults = {"persistentVolumeReclaimPolicy": "Retain", "volumeMode": "Filesystem"}
    status = {"phase": "Pending"}
    return {**raw, "spec": _over(defaults, raw.get("spec")), "status": status}


def _claim(raw: Mapping[str, Any]) -> Raw:
    spec = _over({"volumeMode": "Filesystem"}, raw.get("spec"))
    return {**raw, "spec": spec, "status": {"phase": "Pending"}}


def _budget(raw: Mapping[str, Any]) -> Raw:
    counts = ("currentHealthy", "desiredHealthy", "disruptionsAllowed", "expectedPods")
    return {**raw, "status": dict.fromkeys(counts, 0)}


def _storage_class(raw: Mapping[str, Any]) -> Raw:
    return {"reclaimPolicy": "Delete", "volumeBindingMode": "Immediate", **raw}


_NODE_INFO = (
    "machineID",
    "systemUUID",
    "bootID",
    "kernelVersion",
    "osImage",
    "containerRuntimeVersion",
    "kubeletVersion",
    "kubeProxyVersion",
    "operatingSystem",
    "architecture",
)


def _node(raw: Mapping[str, Any]) -> Raw:
    """A new node is tainted until the node lifecycle controller has seen it Ready."""
    spec, status = dict(raw.get("spec") or {}), dict(raw.get("status") or {})
    taint = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
    taints = list(spec.get("taints") or ())
    if taint not in taints:
        spec["taints"] = [*taints, taint]
    status.setdefault("daemonEndpoints", {"kubeletEndpoint": {"Port": 0}})
    status["nodeInfo"] = _over(dict.fromkeys(_NODE_INFO, ""), status.get("nodeInfo"))
    return {**raw, "spec": spec, "status": status}


def _event(raw: Mapping[str, Any]) -> Raw:
    times = dict.fromkeys(("firstTimestamp", "lastTimestamp", "eventTime"))
    return {"source": {}, **times, "reportingComponent": "", "reportingInstance": "", **raw}


def _secret(raw: Mapping[str, Any]) -> Raw:
    """What is given as text is kept as bytes."""
    secret = {"type": "Opaque", **raw}
    plain = secret.pop("stringData", None)
    if plain:
        coded = {key: b64encode(text.encode()).decode() for key, text in plain.items()}
        secret["data"] = {**(secret.get("data") or {}), **coded}
    return secret


_BY_RESOURCE: Mapping[str, Callable[[Mapping[str, Any]], Raw]] = {
    "pods": _pod,
    "nodes": _node,
    "events": _event,
    "secrets": _secret,
    "namespaces": _namespace,
    "persistentvolumes": _volume,
    "persistentvolumeclaims": _claim,
    "deployments.apps": _deployment,
    "replicasets.apps": _replica_set,
    "replicationcontrollers": _replica_set,
    "statefulsets.apps": _stateful_set,
    "daemonsets.apps": _daemon_set,
    "jobs.batch": _job,
    "poddisruptionbudgets.policy": _budget,
    "storageclasses.storage.k8s.io": _storage_class,
}
