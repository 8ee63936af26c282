# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""ControllerRevisions: the templates that a stateful set or a daemon set has had.

Source: pkg/controller/history, 1.37, with this collection's own hash (see templates).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterable, Mapping, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.base import (
    Act,
    Create,
    Delete,
    Object,
    Update,
    View,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.raw import (
    REVISIONS,
    Raw,
    key_of,
    reference_to,
    uid_of,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.templates import hash_of

# Of pods: a stateful set's carry the name of the revision, a daemon set's its hash.
HASH_LABEL = "controller-revision-hash"
# Of revisions of stateful sets; those of daemon sets have the pods' label.
_OWN_LABEL = "controller.kubernetes.io/hash"


@dataclass(frozen=True)
class Revision:
    """hash: the value of the pods' label; name: the object's."""

    name: str
    hash: str
    template: Mapping[str, Any]
    number: int


def revision_of(owner: Object, found: Iterable[Object]) -> tuple[Revision, tuple[Act, ...]]:
    """The revision of the present template, and what is to be written for it."""
    template = owner["spec"]["template"]
    known = [_parsed(one) for one in found]
    newest = max((one.number for one in known), default=0)
    for raw, one in zip(found, known):
        if one.template == template:
            if one.number == newest:
                return one, ()
            # A template that is back is the newest again.
            return one, (Update(REVISIONS, {**raw, "revision": newest + 1}),)
    name = hash_of(template)
    made = Revision(f"{owner['metadata']['name']}-{name}", name, template, newest + 1)
    return made, (Create(REVISIONS, _raw(owner, made)),)


def named(found: Iterable[Object], name: str) -> Optional[Revision]:
    return next((_parsed(one) for one in found if one["metadata"]["name"] == name), None)


def revisions_of(owner: Object, view: View) -> list[Object]:
    return list(view.owned(REVISIONS, uid_of(owner)))


def revision_document(owner: Object, name: str) -> Raw:
    """The object of the present template under a name that pods know already."""
    found = name[len(owner["metadata"]["name"]) + 1 :]
    return _raw(owner, Revision(name, found, owner["spec"]["template"], 1))


def surplus(owner: Object, found: Iterable[Object], used: Iterable[str]) -> Iterable[Act]:
    """The oldest that no pod uses go, but for revisionHistoryLimit of them.

    used: names or hashes.
    """
    kept = frozenset(used)
    spare = [one for one in found if not kept & {_parsed(one).hash, _parsed(one).name}]
    limit = int(owner["spec"].get("revisionHistoryLimit", 10))
    ordered = sorted(spare, key=lambda one: int(one["revision"]))
    for one in ordered[: max(0, len(ordered) - limit)]:
        yield Delete(key_of(REVISIONS, one), uid_of(one))


def _parsed(raw: Object) -> Revision:
    labels = raw["metadata"].get("labels") or {}
    name = raw["metadata"]["name"]
    template = ((raw.get("data") or {}).get("spec") or {}).get("template") or {}
    plain = {key: value for key, value in template.items() if key != "$patch"}
    found = labels.get(HASH_LABEL) or labels.get(_OWN_LABEL) or name.rpartition("-")[2]
    return Revision(name, found, plain, int(raw.get("revision") or 0))


def _raw(owner: Object, made: Revision) -> Raw:
    labels = (made.template.get("metadata") or {}).get("labels") or {}
    label = HASH_LABEL if owner["kind"] == "DaemonSet" else _OWN_LABEL
    return {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": {
            "name": made.name,
            "namespace": owner["metadata"]["namespace"],
            "labels": {**labels, label: made.hash},
            "ownerReferences": [reference_to(owner)],
        },
        "data": {"spec": {"template": {"$patch": "replace", **made.template}}},
        "revision": made.number,
    }
