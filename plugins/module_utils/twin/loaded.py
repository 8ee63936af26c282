# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a copied cluster lacks for its twin to go on where it was.

- Kubelets report by their silence: nodes that are not Ready get the mark by which the twin's
  kubelet keeps them so.
- Pods that were not Ready and had had the time to be get the mark that keeps them so.
- Replica sets of the past differ from the present one by images and the like, which are not copied:
  their templates are marked with the revision that they are of.
- Stateful sets and daemon sets tell the pods of their newest template by the name or the hash of a
  ControllerRevision, which is not copied: it is made of the template that is there.
- How long pods take to start is what it took those that are there.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import Any, Iterable, Iterator, Mapping, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import InvalidOption
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.times import parse_instant
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.base import Object
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.deployments import (
    REVISION,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.pace import (
    Empirical,
    Pace,
    parse_pace,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.raw import (
    DAEMON_SETS,
    DEPLOYMENTS,
    NODES,
    PODS,
    REPLICA_SETS,
    REVISIONS,
    STATEFUL_SETS,
    annotations_of,
    condition,
    controller_of,
    labels_of,
    leaving,
    node_of,
    ready,
    status_of,
    uid_of,
    with_metadata,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.revisions import (
    HASH_LABEL,
    revision_document,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.spec import Made

# A pod that fails comes up again and again in between; one that starts does so once.
_FAILING = ("CrashLoopBackOff", "ImagePullBackOff", "ErrImagePull", "CreateContainerConfigError")
# Seconds without being Ready after which a pod is taken to stay so.
_LONG = 600.0


@dataclass(frozen=True)
class Loaded:
    """latest: seconds since the epoch of the last thing that the objects tell of."""

    made: tuple[Made, ...]
    latest: float

    @staticmethod
    def of(objects: Iterable[Made]) -> Loaded:
        """Raises InvalidOption (snapshot) for a pod on a node that is not there."""
        made = tuple(objects)
        check_places(made)
        pods = (one.object for one in made if one.resource == PODS)
        return Loaded(made, max(map(_last_told, pods), default=0.0))

    @property
    def pods(self) -> list[Object]:
        return [one.object for one in self.made if one.resource == PODS]

    def objects(self) -> Iterator[Made]:
        """In an order in which they can be put into a twin."""
        hashes, revisions = _hashes(self.pods), self._revisions()
        for one in self.made:
            raw: Object = one.object
            if one.resource == NODES:
                raw = _as_silent_as_it_was(raw)
            elif one.resource == PODS:
                raw = _as_sick_as_it_was(raw, self.latest)
            elif one.resource in (STATEFUL_SETS, DAEMON_SETS):
                yield from _revision(one, hashes)
            elif one.resource == REPLICA_SETS:
                raw = _of_its_revision(raw, revisions)
            yield Made(one.resource, one.namespace, dict(raw))

    def _revisions(self) -> Mapping[str, str]:
        """By the UID of a Deployment, the revision that it has come to."""
        found = [one.object for one in self.made if one.resource == DEPLOYMENTS]
        return {uid_of(one): annotations_of(one).get(REVISION, "") for one in found}


def check_places(objects: Iterable[Made], source: str = "the snapshot") -> None:
    """Raises InvalidOption (snapshot) for a pod on a node that is not there."""
    made = tuple(objects)
    nodes = {one.object["metadata"]["name"] for one in made if one.resource == NODES}
    for one in made:
        node = node_of(one.object) if one.resource == PODS else ""
        if node and node not in nodes:
            name = f"{one.namespace}/{one.object['metadata']['name']}"
            raise InvalidOption(
                "snapshot",
                f"{source}: pod {name} is on node {node}, which is not in it.",
                "Write it again, with all nodes.",
            )


def learned_pace(pods: Iterable[Object], given: Mapping[str, Any]) -> Pace:
    """The pace that is given, in the form of behaviour/pace. What it leaves open: pods start as
    quickly as those that are there and never restarted; they stop at once.

    Nothing in a cluster tells how long its pods take to stop.
    """
    pace = parse_pace(given)
    seen = sorted(seconds for pod in pods for seconds in _start_seconds(pod))
    if "start" in given or not seen:
        return pace
    return replace(pace, others=replace(pace.others, start=Empirical(tuple(seen))))


def _start_seconds(pod: Object) -> Iterator[float]:
    status = status_of(pod)
    restarted = any(one.get("restartCount") for one in status.get("containerStatuses") or ())
    became = condition(pod, "Ready").get("lastTransitionTime")
    began = condition(pod, "PodScheduled").get("lastTransitionTime")
    if ready(pod) and not restarted and became and began:
        yield max(0.0, _seconds(became) - _seconds(began))


def _last_told(pod: Object) -> float:
    told = [one.get("lastTransitionTime") for one in status_of(pod).get("conditions") or ()]
    return max((_seconds(text) for text in told if text), default=0.0)


def _seconds(text: str) -> float:
    return parse_instant(text).timestamp()


def _as_silent_as_it_was(node: Object) -> Object:
    state = condition(node, "Ready").get("status")
    if state == "True":
        return node
    if state == "False":
        return _annotated(node, "not-ready")
    return with_metadata(node, labels={**labels_of(node), "kubelet": "stopped"})


def _as_sick_as_it_was(pod: Object, latest: float) -> Object:
    status = status_of(pod)
    if status.get("phase") not in ("Pending", "Running") or ready(pod) or leaving(pod):
        return pod
    waiting = {
        ((one.get("state") or {}).get("waiting") or {}).get("reason")
        for one in status.get("containerStatuses") or ()
    }
    began = status.get("startTime")
    overdue = began is not None and latest - _seconds(began) > _LONG
    return _annotated(pod, "never-ready") if overdue or waiting & set(_FAILING) else pod


def _of_its_revision(replica_set: Object, revisions: Mapping[str, str]) -> Object:
    owner, own = controller_of(replica_set), annotations_of(replica_set).get(REVISION)
    present = revisions.get(owner["uid"]) if owner is not None else None
    if not own or not present or own == present:
        return replica_set
    spec = replica_set["spec"]
    metadata = spec["template"].get("metadata") or {}
    annotations = {**(metadata.get("annotations") or {}), REVISION: own}
    template = {**spec["template"], "metadata": {**metadata, "annotations": annotations}}
    return {**replica_set, "spec": {**spec, "template": template}}


def _annotated(raw: Object, behaviour: str) -> Object:
    annotations = raw["metadata"].get("annotations") or {}
    return with_metadata(raw, annotations={**annotations, "behaviour": behaviour})


def _hashes(pods: Iterable[Object]) -> Mapping[str, str]:
    """By the UID of what controls them, the hash that most pods carry."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for pod in pods:
        owner, found = controller_of(pod), labels_of(pod).get(HASH_LABEL)
        if owner is not None and found:
            counts[owner["uid"]][found] += 1
    return {uid: found.most_common(1)[0][0] for uid, found in counts.items()}


def _revision(made: Made, hashes: Mapping[str, str]) -> Iterator[Made]:
    """The revision of the present template, under the name that the pods know."""
    owner = {"kind": _KINDS[made.resource], "apiVersion": "apps/v1", **made.object}
    name = _revision_name(owner, hashes.get(uid_of(owner)))
    if name is None:
        return
    document = revision_document(owner, name)
    metadata = {
        **document["metadata"],
        "uid": f"{uid_of(owner)}-revision",
        "creationTimestamp": owner["metadata"]["creationTimestamp"],
    }
    yield Made(REVISIONS, made.namespace, {**document, "metadata": metadata})


_KINDS = {STATEFUL_SETS: "StatefulSet", DAEMON_SETS: "DaemonSet"}


def _revision_name(owner: Object, label: Optional[str]) -> Optional[str]:
    """A stateful set's pods carry the revision's name, a daemon set's its hash."""
    if owner["kind"] == "StatefulSet":
        return status_of(owner).get("updateRevision") or label
    return f"{owner['metadata']['name']}-{label}" if label else None
