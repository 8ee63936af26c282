# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Follows a collection: a listing, then its changes, for as long as the work lasts."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any, Generic, Optional, TypeVar, Union

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.base import (
    Cluster,
    Listing,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.clock import Clock, Inbox
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.faults import (
    as_fleet_error,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.backoff import Backoff
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import (
    ApiFailure,
    FleetError,
    Forbidden,
    Gone,
    Unauthorized,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.resources import Resource

T = TypeVar("T")

# The cluster retries each request by itself; this is between requests that failed all the same.
_BACKOFF = Backoff(first=0.5, most=10.0)
# Failures in a row before the follower tells of them; it goes on trying.
_TELL_AFTER = 2
# No use to try again: the same answer would come.
_HOPELESS = (Forbidden, Unauthorized)
_JOIN_SECONDS = 2.0


@dataclass(frozen=True)
class Changed(Generic[T]):
    """One object was added or modified, or is gone (`gone`; the object is its last state)."""

    object: T
    gone: bool


@dataclass(frozen=True)
class Resynced(Generic[T]):
    """The whole collection was read (the first time, or as events were missed): what is not in
    `items` is gone."""

    items: tuple[T, ...]


@dataclass(frozen=True)
class Failed:
    """The collection cannot be followed at the moment, or (`final`) at all."""

    error: FleetError
    final: bool


Event = Union[Changed[T], Resynced[T], Failed]


@dataclass(frozen=True)
class Selection:
    """Which part of a collection: API selectors in their text form, "" for all."""

    namespace: str = ""
    label_selector: str = ""
    field_selector: str = ""

    def arguments(self) -> dict[str, str]:
        return {
            "namespace": self.namespace,
            "label_selector": self.label_selector,
            "field_selector": self.field_selector,
        }


class Follower(Generic[T]):
    """A daemon thread that posts (tag, Event) into the inbox. stop() ends it within a second."""

    def __init__(
        self,
        cluster: Cluster,
        resource: Resource[T],
        inbox: Inbox[Any],
        tag: Any,
        clock: Clock,
        selection: Selection,
    ) -> None:
        self._cluster = cluster
        self._resource = resource
        self._inbox = inbox
        self._tag = tag
        self._selection = selection
        self._stopped = threading.Event()
        self._stream: Any = None
        self._clock = clock
        self._thread: Optional[threading.Thread] = None
        self._version = ""
        # Watches in a row that a 410 ended before any event: the first is followed by a list at
        # once, but a server that goes on so must not be asked for whole lists in a tight loop.
        self._expired = 0

    def start(self, listing: Optional[Listing[T]]) -> None:
        """Begins; with a `listing`, from its resourceVersion, without reading it again."""
        self._version = listing.resource_version if listing is not None else ""
        self._thread = self._clock.start_thread(self._work, f"follow-{self._resource.plural}")

    def stop(self) -> None:
        """Idempotent; from any thread. Nothing is posted after it returns."""
        self._stopped.set()
        stream = self._stream
        if stream is not None:
            stream.close()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(_JOIN_SECONDS)

    def _work(self) -> None:
        failures = 0
        while not self._stopped.is_set():
            try:
                self._once()
                failures = 0
            except Gone:
                self._version = ""
                if self._expired:
                    self._pause(self._expired)
                self._expired += 1
            except Exception as error:  # noqa: BLE001 - faults.py says why
                failures += 1
                if self._give_up(as_fleet_error(error), failures):
                    return
                self._pause(failures)

    def _once(self) -> None:
        """One listing where it is needed, and one watch to its end."""
        if not self._version:
            listing = self._cluster.list(self._resource, **self._selection.arguments())
            self._post(Resynced(listing.items))
            self._version = listing.resource_version
        selection = self._selection
        stream = self._cluster.watch(
            self._resource,
            self._version,
            namespace=selection.namespace,
            label_selector=selection.label_selector,
            field_selector=selection.field_selector,
        )
        self._stream = stream
        if self._stopped.is_set():
            stream.close()  # type: ignore[attr-defined]
            return
        quiet = True
        for event in stream:
            quiet = False
            self._expired = 0
            self._version = event.resource_version or self._version
            if event.type != "BOOKMARK":
                self._post(Changed(event.object, gone=event.type == "DELETED"))
        if quiet:
            # A server that ends every watch at once must not be asked in a tight loop.
            self._pause(1)

    def _give_up(self, error: FleetError, failures: int) -> bool:
        hopeless = isinstance(error, _HOPELESS) or not isinstance(error, ApiFailure)
        if hopeless or failures >= _TELL_AFTER:
            self._post(Failed(error, final=hopeless))
        return hopeless

    def _pause(self, failures: int) -> None:
        """Real time, not the run's clock: between requests to a real server, until stop()."""
        self._stopped.wait(_BACKOFF.delay(failures - 1))

    def _post(self, event: Event[T]) -> None:
        if not self._stopped.is_set():
            self._inbox.put((self._tag, event))


def follow(
    cluster: Cluster,
    resource: Resource[T],
    inbox: Inbox[Any],
    *,
    tag: Any,
    clock: Clock,
    selection: Selection = Selection(),
    listing: Optional[Listing[T]] = None,
) -> Follower[T]:
    """Starts to follow a collection: (tag, Event) objects arrive in the inbox until stop().

    Without a `listing` the first event is a Resynced with all that there is; with one, events start
    after it. The same object may be told of twice, never out of order; identity is its UID.
    """
    follower = Follower(cluster, resource, inbox, tag, clock, selection)
    follower.start(listing)
    return follower
