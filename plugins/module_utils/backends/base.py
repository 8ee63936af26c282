# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What execution asks of a backend; backends/kubernetes implements it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import (
    Any,
    Generic,
    Iterator,
    Mapping,
    Optional,
    Protocol,
    Sequence,
    TypeVar,
)

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.resources import Resource

T = TypeVar("T")


@dataclass(frozen=True)
class Listing(Generic[T]):
    """`resource_version` is where a watch goes on from."""

    items: tuple[T, ...]
    resource_version: str


@dataclass(frozen=True)
class WatchEvent(Generic[T]):
    """`type` is ADDED, MODIFIED, DELETED or BOOKMARK (whose object has only a resourceVersion)."""

    type: str
    object: T
    resource_version: str


@dataclass(frozen=True)
class Answer:
    """The raw answer to a write whose refusals are data, not errors (an eviction)."""

    status: int
    body: Mapping[str, Any]
    retry_after: Optional[float]


class Cluster(Protocol):
    """A Kubernetes API. Thread-safe. Retries what may be retried (connection lost before an answer
    to a read, 429 with Retry-After, 5xx, an expired credential) with bounded backoff by itself.

    Errors: errors.NotFound (404), Forbidden, Conflict (409), Gone (410), Unauthorized, Unreachable,
    ApiFailure for the rest.
    """

    @property
    def description(self) -> str:
        """Context and server, as the first line of a run names them."""

    def list(
        self,
        resource: Resource[T],
        *,
        namespace: str = "",
        label_selector: str = "",
        field_selector: str = "",
    ) -> Listing[T]:
        """Reads a whole collection, page by page."""

    def watch(
        self,
        resource: Resource[T],
        resource_version: str,
        *,
        namespace: str = "",
        label_selector: str = "",
        field_selector: str = "",
        timeout_seconds: int = 300,
    ) -> Iterator[WatchEvent[T]]:
        """One watch request. Ends when the server ends it; raises Gone when it must be listed anew.

        Closing the iterator (generator.close()) or close() of the cluster ends it at once.
        """

    def get(self, resource: Resource[T], name: str, *, namespace: str = "") -> T:
        """Reads one object; NotFound when there is none."""

    def create(self, resource: Resource[T], body: Mapping[str, Any], *, namespace: str = "") -> T:
        """Creates; Conflict when it exists."""

    def replace(
        self, resource: Resource[T], name: str, body: Mapping[str, Any], *, namespace: str = ""
    ) -> T:
        """PUT. A resourceVersion in the body is a precondition: Conflict when it is not current."""

    def patch(
        self,
        resource: Resource[T],
        name: str,
        operations: Sequence[Mapping[str, Any]],
        *,
        namespace: str = "",
    ) -> T:
        """JSON patch. A failed `test` raises Conflict."""

    def delete(
        self,
        resource: Resource[T],
        name: str,
        *,
        namespace: str = "",
        uid: str = "",
        grace_period_seconds: Optional[int] = None,
    ) -> None:
        """Deletes, if the UID is still this one (Conflict otherwise)."""

    def evict(
        self,
        namespace: str,
        name: str,
        *,
        uid: str,
        grace_period_seconds: Optional[int] = None,
    ) -> Answer:
        """Posts one eviction with the UID as precondition; every HTTP answer is returned.

        Neither budgets' 429s nor 5xx are retried here: execution decides. Raises only when no
        answer came (Unreachable: it may or may not have been carried out) or on Unauthorized.
        """

    def allowed(
        self, verb: str, resource: Resource[T], *, namespace: str = "", subresource: str = ""
    ) -> bool:
        """SelfSubjectAccessReview: may this user do it?"""

    def close(self) -> None:
        """Ends all watches and connections; idempotent."""
