# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The faults that pods, nodes and volume attachments have, for as long as it is their time.

They are the same marks by which a test asks for them (behaviour/kubelet.py): annotations and labels
that the simulated kubelets obey, and a finalizer that keeps an attachment. What a mark replaced
stands in an annotation beside it, and comes back when the fault is over.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from random import Random
from typing import Any, Iterable, Iterator, Mapping, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.base import (
    Act,
    Change,
    Controller,
    Key,
    Later,
    Object,
    Update,
    View,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.raw import (
    ATTACHMENTS,
    NODES,
    PODS,
    annotations_of,
    key_of,
    labels_of,
    node_of,
    uid_of,
    with_metadata,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.faults import Fault

# What the marks of an object have replaced: {"annotations": {key: value or null}, "labels": ...}.
RECORD = "twin.evenkeel.dev/before-fault"
# As the finalizer of a driver's attacher does when the detachment never ends.
FINALIZER = "twin.evenkeel.dev/stuck"
_ANNOTATIONS, _LABELS = "annotations", "labels"
_STRUCK = (PODS, NODES, ATTACHMENTS)

# Part of the metadata and key, to the value that is set there.
Marks = Mapping[tuple[str, str], str]


def object_faults(faults: Sequence[Fault], start: float, seed: int) -> tuple[Controller, ...]:
    """The controller of these faults; none when no object has one."""
    struck = tuple(fault for fault in faults if fault.strikes in _STRUCK)
    return (ObjectFaults(struck, start, seed),) if struck else ()


@dataclass(frozen=True)
class ObjectFaults:
    """start: the twin's, in seconds since the epoch."""

    faults: tuple[Fault, ...]
    start: float
    seed: int

    name = "faults"
    watches = _STRUCK

    def keys(self, change: Change, view: View) -> Iterable[Key]:  # noqa: ARG002
        return () if change.type == "DELETED" else (key_of(change.resource, change.object),)

    def reconcile(self, key: Key, view: View, now: float, draw: Random) -> Iterable[Act]:  # noqa: ARG002
        found = view.get(key)
        if found is None:
            return
        mine = list(self._of(key.resource, found))
        elapsed = now - self.start
        active = [fault for fault in mine if fault.when.holds(elapsed)]
        wanted = _held(found, active) if key.resource == ATTACHMENTS else _marked(found, active)
        if wanted != found:
            yield Update(key.resource, wanted)
        edges = [edge for fault in mine for edge in _edges(fault) if edge > elapsed]
        if edges:
            yield Later(self.start + min(edges))

    def _of(self, resource: str, found: Object) -> Iterator[Fault]:
        """An object's own chance is drawn once for all times."""
        for number, fault in enumerate(self.faults):
            if fault.strikes == resource and _matches(fault, resource, found):
                chance = Random(f"{self.seed} {number} {uid_of(found)}").random()
                if chance < fault.when.probability:
                    yield fault


def _edges(fault: Fault) -> Iterator[float]:
    """When it begins and ends, if it does."""
    yield fault.when.at
    if fault.when.lasts != math.inf:
        yield fault.when.at + fault.when.lasts


def _matches(fault: Fault, resource: str, found: Object) -> bool:
    where, metadata, spec = fault.where, found["metadata"], found.get("spec") or {}
    name, node = metadata["name"], node_of(found) if resource == PODS else ""
    if resource == ATTACHMENTS:
        name = (spec.get("source") or {}).get("persistentVolumeName") or ""
        node = spec.get("nodeName") or ""
    return (
        where.namespace in ("", metadata.get("namespace", ""))
        and where.name in ("", name)
        and where.node in ("", node)
        and where.selector.matches(labels_of(found))
    )


# --- marks ---------------------------------------------------------------------------------


def _marks(faults: Iterable[Fault]) -> Marks:
    """Of two faults that want the same mark the first in the script has its way."""
    marks: dict[tuple[str, str], str] = {}
    for fault in faults:
        mark = (_ANNOTATIONS, "behaviour")
        if fault.kind == "silent":
            marks.setdefault((_LABELS, "kubelet"), "stopped")
        elif fault.kind == "not_ready":
            marks.setdefault(mark, "not-ready")
        elif fault.kind == "crash_loop":
            marks.setdefault(mark, "crash-loop")
        elif fault.seconds == math.inf:
            marks.setdefault(mark, "never-stops")
        else:
            marks.setdefault((_ANNOTATIONS, "stop-seconds"), f"{fault.seconds:g}")
    return marks


def _marked(found: Object, active: Iterable[Fault]) -> Object:
    """As it was before any fault, with the marks of those that are active."""
    marks = _marks(active)
    record = json.loads(annotations_of(found).get(RECORD) or "{}")
    parts: dict[str, dict[str, Any]] = {
        _ANNOTATIONS: {k: v for k, v in annotations_of(found).items() if k != RECORD},
        _LABELS: dict(labels_of(found)),
    }
    for part, replaced in record.items():
        parts[part] = _without_none({**parts[part], **replaced})
    if marks:
        before: dict[str, dict[str, Any]] = {}
        for (part, key), value in marks.items():
            before.setdefault(part, {})[key] = parts[part].get(key)
            parts[part][key] = value
        parts[_ANNOTATIONS][RECORD] = json.dumps(before, sort_keys=True)
    changed = {
        part: values
        for part, values in parts.items()
        if values != (found["metadata"].get(part) or {})
    }
    return with_metadata(found, **changed) if changed else found


def _without_none(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}


def _held(attachment: Object, active: Sequence[Fault]) -> Object:
    """Kept when its deletion begins; one that is let go goes, if it was deleted meanwhile."""
    finalizers = list(attachment["metadata"].get("finalizers") or ())
    if bool(active) is (FINALIZER in finalizers):
        return attachment
    if active:
        return with_metadata(attachment, finalizers=[*finalizers, FINALIZER])
    return with_metadata(attachment, finalizers=[one for one in finalizers if one != FINALIZER])
