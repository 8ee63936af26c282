# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The stateful set controller: pods with names, one after the other or all at once.

Source: pkg/controller/statefulset (stateful_set_control.go, stateful_set_utils.go), 1.37.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any, Iterable, Mapping, Optional, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.base import (
    Act,
    Change,
    Create,
    Delete,
    Key,
    Later,
    Object,
    Update,
    View,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.raw import (
    CLAIMS,
    PODS,
    STATEFUL_SETS,
    Raw,
    available,
    finished,
    key_of,
    labels_of,
    leaving,
    next_available,
    own_keys,
    pod_from,
    ready,
    status_of,
    uid_of,
    with_metadata,
    without_zeros,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.revisions import (
    HASH_LABEL,
    Revision,
    named,
    revision_of,
    revisions_of,
    surplus,
)


@dataclass(frozen=True)
class StatefulSets:
    name = "statefulsets"
    watches = (STATEFUL_SETS, PODS)

    def keys(self, change: Change, view: View) -> Iterable[Key]:  # noqa: ARG002
        return own_keys(change, STATEFUL_SETS, "StatefulSet")

    def reconcile(self, key: Key, view: View, now: float, draw: Random) -> Iterable[Act]:  # noqa: ARG002
        owner = view.get(key)
        if owner is None:
            return ()
        acts: list[Act] = []
        found = _Found.of(owner, view, now, acts)
        if not leaving(owner):
            acts.extend(_step(found, view))
        status = _status(found)
        if status != owner.get("status"):
            acts.append(Update(STATEFUL_SETS, {**owner, "status": status}, status=True))
        again = next_available(found.every, found.min_ready, now)
        if again is not None:
            acts.append(Later(again))
        return acts


@dataclass(frozen=True)
class _Found:
    """replicas: the pod of each ordinal, None where it is missing; condemned: those beyond, the
    highest ordinal first."""

    owner: Object
    now: float
    current: Revision
    update: Revision
    replicas: Mapping[int, Optional[Object]]
    condemned: Sequence[Object]

    @staticmethod
    def of(owner: Object, view: View, now: float, acts: list[Act]) -> _Found:
        history = revisions_of(owner, view)
        update, writes = revision_of(owner, history)
        current = named(history, status_of(owner).get("currentRevision") or "") or update
        pods = {_ordinal(owner, pod): pod for pod in view.owned(PODS, uid_of(owner))}
        start = int((owner["spec"].get("ordinals") or {}).get("start") or 0)
        wanted = range(start, start + int(owner["spec"].get("replicas", 1)))
        beyond = sorted((one for one in pods if one not in wanted), reverse=True)
        if not leaving(owner):
            acts.extend(writes)
            used = {labels_of(pod).get(HASH_LABEL, "") for pod in pods.values()}
            acts.extend(surplus(owner, history, {*used, current.name, update.name}))
        return _Found(
            owner,
            now,
            current,
            update,
            {one: pods.get(one) for one in wanted},
            [pods[one] for one in beyond],
        )

    @property
    def every(self) -> list[Object]:
        return [*(one for one in self.replicas.values() if one is not None), *self.condemned]

    @property
    def min_ready(self) -> int:
        return int(self.owner["spec"].get("minReadySeconds") or 0)

    @property
    def ordered(self) -> bool:
        return bool(self.owner["spec"].get("podManagementPolicy") != "Parallel")

    @property
    def strategy(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.owner["spec"].get("updateStrategy") or {}
        return found

    def healthy(self, pod: Object) -> bool:
        running = status_of(pod).get("phase") == "Running" and not leaving(pod)
        return running and available(pod, self.min_ready, self.now)


def _ordinal(owner: Object, pod: Object) -> int:
    """-1 for a pod whose name is not one of this set's; it is condemned then."""
    base, _dash, number = pod["metadata"]["name"].rpartition("-")
    return int(number) if base == owner["metadata"]["name"] and number.isdigit() else -1


# --- the next step -------------------------------------------------------------------------


def _step(found: _Found, view: View) -> Iterable[Act]:
    acts: list[Act] = []
    for steps in (_fill(found, view), _shrink(found)):
        for act, waits in steps:
            if act is not None:
                acts.append(act)
            if waits and found.ordered:
                return acts
    return [*acts, *_roll(found)]


# What to do, and whether an ordered set goes no further before that is done.
_Steps = Iterable[tuple[Optional[Act], bool]]


def _fill(found: _Found, view: View) -> _Steps:
    for ordinal, pod in found.replicas.items():
        if pod is None:
            for claim in _missing_claims(found, ordinal, view):
                yield Create(CLAIMS, claim), False
            yield Create(PODS, _pod(found, ordinal)), True
        elif finished(pod) and not leaving(pod):
            yield Delete(key_of(PODS, pod), uid_of(pod)), True
        elif not found.healthy(pod):
            yield None, True


def _shrink(found: _Found) -> _Steps:
    """An unhealthy pod beyond holds back those below it, unless it is the lowest unhealthy one."""
    unhealthy = [pod for pod in found.condemned if not found.healthy(pod)]
    for pod in found.condemned:
        held_back = found.ordered and not ready(pod) and pod is not unhealthy[-1]
        if leaving(pod) or held_back:
            yield None, True
        else:
            yield Delete(key_of(PODS, pod), uid_of(pod)), True


def _roll(found: _Found) -> Iterable[Act]:
    """From the highest ordinal down to the partition, no more missing at a time than allowed."""
    if found.strategy.get("type") == "OnDelete":
        return
    rolling = found.strategy.get("rollingUpdate") or {}
    start = min(found.replicas, default=0)
    lowest = start + int(rolling.get("partition") or 0)
    spare = _max_unavailable(rolling.get("maxUnavailable"), len(found.replicas))
    spare -= sum(pod is None or not found.healthy(pod) for pod in found.replicas.values())
    for ordinal in sorted(found.replicas, reverse=True):
        pod = found.replicas[ordinal]
        if pod is None or ordinal < lowest or leaving(pod):
            continue
        if labels_of(pod).get(HASH_LABEL) == found.update.name:
            continue
        if found.healthy(pod):
            if spare <= 0:
                return
            spare -= 1
        yield Delete(key_of(PODS, pod), uid_of(pod))


def _max_unavailable(value: Any, replicas: int) -> int:
    if isinstance(value, str):
        return max(1, int(value.rstrip("%")) * replicas // 100)
    return 1 if value is None else int(value)


# --- pods and claims -----------------------------------------------------------------------


def _revision_for(found: _Found, ordinal: int) -> Revision:
    """A pod below the partition comes back as it was, and so does each of an OnDelete set that
    is not counted as updated yet."""
    partition = int((found.strategy.get("rollingUpdate") or {}).get("partition") or 0)
    below = ordinal < min(found.replicas, default=0) + partition
    return found.current if below and found.strategy.get("type") != "OnDelete" else found.update


def _pod(found: _Found, ordinal: int) -> Raw:
    revision = _revision_for(found, ordinal)
    name = f"{found.owner['metadata']['name']}-{ordinal}"
    pod = pod_from(revision.template, found.owner)
    labels = {
        **labels_of(pod),
        "apps.kubernetes.io/pod-index": str(ordinal),
        HASH_LABEL: revision.name,
        "statefulset.kubernetes.io/pod-name": name,
    }
    spec = pod["spec"]
    claims = found.owner["spec"].get("volumeClaimTemplates") or ()
    mounted = [
        {
            "name": one["metadata"]["name"],
            "persistentVolumeClaim": {"claimName": _claim_name(one, name)},
        }
        for one in claims
    ]
    replaced = {one["name"] for one in mounted}
    others = [one for one in spec.get("volumes") or () if one["name"] not in replaced]
    volumes = [*mounted, *others]
    spec = {**spec, "hostname": name, **({"volumes": volumes} if volumes else {})}
    if found.owner["spec"].get("serviceName"):
        spec["subdomain"] = found.owner["spec"]["serviceName"]
    return with_metadata({**pod, "spec": spec}, name=name, labels=labels)


def _claim_name(template: Mapping[str, Any], pod: str) -> str:
    return f"{template['metadata']['name']}-{pod}"


def _missing_claims(found: _Found, ordinal: int, view: View) -> Iterable[Raw]:
    namespace = found.owner["metadata"]["namespace"]
    pod = f"{found.owner['metadata']['name']}-{ordinal}"
    labels = (found.owner["spec"].get("selector") or {}).get("matchLabels") or {}
    for template in found.owner["spec"].get("volumeClaimTemplates") or ():
        name = _claim_name(template, pod)
        if view.get(Key(CLAIMS, namespace, name)) is None:
            metadata = {
                **template["metadata"],
                "name": name,
                "namespace": namespace,
                "labels": {**(template["metadata"].get("labels") or {}), **labels},
            }
            yield {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "metadata": metadata,
                "spec": template["spec"],
            }


# --- status --------------------------------------------------------------------------------


def _status(found: _Found) -> Mapping[str, Any]:
    pods = [pod for pod in found.every if not finished(pod)]
    staying = [pod for pod in pods if not leaving(pod)]
    updated = sum(labels_of(pod).get(HASH_LABEL) == found.update.name for pod in staying)
    current = sum(labels_of(pod).get(HASH_LABEL) == found.current.name for pod in staying)
    is_ready = sum(map(ready, pods))
    counts = {
        "replicas": len(pods),
        "readyReplicas": is_ready,
        "availableReplicas": sum(available(pod, found.min_ready, found.now) for pod in pods),
        "currentReplicas": current,
        "updatedReplicas": updated,
    }
    revision = found.current.name
    rolls = found.strategy.get("type") != "OnDelete"
    if rolls and updated == len(pods) == is_ready:
        revision, counts["currentReplicas"] = found.update.name, updated
    status = without_zeros(counts, always=("replicas", "availableReplicas"))
    status.update(
        currentRevision=revision,
        updateRevision=found.update.name,
        observedGeneration=found.owner["metadata"].get("generation", 1),
        collisionCount=0,
    )
    return status
