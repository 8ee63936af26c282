# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The faults that requests and watches suffer: which of them strikes, and how."""

from __future__ import annotations

import threading
from random import Random
from typing import Callable, Optional, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin import answers
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.raw import labels_of
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.faults import (
    REQUESTS,
    WATCHES,
    Fault,
    Where,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.kinds import Kinds
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.messages import (
    Request,
    Response,
    answered,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.routes import Route, route
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.store import Store
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.treatment import (
    UNDISTURBED,
    Treatment,
)

# As the API server words them where the script does not.
_STATUS = {
    403: ("Forbidden", "forbidden"),
    409: ("Conflict", "Operation cannot be fulfilled: the object has been modified"),
    410: ("Expired", "The resourceVersion for the provided watch is too old."),
    429: ("TooManyRequests", "Too many requests, please try again later."),
    500: ("InternalError", "Internal error occurred: etcdserver: request timed out"),
    503: ("ServiceUnavailable", "The server is currently unable to handle the request"),
    504: ("Timeout", "Timeout: request did not complete within the allotted timeout"),
}
_EVICTION = "pods/eviction"


class RequestFaults:
    """treatment.Script. Thread-safe: requests are counted in the order in which they ask.

    elapsed(): seconds since the twin's start. Every fault counts the requests that it matches while
    it is its time; of those that would strike one request the first in the script does.
    """

    def __init__(
        self,
        faults: Sequence[Fault],
        seed: int,
        elapsed: Callable[[], float],
        store: Store,
        kinds: Kinds,
    ) -> None:
        self._faults = [fault for fault in faults if fault.strikes in (REQUESTS, WATCHES)]
        self._draws = [Random(f"{seed} {number}") for number in range(len(self._faults))]
        self._counts = [0] * len(self._faults)
        self._elapsed = elapsed
        self._store = store
        self._kinds = kinds
        self._lock = threading.Lock()

    def __call__(self, request: Request) -> Treatment:
        if not self._faults:
            return UNDISTURBED
        target = self._target(request)
        with self._lock:
            striking = [
                fault
                for number, fault in enumerate(self._faults)
                if self._matches(fault, target) and self._strikes(number, fault)
            ]
        return treatment_of(striking[0]) if striking else UNDISTURBED

    def _strikes(self, number: int, fault: Fault) -> bool:
        if not fault.when.holds(self._elapsed()):
            return False
        self._counts[number] += 1
        lucky = self._draws[number].random() >= fault.when.probability
        return fault.when.counts(self._counts[number]) and not lucky

    def _target(self, request: Request) -> Optional[Route]:
        """None for what is about no resource, such as discovery and reviews."""
        try:
            return route(request, self._kinds)
        except answers.Refusal:
            return None

    def _matches(self, fault: Fault, target: Optional[Route]) -> bool:
        where = fault.where
        if fault.kind == "deny_eviction" and _resource(target) != _EVICTION:
            return False
        if fault.strikes == WATCHES and (target is None or target.verb != "watch"):
            return False
        if target is None:
            return where == Where()
        return (
            (not where.verbs or target.verb in where.verbs)
            and (not where.resources or _resource(target) in where.resources)
            and where.namespace in ("", target.namespace)
            and where.name in ("", target.name)
            and (where.selector.empty or self._selected(where, target))
        )

    def _selected(self, where: Where, target: Route) -> bool:
        found = self._store.get(target.key) if target.name else None
        return found is not None and where.selector.matches(labels_of(found))


def _resource(target: Optional[Route]) -> str:
    if target is None:
        return ""
    resource = target.kind.resource
    return f"{resource}/{target.subresource}" if target.subresource else resource


def treatment_of(fault: Fault) -> Treatment:
    """What a request suffers that this fault strikes."""
    if fault.kind == "status":
        return Treatment(instead=_status(fault))
    if fault.kind == "deny_eviction":
        return Treatment(instead=_denial(fault))
    if fault.kind == "latency":
        return Treatment(delay=fault.seconds)
    if fault.kind == "stall":
        return Treatment(silence=fault.seconds, share=0.0)
    if fault.kind == "truncate":
        return Treatment(share=min(fault.share, 0.999))
    if fault.kind == "reset":
        return Treatment(lost=True) if fault.moment == "before" else Treatment(share=0.0)
    expired = fault.kind == "watch_expired"
    return Treatment(events=fault.events, last=_body(fault, 410) if expired else None)


def _body(fault: Fault, code: int) -> dict[str, object]:
    reason, message = _STATUS.get(code, ("", f"the server answered with status {code}"))
    return answers.status(code, reason, fault.message or message)


def _status(fault: Fault) -> Response:
    answer = answered(_body(fault, fault.code), fault.code)
    if fault.retry_after is None:
        return answer
    return Response(answer.status, answer.body, headers=(("Retry-After", str(fault.retry_after)),))


def _denial(fault: Fault) -> Response:
    """As the API server passes on what a validating webhook answers."""
    text = f'admission webhook "{fault.webhook}" denied the request: {fault.message}'
    return answered(answers.status(403, "Forbidden", text), 403)
