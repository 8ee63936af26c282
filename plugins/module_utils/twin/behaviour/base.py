# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What every controller of a twin is: it looks at objects and says what it would write.

A controller has no state and does nothing itself. The engine tells it of each change, asks it for
the keys that the change concerns, and carries out what reconcile() returns for each key, through
the same API server that everybody else uses: optimistic concurrency, admission and garbage
collection are the server's. Time is the engine's, so that it can be virtual.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any, Iterable, Mapping, Optional, Protocol, Union

# A raw API object as JSON has it. Shared with the store: never changed in place.
Object = Mapping[str, Any]


@dataclass(frozen=True, order=True)
class Key:
    """resource: as kubectl names it, "pods" or "deployments.apps"; namespace: "" where none."""

    resource: str
    namespace: str
    name: str


@dataclass(frozen=True)
class Change:
    """`type` is ADDED, MODIFIED or DELETED; before: the last state, None when it was added."""

    type: str
    resource: str
    object: Object
    before: Optional[Object] = None


class View(Protocol):
    """The objects as they are at the moment."""

    def get(self, key: Key) -> Optional[Object]: ...

    def objects(self, resource: str, namespace: str = "") -> Iterable[Object]:
        """All, or those of one namespace, in the order of their creation."""

    def owned(self, resource: str, uid: str) -> Iterable[Object]:
        """Those whose controller (ownerReferences with controller: true) has this UID."""

    def dependents(self, uid: str) -> Iterable[tuple[str, Object]]:
        """The objects that name this UID among their owners, each with its resource."""

    def pods_on(self, node: str) -> Iterable[Object]:
        """The pods whose spec.nodeName this is."""

    def labelled(self, resource: str, namespace: str, label: str, value: str) -> Iterable[Object]:
        """Those of a namespace that carry this label with this value, by an index: budgets and
        replica sets find their pods so, without a look at all pods of the namespace."""

    def unscheduled(self) -> Iterable[Object]:
        """The pods without spec.nodeName, in the order of their creation, by an index: what the
        scheduler and the scaler have to place."""


@dataclass(frozen=True)
class Create:
    resource: str
    object: Object


@dataclass(frozen=True)
class Update:
    """Replaces the object, or with `status` only its status. A conflict is no failure: the change
    that caused it brings the key back."""

    resource: str
    object: Object
    status: bool = False


@dataclass(frozen=True)
class Delete:
    """grace_seconds: None for the object's own; 0 removes a pod at once."""

    key: Key
    uid: str
    grace_seconds: Optional[int] = None


@dataclass(frozen=True)
class Bind:
    """pods/binding: the scheduler's only write of a placement."""

    pod: Key
    uid: str
    node: str


@dataclass(frozen=True)
class Later:
    """Asks for the same key again at this time (seconds since the epoch), whatever changes."""

    at: float


Act = Union[Create, Update, Delete, Bind, Later]


class Controller(Protocol):
    """`watches`: the resources whose changes it wants to hear of."""

    @property
    def name(self) -> str: ...

    @property
    def watches(self) -> tuple[str, ...]: ...

    def keys(self, change: Change, view: View) -> Iterable[Key]:
        """The keys that a change concerns, in the order in which they are to be reconciled."""

    def reconcile(self, key: Key, view: View, now: float, draw: Random) -> Iterable[Act]:
        """What is to be written for this key now (seconds since the epoch); () when all is well.

        draw: the only source of chance, seeded by the engine.
        """
