# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The deployment controller: its replica sets, and the steps of a rollout.

Source: pkg/controller/deployment, 1.37. The numbers are rollout's.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Iterable, Optional, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour import rollout
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
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.progress import (
    progress_due,
    status_for,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.raw import (
    DEPLOYMENTS,
    PODS,
    REPLICA_SETS,
    Raw,
    annotations_of,
    created_at,
    finished,
    key_of,
    leaving,
    own_keys,
    owner_keys,
    reference_to,
    status_of,
    uid_of,
    with_metadata,
    with_spec,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.templates import (
    HASH_LABEL,
    hash_of,
    same,
    with_hash,
)

REVISION = "deployment.kubernetes.io/revision"
_DESIRED = "deployment.kubernetes.io/desired-replicas"
_MAX = "deployment.kubernetes.io/max-replicas"
# What a set does not take over from the deployment's annotations.
_OWN = (REVISION, _DESIRED, _MAX, "kubectl.kubernetes.io/last-applied-configuration")


@dataclass(frozen=True)
class Deployments:
    name = "deployments"
    watches = (DEPLOYMENTS, REPLICA_SETS, PODS)

    def keys(self, change: Change, view: View) -> Iterable[Key]:
        if change.resource == PODS:
            # A set's status tells all but this: whether the last old pod of a Recreate has gone.
            return _of_pod(change.object, view) if change.type == "DELETED" else ()
        return own_keys(change, DEPLOYMENTS, "Deployment")

    def reconcile(self, key: Key, view: View, now: float, draw: Random) -> Iterable[Act]:  # noqa: ARG002
        deployment = view.get(key)
        if deployment is None:
            return ()
        found = _Found.of(deployment, list(view.owned(REPLICA_SETS, uid_of(deployment))))
        acts: list[Act] = []
        if not leaving(deployment):
            acts.extend(_next_step(found, view))
        moves = bool(acts)
        if not moves and not leaving(deployment):
            acts.extend(_cleanup(found))
        if any(isinstance(act, Update) and act.resource == DEPLOYMENTS for act in acts):
            return acts
        status = status_for(deployment, found.new, found.all, now)
        if status != deployment.get("status"):
            acts.append(Update(DEPLOYMENTS, {**deployment, "status": status}, status=True))
        due = progress_due(deployment, status)
        if due is not None and due > now:
            acts.append(Later(due))
        return acts


def _of_pod(pod: Object, view: View) -> Iterable[Key]:
    for key in owner_keys(pod, REPLICA_SETS, "ReplicaSet"):
        found = view.get(key)
        return () if found is None else owner_keys(found, DEPLOYMENTS, "Deployment")
    return ()


# --- what there is -------------------------------------------------------------------------


@dataclass(frozen=True)
class _Found:
    """new: the set of the deployment's present template; old: the others, from the oldest on."""

    deployment: Object
    new: Optional[Object]
    old: Sequence[Object]

    @staticmethod
    def of(deployment: Object, sets: Sequence[Object]) -> _Found:
        ordered = sorted(sets, key=lambda one: (created_at(one), one["metadata"]["name"]))
        template = deployment["spec"]["template"]
        new = next((one for one in ordered if same(one["spec"]["template"], template)), None)
        return _Found(deployment, new, [one for one in ordered if one is not new])

    @property
    def all(self) -> list[Object]:
        return [*self.old, *([] if self.new is None else [self.new])]

    @property
    def limits(self) -> rollout.Limits:
        spec = self.deployment["spec"]
        rolling = (spec.get("strategy") or {}).get("rollingUpdate") or {}
        replicas = int(spec.get("replicas", 1))
        if not self.rolls:
            return rollout.Limits(replicas, 0, 0)
        return rollout.limits(replicas, rolling.get("maxSurge"), rolling.get("maxUnavailable"))

    @property
    def rolls(self) -> bool:
        strategy = self.deployment["spec"].get("strategy") or {}
        return bool(strategy.get("type") != "Recreate")


def _set(raw: Object) -> rollout.Set:
    status = status_of(raw)
    return rollout.Set(
        name=raw["metadata"]["name"],
        wanted=int(raw["spec"].get("replicas", 1)),
        available=int(status.get("availableReplicas") or 0),
        present=int(status.get("replicas") or 0),
        size_then=int(annotations_of(raw).get(_MAX, "0")),
    )


# --- what is next --------------------------------------------------------------------------


def _next_step(found: _Found, view: View) -> Iterable[Act]:
    """One of: a resize of all sets, the new set, revisions, a step of the rollout."""
    if found.deployment["spec"].get("paused") or _resized(found):
        return _scaled(found, _shares(found))
    if found.new is None:
        if not found.rolls and (_old_pods(found, view) or _wanted(found.old)):
            return _scaled(found, rollout.recreating(found.limits, None, _sets(found.old), True))
        return (Create(REPLICA_SETS, _new_set(found)),)
    revised = _revised(found)
    if revised:
        return revised
    new, old = _set(found.new), _sets(found.old)
    if found.rolls:
        return _scaled(found, rollout.rolling(found.limits, new, old))
    return _scaled(found, rollout.recreating(found.limits, new, old, _old_pods(found, view)))


def _sets(raws: Iterable[Object]) -> list[rollout.Set]:
    return [_set(one) for one in raws]


def _wanted(sets: Iterable[Object]) -> bool:
    return any(one["spec"].get("replicas", 1) for one in sets)


def _old_pods(found: _Found, view: View) -> bool:
    return any(not finished(pod) for one in found.old for pod in view.owned(PODS, uid_of(one)))


def _resized(found: _Found) -> bool:
    """Did the deployment's replicas change since a set with pods was last scaled?"""
    replicas = str(found.deployment["spec"].get("replicas", 1))
    return any(
        one["spec"].get("replicas", 1) and annotations_of(one).get(_DESIRED, replicas) != replicas
        for one in found.all
    )


def _shares(found: _Found) -> rollout.Scales:
    """One set alone takes the whole size; so does a new one that is complete; else shares."""
    sets = [one for one in found.all if one["spec"].get("replicas", 1)]
    if len(sets) <= 1:
        only = sets[0] if sets else found.new or (found.old[-1] if found.old else None)
        return {} if only is None else {only["metadata"]["name"]: found.limits.replicas}
    if found.new is not None and _saturated(found):
        return {one["metadata"]["name"]: 0 for one in found.old if one["spec"].get("replicas", 1)}
    newest_first = sorted(_sets(sets), key=lambda one: one.name)
    return rollout.proportional(found.limits, found.rolls, newest_first)


def _saturated(found: _Found) -> bool:
    replicas = found.limits.replicas
    new = found.new or {}
    desired = annotations_of(new).get(_DESIRED)
    wanted = new["spec"].get("replicas", 1)
    return bool(
        desired == str(wanted) == str(replicas)
        and status_of(new).get("availableReplicas", 0) == replicas
    )


def _scaled(found: _Found, sizes: rollout.Scales) -> list[Act]:
    """Each set that changes, with the size that it was changed for in its annotations."""
    acts: list[Act] = []
    resized = _resized(found)
    for one in found.all:
        before = int(one["spec"].get("replicas", 1))
        size = sizes.get(one["metadata"]["name"], before)
        if size == before and not (resized and before):
            continue
        annotations = {**annotations_of(one), **_sizes(found)}
        acts.append(
            Update(
                REPLICA_SETS, with_spec(with_metadata(one, annotations=annotations), replicas=size)
            )
        )
    return acts


def _sizes(found: _Found) -> dict[str, str]:
    bounds = found.limits
    return {_DESIRED: str(bounds.replicas), _MAX: str(bounds.replicas + bounds.surge)}


# --- the new set and its revision ----------------------------------------------------------


def _revision(one: Object) -> int:
    return int(annotations_of(one).get(REVISION, "0"))


def _new_set(found: _Found) -> Raw:
    deployment = found.deployment
    spec = deployment["spec"]
    name = hash_of(spec["template"], int(status_of(deployment).get("collisionCount") or 0))
    template = with_hash(spec["template"], name)
    selector = spec["selector"]
    labels = {**(selector.get("matchLabels") or {}), HASH_LABEL: name}
    bounds, old = found.limits, _sets(found.old)
    size = rollout.first_size(bounds, old) if found.rolls else bounds.replicas
    made: Raw = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": f"{deployment['metadata']['name']}-{name}",
            "namespace": deployment["metadata"]["namespace"],
            "labels": dict(template["metadata"]["labels"]),
            "annotations": _set_annotations(found, _next_revision(found)),
            "ownerReferences": [reference_to(deployment)],
        },
        "spec": {
            "replicas": size,
            "selector": {**selector, "matchLabels": labels},
            "template": template,
        },
    }
    if spec.get("minReadySeconds"):
        made["spec"]["minReadySeconds"] = spec["minReadySeconds"]
    return made


def _next_revision(found: _Found) -> int:
    return max(map(_revision, found.old), default=0) + 1


def _set_annotations(found: _Found, revision: int) -> dict[str, str]:
    given = annotations_of(found.deployment)
    kept = {key: value for key, value in given.items() if key not in _OWN}
    return {**kept, **_sizes(found), REVISION: str(revision)}


def _revised(found: _Found) -> list[Act]:
    """The new set has the highest revision, and the deployment says the same one."""
    new = found.new
    if new is None:
        return []
    revision = max(_revision(new), _next_revision(found))
    min_ready = found.deployment["spec"].get("minReadySeconds") or 0
    acts: list[Act] = []
    if _revision(new) != revision or (new["spec"].get("minReadySeconds") or 0) != min_ready:
        annotations = {**annotations_of(new), REVISION: str(revision)}
        changed = with_spec(with_metadata(new, annotations=annotations), minReadySeconds=min_ready)
        acts.append(Update(REPLICA_SETS, changed))
    if annotations_of(found.deployment).get(REVISION) != str(revision):
        annotations = {**annotations_of(found.deployment), REVISION: str(revision)}
        acts.append(Update(DEPLOYMENTS, with_metadata(found.deployment, annotations=annotations)))
    return acts


# --- the end of a rollout ------------------------------------------------------------------


def _cleanup(found: _Found) -> Iterable[Act]:
    """Old sets without pods go, but for the newest revisionHistoryLimit ones, once all is done."""
    limit = found.deployment["spec"].get("revisionHistoryLimit")
    done = found.new is not None and _complete(found)
    if limit is None or not done:
        return
    empty = [one for one in found.old if _is_empty(one)]
    surplus = len(found.old) - int(limit)
    for one in sorted(empty, key=_revision)[: max(0, surplus)]:
        yield Delete(key_of(REPLICA_SETS, one), uid_of(one))


def _is_empty(one: Object) -> bool:
    status = status_of(one)
    return bool(
        not leaving(one)
        and one["spec"].get("replicas", 1) == 0
        and not status.get("replicas")
        and status.get("observedGeneration", 0) >= one["metadata"].get("generation", 1)
    )


def _complete(found: _Found) -> bool:
    replicas, status = found.limits.replicas, status_of(found.deployment)
    counts = ("updatedReplicas", "replicas", "availableReplicas")
    return all(int(status.get(name) or 0) == replicas for name in counts)
