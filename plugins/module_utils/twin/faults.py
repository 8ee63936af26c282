# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Faults on demand: a script by which a twin has bad days (docs/guides/twin_faults.md).

    - {fault: status, code: 429, retry_after: 1, verb: create, resource: pods/eviction, nth: 3}
    - {fault: latency, seconds: 2, probability: 0.1}
    - {fault: not_ready, name: workers-2, at: 5m, for: 10m}

Each entry says what happens (`fault` and its own keys), where (verb, resource, namespace, name,
selector, node) and when (at, for, nth, times, probability). KINDS has the keys of each fault.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Callable, Mapping, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.duration import parse_duration
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import InvalidOption
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.selector import (
    InvalidSelector,
    LabelSelector,
    parse_selector_text,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.raw import (
    ATTACHMENTS,
    NODES,
    PODS,
)

# What a fault strikes: requests, only watches among them, or the objects of a resource.
REQUESTS, WATCHES = "requests", "watches"
VERBS = ("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection")

_OBJECTS = ("at", "for", "probability")
_COUNTED = (*_OBJECTS, "nth", "times")
_REQUEST = ("verb", "resource", "namespace", "name", "selector", *_COUNTED)
_WATCH = ("resource", "namespace", *_COUNTED)


@dataclass(frozen=True)
class Kind:
    """One sort of fault. own: the keys that say what happens; needs: those of them without a
    default; keys: where and when."""

    strikes: str
    keys: tuple[str, ...]
    own: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()


KINDS: Mapping[str, Kind] = {
    # An answer that is given instead of carrying the request out.
    "status": Kind(REQUESTS, _REQUEST, ("code", "retry_after", "message"), ("code",)),
    "latency": Kind(REQUESTS, _REQUEST, ("seconds",), ("seconds",)),
    # The connection breaks, before the request was carried out or after it.
    "reset": Kind(REQUESTS, _REQUEST, ("moment",)),
    "truncate": Kind(REQUESTS, _REQUEST, ("share",)),
    # Carried out; then silence, and the connection breaks.
    "stall": Kind(REQUESTS, _REQUEST, ("seconds",), ("seconds",)),
    "deny_eviction": Kind(
        REQUESTS,
        ("namespace", "name", "selector", *_COUNTED),
        ("message", "webhook"),
        ("message",),
    ),
    "watch_reset": Kind(WATCHES, _WATCH, ("events",)),
    "watch_expired": Kind(WATCHES, _WATCH, ("events",)),
    "slow_termination": Kind(
        PODS, ("namespace", "name", "selector", "node", *_OBJECTS), ("seconds",)
    ),
    "crash_loop": Kind(PODS, ("namespace", "name", "selector", "node", *_OBJECTS)),
    # Says so itself, or is not heard of any more.
    "not_ready": Kind(NODES, ("name", "selector", *_OBJECTS)),
    "silent": Kind(NODES, ("name", "selector", *_OBJECTS)),
    "stuck_volume": Kind(ATTACHMENTS, ("name", "node", *_OBJECTS)),
}


@dataclass(frozen=True)
class Where:
    """Everything that is given must hold; what is empty is not asked. resources: as RBAC names
    them with their group, "pods/eviction", "deployments.apps". name: of the object; of a stuck
    volume, of the PersistentVolume. node: on which a pod or an attachment is."""

    verbs: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    namespace: str = ""
    name: str = ""
    node: str = ""
    selector: LabelSelector = field(default_factory=lambda: parse_selector_text(""))


@dataclass(frozen=True)
class When:
    """at: seconds after the twin's start; lasts: seconds from there on. nth: the first of the
    matching requests that suffers, from 1; times: how many do, 0 for all. probability: of each."""

    at: float = 0.0
    lasts: float = math.inf
    nth: int = 1
    times: int = 0
    probability: float = 1.0

    def holds(self, elapsed: float) -> bool:
        """Is it time? elapsed: seconds since the twin's start."""
        return self.at <= elapsed < self.at + self.lasts

    def counts(self, number: int) -> bool:
        """Is the number-th matching request one of those that suffer?"""
        return number >= self.nth and (not self.times or number < self.nth + self.times)


@dataclass(frozen=True)
class Fault:
    """One entry. kind: a key of KINDS; the fields after `when` are those that its kind has."""

    kind: str
    where: Where
    when: When
    seconds: float = math.inf
    code: int = 0
    retry_after: Optional[int] = None
    message: str = ""
    moment: str = "before"
    share: float = 0.5
    events: int = 0
    webhook: str = "faults.twin.evenkeel.dev"

    @property
    def strikes(self) -> str:
        return KINDS[self.kind].strikes


# --- reading -------------------------------------------------------------------------------


def parse_faults(document: Any) -> tuple[Fault, ...]:
    """From a list of mappings; None is no fault. Raises InvalidOption (faults), which names the
    entry, what is wrong with it and what to do."""
    if document is None:
        return ()
    if not isinstance(document, (list, tuple)):
        raise InvalidOption("faults", "it is no list.", "Begin each entry with a dash.")
    return tuple(_fault(entry, f"entry {number}") for number, entry in enumerate(document, 1))


def _fault(entry: Any, place: str) -> Fault:
    if not isinstance(entry, Mapping):
        raise _bad(place, f"{entry!r} is no mapping.", "Write keys and values.")
    name = entry.get("fault")
    if not isinstance(name, str) or name not in KINDS:
        problem = "fault is missing." if name is None else f"no fault {name!r}."
        raise _bad(place, problem, f"Use one of {', '.join(KINDS)}.")
    kind, place = KINDS[name], f"{place} ({name})"
    known = (*kind.own, *kind.keys)
    unknown = sorted(str(key) for key in entry if key not in ("fault", *known))
    if unknown:
        raise _bad(place, f"unknown key {unknown[0]}.", f"Known are {', '.join(known)}.")
    for key in kind.needs:
        if entry.get(key) is None:
            raise _bad(place, f"{key} is missing.", "It has no default.")
    given = {key: _READERS[key](value, f"{place}: {key}") for key, value in entry.items()}
    own = {key: given[key] for key in kind.own if key in given}
    return Fault(name, _where(given), _when(given), **own)


def _where(given: Mapping[str, Any]) -> Where:
    words = {key: given[key] for key in ("namespace", "name", "node", "selector") if key in given}
    return Where(given.get("verb", ()), given.get("resource", ()), **words)


def _when(given: Mapping[str, Any]) -> When:
    """The n-th request alone suffers, unless it is said how many do."""
    times = given.get("times", 1 if "nth" in given else 0)
    lasts = given.get("for", math.inf)
    chance = given.get("probability", 1.0)
    return When(given.get("at", 0.0), lasts, given.get("nth", 1), times, chance)


def _text(value: Any, place: str) -> str:
    if not isinstance(value, str) or not value:
        raise _bad(place, f"{value!r} is no text.", "Write a name or a sentence.")
    return value


def _texts(value: Any, place: str) -> tuple[str, ...]:
    return tuple(_text(one, place) for one in (value if isinstance(value, list) else [value]))


def _verbs(value: Any, place: str) -> tuple[str, ...]:
    verbs = _texts(value, place)
    for verb in verbs:
        _one_of(verb, place, VERBS)
    return verbs


def _one_of(value: Any, place: str, known: tuple[str, ...]) -> str:
    if value not in known:
        raise _bad(place, f"no {value!r}.", f"Use one of {', '.join(known)}.")
    return str(value)


def _seconds(value: Any, place: str) -> float:
    try:
        return parse_duration(value)
    except ValueError as error:
        raise _bad(place, f"{error}", "") from error


def _selector(value: Any, place: str) -> LabelSelector:
    try:
        return parse_selector_text(_text(value, place))
    except InvalidSelector as error:
        raise _bad(place, f"{error}.", "Write app=web, or app in (web,api).") from error


def _whole(least: int, most: float = math.inf) -> Callable[[Any, str], int]:
    def read(value: Any, place: str) -> int:
        number = isinstance(value, int) and not isinstance(value, bool)
        if not number or not least <= value <= most:
            limits = f"from {least} on" if most == math.inf else f"from {least} to {most}"
            raise _bad(place, f"{value!r} is no whole number {limits}.", "Correct it.")
        return int(value)

    return read


def _share(value: Any, place: str) -> float:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not 0 <= value <= 1:
        raise _bad(place, f"{value!r} is no number from 0 to 1.", "Write 0.25 for a quarter.")
    return float(value)


def _bad(place: str, problem: str, remedy: str) -> InvalidOption:
    return InvalidOption("faults", f"{place}: {problem}", remedy)


_READERS: Mapping[str, Callable[[Any, str], Any]] = {
    "fault": _text,
    "verb": _verbs,
    "resource": _texts,
    "namespace": _text,
    "name": _text,
    "node": _text,
    "selector": _selector,
    "at": _seconds,
    "for": _seconds,
    "nth": _whole(1),
    "times": _whole(1),
    "probability": _share,
    "seconds": _seconds,
    "code": _whole(400, 599),
    "retry_after": _whole(0),
    "message": _text,
    "webhook": _text,
    "moment": lambda value, place: _one_of(value, place, ("before", "after")),
    "share": _share,
    "events": _whole(0),
}
