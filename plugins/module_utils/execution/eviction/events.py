# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What the drain machine is told, and what it asks for. Plain values: no I/O on either side."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Mapping, Optional, Union

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import Node
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.pod import Pod


@dataclass(frozen=True)
class Now:
    """`mono`: Clock.monotonic(), for waits; `wall`: Clock.now(), beside the API's timestamps."""

    mono: float
    wall: datetime


@dataclass(frozen=True)
class Seen:
    """A watch (or the first list) showed this state of a Pod, Budget, Controller, Node, ..."""

    object: Any


@dataclass(frozen=True)
class Vanished:
    """The object, in its last known state, is gone."""

    object: Any


@dataclass(frozen=True)
class Listed:
    """All objects of a kind ("Pod") were read anew: whichever is not among `items` is gone."""

    kind: str
    items: tuple[Any, ...]


@dataclass(frozen=True)
class Answered:
    """The API answered the eviction or deletion of the pod with this UID."""

    uid: str
    status: int
    body: Mapping[str, Any]
    retry_after: Optional[float]


@dataclass(frozen=True)
class Lost:
    """No answer came to the eviction of this pod: it may or may not have been carried out."""

    uid: str
    problem: str


@dataclass(frozen=True)
class Read:
    """The answer to a ReadPod: the object that has the pod's name now, None when there is none.

    problem: why it could not be read; `pod` then means nothing.
    """

    uid: str
    pod: Optional[Pod]
    problem: str = ""


@dataclass(frozen=True)
class Restarted:
    """The answer to a Restart or a Forget of the Deployment with this UID; "" is success.

    wrote: False when another run had done the same.
    """

    uid: str
    problem: str = ""
    wrote: bool = True


@dataclass(frozen=True)
class Told:
    """The answer to a Tell; "" is success. It is no business of the machine's."""

    node: str
    problem: str = ""


Event = Union[Seen, Vanished, Listed, Answered, Lost, Read, Restarted, Told]


@dataclass(frozen=True)
class Evict:
    """Post one eviction, with the UID as precondition."""

    pod: Pod


@dataclass(frozen=True)
class Delete:
    """Delete the pod past its budgets (disable_eviction), with the UID as precondition."""

    pod: Pod


@dataclass(frozen=True)
class ReadPod:
    """Read what has the pod's name now: a lost answer or a 409 is reconciled by its UID."""

    pod: Pod


@dataclass(frozen=True)
class Restart:
    """Restart the rollout of a Deployment and record it there, in one write."""

    uid: str
    namespace: str
    name: str


@dataclass(frozen=True)
class Forget:
    """Remove the record of a finished restart."""

    uid: str
    namespace: str
    name: str


@dataclass(frozen=True)
class Tell:
    """Write on a node, in the annotation status_annotation, what it waits for; "" removes it.

    node: its newest known state.
    """

    node: Node
    text: str


Command = Union[Evict, Delete, ReadPod, Restart, Forget, Tell]
