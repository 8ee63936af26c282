# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The garbage collector: what becomes of the objects that a deleted one owned.

Source: pkg/controller/garbagecollector and the namespace controller, 1.37. An object goes when none
of its owners is left; before an owner goes, those who asked for it wait for what blocks it
(foreground) or cut it off (orphan).
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Iterable

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.base import (
    Act,
    Change,
    Delete,
    Key,
    Object,
    Update,
    View,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.raw import (
    CLAIMS,
    DAEMON_SETS,
    DEPLOYMENTS,
    FOREGROUND,
    JOBS,
    ORPHAN,
    PODS,
    REPLICA_SETS,
    REVISIONS,
    STATEFUL_SETS,
    key_of,
    leaving,
    uid_of,
    with_metadata,
)

# Controllers that own others, and what is owned by one.
_OWNERS = (
    DEPLOYMENTS,
    REPLICA_SETS,
    STATEFUL_SETS,
    DAEMON_SETS,
    JOBS,
    "cronjobs.batch",
    "replicationcontrollers",
)
_OWNED = (REPLICA_SETS, PODS, JOBS, REVISIONS, CLAIMS)
# Owners that are no controllers: what belongs to them goes with them all the same.
_PLAIN_OWNERS = ("nodes", "configmaps", "secrets", "services", "serviceaccounts", "namespaces")
# A key that is no object: name is the UID of an owner that is gone.
GONE = "gone"


@dataclass(frozen=True)
class GarbageCollector:
    name = "garbage_collector"
    watches = tuple(dict.fromkeys((*_OWNERS, *_OWNED, *_PLAIN_OWNERS)))

    def keys(self, change: Change, view: View) -> Iterable[Key]:
        raw = change.object
        found = []
        if change.type == "DELETED":
            found.append(Key(GONE, raw["metadata"].get("namespace", ""), uid_of(raw)))
        elif leaving(raw) and raw["metadata"].get("finalizers"):
            found.append(key_of(change.resource, raw))
        # What leaves may be what its owner waits for.
        for owner in raw["metadata"].get("ownerReferences") or ():
            found.extend(_waiting(owner, raw, view) if change.type == "DELETED" else ())
        return found

    def reconcile(self, key: Key, view: View, now: float, draw: Random) -> Iterable[Act]:  # noqa: ARG002
        if key.resource == GONE:
            return [act for one in _owned_by(key.name, view) for act in _collected(one, key.name)]
        raw = view.get(key)
        if raw is None or not leaving(raw):
            return ()
        finalizers = raw["metadata"].get("finalizers") or ()
        dependents = _owned_by(uid_of(raw), view)
        if ORPHAN in finalizers:
            cut = [_cut_off(resource, one, uid_of(raw)) for resource, one in dependents]
            return [*cut, _without(key, raw, ORPHAN)]
        if FOREGROUND in finalizers:
            if not any(_blocks(one, uid_of(raw)) for _resource, one in dependents):
                return (_without(key, raw, FOREGROUND),)
            return [
                Delete(key_of(resource, one), uid_of(one))
                for resource, one in dependents
                if not leaving(one)
            ]
        return ()


def _owned_by(uid: str, view: View) -> list[tuple[str, Object]]:
    return list(view.dependents(uid))


def _waiting(owner: Object, raw: Object, view: View) -> Iterable[Key]:
    for resource in _OWNERS:
        key = Key(resource, raw["metadata"].get("namespace", ""), owner["name"])
        found = view.get(key)
        if found is not None and uid_of(found) == owner["uid"] and leaving(found):
            yield key


def _collected(owned: tuple[str, Object], uid: str) -> Iterable[Act]:
    resource, raw = owned
    others = [one for one in raw["metadata"]["ownerReferences"] if one["uid"] != uid]
    if others:
        return (_cut_off(resource, raw, uid),)
    return () if leaving(raw) else (Delete(key_of(resource, raw), uid_of(raw)),)


def _cut_off(resource: str, raw: Object, uid: str) -> Act:
    others = [one for one in raw["metadata"]["ownerReferences"] if one["uid"] != uid]
    return Update(resource, with_metadata(raw, ownerReferences=others))


def _blocks(raw: Object, uid: str) -> bool:
    return any(
        one["uid"] == uid and one.get("blockOwnerDeletion")
        for one in raw["metadata"].get("ownerReferences") or ()
    )


def _without(key: Key, raw: Object, finalizer: str) -> Act:
    rest = [one for one in raw["metadata"].get("finalizers") or () if one != finalizer]
    return Update(key.resource, with_metadata(raw, finalizers=rest))
