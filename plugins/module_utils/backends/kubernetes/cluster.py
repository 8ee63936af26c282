# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The Cluster of backends/base.py, over the Kubernetes API."""

from __future__ import annotations

import json
import threading
from typing import Any, Callable, Iterator, Mapping, Optional, Sequence, TypeVar

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.base import (
    Answer,
    Listing,
    WatchEvent,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.kubernetes import writes
from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.kubernetes.auth import (
    Credentials,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.kubernetes.errors import (
    Subject,
    failure,
    status_of,
    unreadable,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.kubernetes.paging import (
    read_all,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.kubernetes.rest import (
    ALWAYS,
    NOT_CARRIED_OUT,
    ONLY_UNSENT,
    Reply,
    Request,
    Rest,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.kubernetes.watch import (
    Watching,
    silence_for,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import (
    Conflict,
    FleetError,
    NotFound,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.resources import Resource

T = TypeVar("T")

JSON_PATCH = "application/json-patch+json"


class KubernetesCluster:
    """Thread-safe: one connection pool for all threads."""

    def __init__(self, credentials: Credentials, rest: Rest) -> None:
        self._credentials = credentials
        self._rest = rest
        self._lock = threading.Lock()
        self._watches: set[Watching[Any]] = set()
        self._closed = False

    @property
    def description(self) -> str:
        access = self._credentials.current()
        return f"{access.context} ({access.server})" if access.context else access.server

    def list(
        self,
        resource: Resource[T],
        *,
        namespace: str = "",
        label_selector: str = "",
        field_selector: str = "",
    ) -> Listing[T]:
        path, subject = resource.path(namespace), _subject("list", resource, namespace)
        query = _selectors(label_selector, field_selector)

        def open_page(page: Mapping[str, str]) -> Callable[[], bytes]:
            return self._rest.begin(Request("GET", path, subject, page))

        try:
            return read_all(open_page, resource.parse, query)
        except ValueError as error:
            raise unreadable(subject, error) from error

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
        """The iterator has close(), which any thread may call."""
        subject = _subject("watch", resource, namespace)
        query = {
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": resource_version,
            "timeoutSeconds": str(timeout_seconds),
            **_selectors(label_selector, field_selector),
        }
        attention = self._rest.attention()
        request = Request(
            "GET", resource.path(namespace), subject, query, headers=attention.headers
        )
        try:
            response = self._rest.stream(request, silence_for(timeout_seconds))
        except BaseException:
            attention.close()
            raise
        watching = Watching(response, resource.parse, subject, self._forget, attention)
        with self._lock:
            closed = self._closed
            self._watches.add(watching)
        if closed:
            watching.close()
        return watching

    def get(self, resource: Resource[T], name: str, *, namespace: str = "") -> T:
        return resource.parse(self._get_raw(resource, name, namespace))

    def create(self, resource: Resource[T], body: Mapping[str, Any], *, namespace: str = "") -> T:
        name = str((body.get("metadata") or {}).get("name") or "")
        request = Request(
            "POST",
            resource.path(namespace),
            _subject("create", resource, namespace, name),
            body=_encoded(body),
            # Without a name (generateName) a repeat would make a second object.
            repeat_on=ALWAYS if name else NOT_CARRIED_OUT,
        )
        return self._write(
            request, resource, name, namespace, lambda found: writes.wrote(found, body)
        )

    def replace(
        self, resource: Resource[T], name: str, body: Mapping[str, Any], *, namespace: str = ""
    ) -> T:
        request = Request(
            "PUT",
            resource.path(namespace, name),
            _subject("update", resource, namespace, name),
            body=_encoded(body),
        )
        return self._write(
            request, resource, name, namespace, lambda found: writes.wrote(found, body)
        )

    def patch(
        self,
        resource: Resource[T],
        name: str,
        operations: Sequence[Mapping[str, Any]],
        *,
        namespace: str = "",
    ) -> T:
        request = Request(
            "PATCH",
            resource.path(namespace, name),
            _subject("patch", resource, namespace, name),
            body=_encoded(list(operations)),
            content_type=JSON_PATCH,
            repeat_on=ALWAYS if writes.guarded(operations) else NOT_CARRIED_OUT,
        )
        return self._write(
            request, resource, name, namespace, lambda found: writes.patched(found, operations)
        )

    def delete(
        self,
        resource: Resource[T],
        name: str,
        *,
        namespace: str = "",
        uid: str = "",
        grace_period_seconds: Optional[int] = None,
    ) -> None:
        """After a lost answer, an object that is gone or has another UID was deleted: by us, or by
        somebody in the same moment."""
        request = Request(
            "DELETE",
            resource.path(namespace, name),
            _subject("delete", resource, namespace, name),
            body=_encoded(_delete_options(uid, grace_period_seconds)),
            # Without the UID a repeat might delete a new object of the same name.
            repeat_on=ALWAYS if uid else NOT_CARRIED_OUT,
        )
        reply = self._rest.send(request)
        if reply.ok or (reply.doubtful and reply.status in (404, 409)):
            return
        raise _failure(reply, request.subject)

    def evict(
        self,
        namespace: str,
        name: str,
        *,
        uid: str,
        grace_period_seconds: Optional[int] = None,
    ) -> Answer:
        body = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": name, "namespace": namespace},
            "deleteOptions": _delete_options(uid, grace_period_seconds),
        }
        reply = self._rest.send(
            Request(
                "POST",
                f"/api/v1/namespaces/{namespace}/pods/{name}/eviction",
                Subject("create", "Pod", "pods/eviction", f"{namespace}/{name}"),
                body=_encoded(body),
                repeat_on=ONLY_UNSENT,
            )
        )
        return Answer(reply.status, status_of(reply.data), reply.retry_after)

    def allowed(
        self, verb: str, resource: Resource[T], *, namespace: str = "", subresource: str = ""
    ) -> bool:
        attributes = {
            "verb": verb,
            "group": resource.group,
            "resource": resource.plural,
            "namespace": namespace,
            "subresource": subresource,
        }
        request = Request(
            "POST",
            "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
            Subject("create", "SelfSubjectAccessReview", "selfsubjectaccessreviews"),
            body=_encoded(
                {
                    "apiVersion": "authorization.k8s.io/v1",
                    "kind": "SelfSubjectAccessReview",
                    "spec": {"resourceAttributes": {k: v for k, v in attributes.items() if v}},
                }
            ),
        )
        answer = _decoded(self._rest.ask(request), request.subject)
        return bool((answer.get("status") or {}).get("allowed"))

    def close(self) -> None:
        with self._lock:
            self._closed = True
            watches = tuple(self._watches)
        for watching in watches:
            watching.close()
        self._credentials.close()

    def _forget(self, watching: Watching[Any]) -> None:
        with self._lock:
            self._watches.discard(watching)

    def _get_raw(self, resource: Resource[T], name: str, namespace: str) -> dict[str, Any]:
        subject = _subject("get", resource, namespace, name)
        reply = self._rest.ask(Request("GET", resource.path(namespace, name), subject))
        return _decoded(reply, subject)

    def _write(
        self,
        request: Request,
        resource: Resource[T],
        name: str,
        namespace: str,
        done: Callable[[Mapping[str, Any]], bool],
    ) -> T:
        """Sends a write. When an earlier try may have been carried out and the repeat is refused,
        reads the object: `done(raw)` tells whether it is as the write leaves it."""
        reply = self._rest.send(request)
        if reply.ok:
            return resource.parse(_decoded(reply, request.subject))
        error = _failure(reply, request.subject)
        if not reply.doubtful or not isinstance(error, Conflict):
            raise error
        try:
            found = self._get_raw(resource, name, namespace)
        except NotFound:
            raise error from None
        if not done(found):
            raise error
        return resource.parse(found)


def _subject(verb: str, resource: Resource[Any], namespace: str = "", name: str = "") -> Subject:
    key = f"{namespace}/{name}" if namespace and name else name
    return Subject(verb, resource.kind, resource.plural, key)


def _decoded(reply: Reply, subject: Subject) -> dict[str, Any]:
    try:
        raw: dict[str, Any] = json.loads(reply.data)
    except ValueError as error:
        raise unreadable(subject, error) from error
    return raw


def _failure(reply: Reply, subject: Subject) -> FleetError:
    return failure(reply.status, status_of(reply.data), subject)


def _selectors(label_selector: str, field_selector: str) -> dict[str, str]:
    pairs = {"labelSelector": label_selector, "fieldSelector": field_selector}
    return {key: value for key, value in pairs.items() if value}


def _encoded(body: Any) -> bytes:
    return json.dumps(body, separators=(",", ":")).encode()


def _delete_options(uid: str, grace_period_seconds: Optional[int]) -> dict[str, Any]:
    options: dict[str, Any] = {"apiVersion": "v1", "kind": "DeleteOptions"}
    if uid:
        options["preconditions"] = {"uid": uid}
    if grace_period_seconds is not None:
        options["gracePeriodSeconds"] = grace_period_seconds
    return options
