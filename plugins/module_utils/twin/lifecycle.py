# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How objects come, change and go: what the API server does around each write.

Source: k8s.io/apiserver pkg/registry/generic/registry/store.go and pkg/registry/rest, and the
strategies of pods and namespaces under pkg/registry/core, 1.37.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from random import Random
from typing import Any, Callable, Mapping, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.times import (
    format_instant,
    instant_at,
    parse_instant,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin import answers, names, validation
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.base import Key, Object
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.raw import (
    FOREGROUND,
    ORPHAN,
    finished,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.defaults import (
    with_defaults,
    with_spec_defaults,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.kinds import (
    DEFINITIONS,
    Kind,
    Kinds,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.store import Store

Raw = dict[str, Any]

# What a client cannot change, whatever it sends.
_SYSTEM_FIELDS = (
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
    "namespace",
    "name",
)


@dataclass(frozen=True)
class DeleteOptions:
    """uid, resource_version: preconditions, "" for none. propagation: "" for the kind's own."""

    grace_seconds: Optional[int] = None
    uid: str = ""
    resource_version: str = ""
    propagation: str = ""
    dry_run: bool = False


class Lifecycle:
    """Thread-safe. now(): seconds since the epoch. draw: where UIDs and name suffixes come from."""

    def __init__(self, store: Store, kinds: Kinds, now: Callable[[], float], draw: Random) -> None:
        self._store = store
        self._kinds = kinds
        self._now = now
        self._draw = draw

    # Coming

    def create(
        self, kind: Kind, raw: Mapping[str, Any], namespace: str, *, dry_run: bool = False
    ) -> Object:
        """Raises Refusal: 409 AlreadyExists, 422, 404 or 403 for a namespace that takes none."""
        with self._store.lock:
            made = self._prepared(kind, raw, namespace)
            key = Key(kind.resource, namespace, made["metadata"]["name"])
            if self._store.get(key) is not None:
                raise answers.already_exists(kind, key.name)
            return made if dry_run else self._put(kind, made)

    def restore(self, kind: Kind, raw: Mapping[str, Any]) -> Object:
        """Puts an object in as it was in another cluster: its UID, its age and its status too."""
        with self._store.lock:
            return self._put(kind, {"kind": kind.name, "apiVersion": kind.api_version, **raw})

    def _prepared(self, kind: Kind, raw: Mapping[str, Any], namespace: str) -> Raw:
        given = dict(raw.get("metadata") or {})
        if given.get("resourceVersion"):
            raise answers.versioned_creation()
        if not given.get("name") and given.get("generateName"):
            given["name"] = names.generated(given["generateName"], self._draw)
        names.check(kind, given.get("name") or "")
        self._check_namespace(kind, given, namespace)
        metadata = {
            **{key: value for key, value in given.items() if value not in (None, {}, [])},
            "uid": str(uuid.UUID(int=self._draw.getrandbits(128), version=4)),
            "creationTimestamp": format_instant(instant_at(self._now())),
        }
        for field in ("deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"):
            metadata.pop(field, None)
        if kind.namespaced:
            metadata["namespace"] = namespace
        if kind.generation:
            metadata["generation"] = 1
        body = {"kind": kind.name, "apiVersion": kind.api_version}
        rest = {key: value for key, value in raw.items() if key not in (*body, "metadata")}
        if "status" in kind.subresources and kind.resource != "nodes":
            rest.pop("status", None)
        made = with_defaults(kind, {**body, "metadata": metadata, **rest})
        validation.check_new(kind, made)
        return made

    def _check_namespace(self, kind: Kind, given: Mapping[str, Any], namespace: str) -> None:
        if not kind.namespaced:
            return
        if given.get("namespace") not in (None, "", namespace):
            raise answers.bad_request(answers.OTHER_NAMESPACE)
        found = self._store.get(Key("namespaces", "", namespace))
        if found is None:
            raise answers.not_found(self._kinds.named("namespaces"), namespace)
        if found["metadata"].get("deletionTimestamp"):
            raise answers.namespace_terminating(kind, str(given.get("name") or ""), namespace)

    # Changing

    def update(
        self,
        kind: Kind,
        key: Key,
        change: Callable[[Object], Mapping[str, Any]],
        *,
        subresource: str = "",
        dry_run: bool = False,
    ) -> Object:
        """Stores what `change` makes of the object as it is; a change of nothing is no write.

        Raises Refusal: 404, 409 for another resourceVersion or UID than the result carries, and
        whatever `change` raises.
        """
        with self._store.lock:
            found = self._store.get(key)
            if found is None:
                raise answers.not_found(kind, key.name)
            result = self._changed(kind, found, change(found), subresource)
            if result == found or dry_run:
                return result
            if _may_go(result):
                return self._remove(kind, key, result)
            return self._put(kind, result)

    def _changed(
        self, kind: Kind, found: Object, wanted: Mapping[str, Any], subresource: str
    ) -> Raw:
        old, new = found["metadata"], dict(wanted.get("metadata") or {})
        _check_identity(kind, old, new)
        metadata = {key: value for key, value in new.items() if value not in (None, {}, [])}
        for field in _SYSTEM_FIELDS:
            metadata.pop(field, None)
            if field in old:
                metadata[field] = old[field]
        metadata["resourceVersion"] = old["resourceVersion"]
        if subresource == "status":
            return _with_status(kind, found, metadata, wanted.get("status") or {})
        result = {**wanted, "kind": kind.name, "apiVersion": kind.api_version}
        result["metadata"] = metadata
        if result.get("spec") != found.get("spec"):
            result = with_spec_defaults(kind, result)
        if "status" in kind.subresources:
            result.pop("status", None)
            if "status" in found:
                result["status"] = found["status"]
        validation.check_change(kind, found, result)
        if kind.generation and _spec_changed(kind, found, result):
            metadata["generation"] = int(old.get("generation") or 0) + 1
        return result

    # Going

    def delete(self, kind: Kind, key: Key, options: DeleteOptions) -> tuple[Object, bool]:
        """Returns the object and whether it is gone; a graceful deletion has only begun.

        Raises Refusal: 404, 409 for a precondition that does not hold.
        """
        with self._store.lock:
            found = self._store.get(key)
            if found is None:
                raise answers.not_found(kind, key.name)
            _check_preconditions(kind, found, options)
            marked = self._marked(kind, found, options)
            if options.dry_run:
                return marked, _may_go(marked)
            if _may_go(marked):
                if kind.resource == "pods" and marked != found:
                    # Watchers see a pod's last second, too.
                    marked = dict(self._put(kind, marked))
                return self._remove(kind, key, marked), True
            return (self._put(kind, marked) if marked != found else found), False

    def _marked(self, kind: Kind, found: Object, options: DeleteOptions) -> Raw:
        metadata = dict(found["metadata"])
        finalizers = [
            one for one in metadata.get("finalizers") or () if one not in (FOREGROUND, ORPHAN)
        ]
        if options.propagation == "Foreground":
            finalizers.append(FOREGROUND)
        elif options.propagation == "Orphan":
            finalizers.append(ORPHAN)
        elif not options.propagation:
            finalizers = list(metadata.get("finalizers") or ())
        metadata["finalizers"] = finalizers
        if not finalizers:
            del metadata["finalizers"]
        grace = _grace(kind, found, options)
        earlier = int(metadata.get("deletionGracePeriodSeconds") or 0)
        if "deletionTimestamp" not in metadata:
            metadata["deletionTimestamp"] = format_instant(instant_at(self._now() + grace))
            metadata["deletionGracePeriodSeconds"] = grace
            if "generation" in metadata:
                metadata["generation"] += 1
        elif options.grace_seconds is not None and grace < earlier:
            ends = parse_instant(metadata["deletionTimestamp"]).timestamp() - earlier + grace
            metadata["deletionTimestamp"] = format_instant(instant_at(ends))
            metadata["deletionGracePeriodSeconds"] = grace
        marked = {**found, "metadata": metadata}
        if kind.resource == "namespaces":
            marked["status"] = {**(found.get("status") or {}), "phase": "Terminating"}
        return marked

    # Inside

    def _put(self, kind: Kind, raw: Mapping[str, Any]) -> Object:
        stored = self._store.put(kind.resource, raw)
        if kind.resource == DEFINITIONS:
            self._kinds.install(stored)
        return stored

    def _remove(self, kind: Kind, key: Key, last: Mapping[str, Any]) -> Object:
        """Returns it as the client that removed it sees it last."""
        gone = self._store.remove(key)
        if kind.resource == DEFINITIONS:
            self._kinds.remove(last)
        version = (gone or last)["metadata"]["resourceVersion"]
        return {**last, "metadata": {**last["metadata"], "resourceVersion": version}}


def _check_identity(kind: Kind, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    """Of the metadata: is the change one of this object, as it is now? Raises Refusal."""
    if new.get("name") not in (None, "", old["name"]):
        raise answers.bad_request(answers.other_name(new["name"], old["name"]))
    if new.get("uid") not in (None, "", old["uid"]):
        text = f'Invalid value: "{new["uid"]}": field is immutable'
        raise answers.invalid(kind, old["name"], [("metadata.uid", "FieldValueInvalid", text)])
    if not new.get("resourceVersion") and not kind.unconditional:
        raise answers.unversioned(kind, old["name"])
    if new.get("resourceVersion") not in (None, "", old["resourceVersion"]):
        raise answers.conflict(kind, old["name"], answers.MODIFIED)


def _with_status(
    kind: Kind, found: Object, metadata: Mapping[str, Any], given: Mapping[str, Any]
) -> Raw:
    """Labels and annotations come along, but for custom resources and Deployments' labels."""
    status = dict(given)
    if kind.custom:
        return {**found, "status": status}
    kept = dict(metadata)
    if kind.resource == "deployments.apps":
        kept.pop("labels", None)
        if "labels" in found["metadata"]:
            kept["labels"] = found["metadata"]["labels"]
    if kind.resource == "pods":
        status.setdefault("qosClass", (found.get("status") or {}).get("qosClass"))
        if status.get("conditions"):
            # The API writes both, whether they say something or not.
            times = {"lastProbeTime": None, "lastTransitionTime": None}
            status["conditions"] = [{**times, **one} for one in status["conditions"]]
    return {**found, "metadata": kept, "status": status}


def _spec_changed(kind: Kind, old: Object, new: Mapping[str, Any]) -> bool:
    """A Deployment's annotations count, because its sets carry them."""
    ignored = ("metadata", "status", "kind", "apiVersion")
    before = {key: value for key, value in old.items() if key not in ignored}
    after = {key: value for key, value in new.items() if key not in ignored}
    if kind.resource == "deployments.apps":
        before["annotations"] = old["metadata"].get("annotations") or {}
        after["annotations"] = new["metadata"].get("annotations") or {}
    return before != after


def _may_go(raw: Mapping[str, Any]) -> bool:
    """Deleted, its grace period granted, and nobody has anything left to do before it goes."""
    metadata = raw["metadata"]
    return bool(
        metadata.get("deletionTimestamp")
        and not metadata.get("deletionGracePeriodSeconds")
        and not metadata.get("finalizers")
        and not (raw.get("spec") or {}).get("finalizers")
    )


def meets_preconditions(found: Object, options: DeleteOptions) -> bool:
    metadata = found["metadata"]
    return options.uid in ("", metadata["uid"]) and options.resource_version in (
        "",
        metadata["resourceVersion"],
    )


def _check_preconditions(kind: Kind, found: Object, options: DeleteOptions) -> None:
    metadata = found["metadata"]
    if options.uid not in ("", metadata["uid"]):
        raise answers.uid_not_deleted(kind, metadata["name"], options.uid, metadata["uid"])
    version = metadata["resourceVersion"]
    if options.resource_version not in ("", version):
        raise answers.version_not_deleted(kind, metadata["name"], options.resource_version, version)


def _grace(kind: Kind, found: Object, options: DeleteOptions) -> int:
    """Seconds; 0 for all but pods, and for a pod that runs nowhere or has ended."""
    if kind.resource != "pods":
        return 0
    spec = found.get("spec") or {}
    if not spec.get("nodeName") or finished(found):
        return 0
    if options.grace_seconds is not None:
        # A negative one is taken for a second: the API server's own rule.
        return options.grace_seconds if options.grace_seconds >= 0 else 1
    return int(spec.get("terminationGracePeriodSeconds") or 0)
