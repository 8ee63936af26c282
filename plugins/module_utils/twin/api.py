# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The API of a twin: from a request to its answer."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any, Callable, Mapping, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin import (
    answers,
    demands,
    patching,
    rbac,
    tables,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.base import Key, Object
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.discovery import discover
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.eviction import Evictions
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.kinds import Kind, Kinds
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.lifecycle import (
    DeleteOptions,
    Lifecycle,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.messages import (
    PLAIN,
    Request,
    Response,
    answered,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.pages import Pages
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.reviews import review
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.routes import Route, route
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.selecting import matcher
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.store import Store
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.subresources import (
    bound,
    scale_of,
    scaled,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.watches import Watch

_PATCHES = (patching.JSON_PATCH, patching.MERGE_PATCH, patching.STRATEGIC_PATCH)
# The real server ends a watch after 30 to 60 minutes.
_WATCH_SECONDS = 1800.0

OnEvent = Callable[[], None]


class Api:
    """Thread-safe. now(): seconds since the epoch. The twin's own writes go through `lifecycle`."""

    def __init__(self, store: Store, kinds: Kinds, now: Callable[[], float], draw: Random) -> None:
        self.store = store
        self.kinds = kinds
        self.lifecycle = Lifecycle(store, kinds, now, draw)
        self.evictions = Evictions(
            store,
            self.lifecycle,
            kinds.named("pods"),
            kinds.named("poddisruptionbudgets.policy"),
            now,
        )
        self._now = now
        self._pages = Pages()
        self._verbs: Mapping[str, Callable[[Request, Route], Response]] = {
            "get": self._get,
            "list": self._list,
            "create": self._create,
            "update": self._update,
            "patch": self._patch,
            "delete": self._delete,
            "deletecollection": self._delete_collection,
        }

    def handle(self, request: Request, on_event: OnEvent = lambda: None) -> Response:
        """Never raises a Refusal: it becomes an answer. on_event: for each line of a watch."""
        try:
            return self._answer(request, on_event)
        except answers.Refusal as refusal:
            if refusal.plain:
                return Response(refusal.code, refusal.plain.encode(), content_type=PLAIN)
            answer = answered(refusal.body, refusal.code)
            return Response(answer.status, answer.body, headers=refusal.headers)

    def compact(self) -> None:
        """Forgets the past: watches of old revisions and continue tokens end with 410."""
        with self.store.lock:
            self.store.compact()
            self._pages.forget()

    def _answer(self, request: Request, on_event: OnEvent) -> Response:
        if request.path in ("/healthz", "/readyz", "/livez"):
            return Response(200, b"ok")
        found = discover(request.path, self.kinds)
        if found is not None:
            return answered(found)
        if request.method == "POST":
            body = request.document()
            answer = review(request.path, body, request.user, self.store)
            if answer is not None:
                return answered(answer, 201)
        if not request.path.startswith(("/api/", "/apis/")):
            return self._elsewhere(request)
        target = route(request, self.kinds)
        self._authorize(request.user, target)
        if target.verb == "watch":
            return self._watch(request, target, on_event)
        return self._verbs[target.verb](request, target)

    def _elsewhere(self, request: Request) -> Response:
        """A path of no resource is asked about before it is looked for."""
        attributes = rbac.Attributes(request.method.lower(), path=request.path)
        if not rbac.allowed(self.store, request.user, attributes):
            raise answers.forbidden_path(rbac.refusal_text(request.user, attributes))
        return Response(404, b"404 page not found\n")

    def _authorize(self, user: rbac.User, target: Route) -> None:
        if not rbac.allowed(self.store, user, target.attributes):
            text = rbac.refusal_text(user, target.attributes)
            raise answers.forbidden(target.kind, target.name, text)

    # Reading

    def _get(self, request: Request, target: Route) -> Response:
        found = self._found(target)
        if target.subresource == "scale":
            return answered(scale_of(found))
        if request.wants_table:
            version = {"resourceVersion": found["metadata"]["resourceVersion"]}
            return answered(self._table(request, target, [found], version))
        return answered(found)

    def _list(self, request: Request, target: Route) -> Response:
        kind, limit = target.kind, request.number("limit")
        with self.store.lock:
            if request.query.get("continue"):
                page = self._pages.next(request.query["continue"], limit)
            else:
                demands.check_list(request, self.store.revision)
                page = self._pages.first(
                    self._selected(request, target),
                    self.store.revision,
                    limit,
                    selected=_selects(request),
                )
        if request.wants_table:
            return answered(self._table(request, target, page.items, page.metadata))
        return answered(
            {
                "kind": f"{kind.name}List",
                "apiVersion": kind.api_version,
                "metadata": {**({"continue": ""} if kind.custom else {}), **page.metadata},
                "items": [_item(kind, raw) for raw in page.items],
            }
        )

    def _table(
        self,
        request: Request,
        target: Route,
        items: Sequence[Object],
        metadata: Mapping[str, Any],
    ) -> Mapping[str, Any]:
        include = request.query.get("includeObject") or tables.METADATA
        return tables.table(target.kind, items, metadata, self._now(), include)

    def _selected(self, request: Request, target: Route) -> list[Object]:
        matches = _matcher(request, target)
        found = [
            raw for raw in self.store.objects(target.resource, target.namespace) if matches(raw)
        ]
        return sorted(found, key=_order)

    def _watch(self, request: Request, target: Route, on_event: OnEvent) -> Response:
        def render(raw: Object) -> Mapping[str, Any]:
            return self._table(request, target, [raw], {}) if request.wants_table else raw

        watch = Watch(
            self.store,
            target.kind,
            target.resource,
            target.namespace,
            _matcher(request, target),
            render,
            bookmarks=request.flag("allowWatchBookmarks"),
            seconds=float(request.number("timeoutSeconds") or _WATCH_SECONDS),
            on_event=on_event,
        )
        version = request.query.get("resourceVersion", "")
        watch.begin(version, streamed=request.flag("sendInitialEvents"))
        return Response(200, stream=watch)

    # Writing

    def _create(self, request: Request, target: Route) -> Response:
        if target.subresource == "eviction":
            return self._evict(request, target)
        if target.subresource == "binding":
            return self._bind(request, target)
        if target.name:
            raise answers.method_not_allowed()
        body = _object(request.document(), target.kind)
        made = self.lifecycle.create(target.kind, body, target.namespace, dry_run=request.dry_run)
        return answered(made, 201)

    def _evict(self, request: Request, target: Route) -> Response:
        body = request.document()
        metadata, given = body.get("metadata") or {}, body.get("deleteOptions") or {}
        if metadata.get("name") not in (None, target.name):
            raise answers.bad_request("name in URL does not match name in Eviction object")
        if metadata.get("namespace") not in (None, target.namespace):
            raise answers.bad_request(answers.OTHER_NAMESPACE)
        options = _delete_options(given)
        if request.dry_run and not options.dry_run:
            options = replace(options, dry_run=True)
        self.evictions.evict(target.key, options)
        return answered(answers.status(201, "", "", success=True), 201)

    def _bind(self, request: Request, target: Route) -> Response:
        body = request.document()
        node = str((body.get("target") or {}).get("name") or "")
        self.bind(target.key, node, str((body.get("metadata") or {}).get("uid") or ""))
        return answered(answers.status(201, "", "", success=True), 201)

    def bind(self, key: Key, node: str, uid: str = "") -> None:
        """Raises Refusal: 404, 409 for a pod that is on a node already, or has another UID."""
        pods = self.kinds.named("pods")
        # The strategy of an update keeps the status; the binding writes both at once.
        with self.store.lock:
            found = self.store.get(key)
            if found is None:
                raise answers.not_found(pods, key.name)
            if uid not in ("", found["metadata"]["uid"]):
                path = f"{key.namespace}/{key.name}"
                raise answers.uid_differs(pods, path, uid, found["metadata"]["uid"])
            there = self.store.get(Key("nodes", "", node))
            labels = {} if there is None else there["metadata"].get("labels") or {}
            self.store.put("pods", bound(found, node, labels, self._now()))

    def _update(self, request: Request, target: Route) -> Response:
        body = request.document()
        if target.subresource == "scale":
            return self._change(request, target, lambda found: scaled(found, body))
        wanted = _object(body, target.kind)
        name = str((wanted.get("metadata") or {}).get("name") or "")
        if name != target.name:
            raise answers.bad_request(answers.other_name(name, target.name))
        return self._change(request, target, lambda found: _replacing(target, found, wanted))

    def _patch(self, request: Request, target: Route) -> Response:
        media = request.headers.get("content-type", "").partition(";")[0].strip()
        if media not in _PATCHES or (media == patching.STRATEGIC_PATCH and target.kind.custom):
            raise answers.unsupported_media_type()
        patch = request.document()

        def change(found: Object) -> Mapping[str, Any]:
            if target.subresource == "scale":
                return scaled(found, patching.apply(media, scale_of(found), patch))
            return patching.apply(media, found, patch)

        return self._change(request, target, change)

    def _change(
        self, request: Request, target: Route, change: Callable[[Object], Mapping[str, Any]]
    ) -> Response:
        subresource = "" if target.subresource == "scale" else target.subresource
        result = self.lifecycle.update(
            target.kind, target.key, change, subresource=subresource, dry_run=request.dry_run
        )
        return answered(scale_of(result) if target.subresource == "scale" else result)

    def _delete(self, request: Request, target: Route) -> Response:
        options = _deletion(request)
        found, gone = self.lifecycle.delete(target.kind, target.key, options)
        if not gone or target.kind.resource == "pods":
            return answered(found)
        return answered(_deleted(target.kind, found))

    def _delete_collection(self, request: Request, target: Route) -> Response:
        options = _deletion(request)
        with self.store.lock:
            found = self._selected(request, target)
            for raw in found:
                metadata = raw["metadata"]
                key = Key(target.resource, metadata.get("namespace", ""), metadata["name"])
                self.lifecycle.delete(target.kind, key, options)
            metadata = {"resourceVersion": str(self.store.revision)}
        kind = target.kind
        head = {"kind": f"{kind.name}List", "apiVersion": kind.api_version}
        items = [_item(kind, raw) for raw in found]
        return answered({**head, "metadata": metadata, "items": items})

    def _found(self, target: Route) -> Object:
        found = self.store.get(target.key)
        if found is None:
            raise answers.not_found(target.kind, target.name)
        return found


def _selects(request: Request) -> bool:
    return bool(request.query.get("labelSelector") or request.query.get("fieldSelector"))


def _item(kind: Kind, raw: Object) -> Object:
    """Within a list a built-in object does not say again what it is."""
    if kind.custom:
        return raw
    return {key: value for key, value in raw.items() if key not in ("kind", "apiVersion")}


def _order(raw: Object) -> tuple[str, str]:
    metadata = raw["metadata"]
    return metadata.get("namespace", ""), metadata["name"]


def _matcher(request: Request, target: Route) -> Callable[[Object], bool]:
    """A list or watch of one name is one with a field selector."""
    fields = request.query.get("fieldSelector", "")
    if target.name:
        fields = ",".join(filter(None, (fields, f"metadata.name={target.name}")))
    return matcher(target.kind, request.query.get("labelSelector", ""), fields)


def _object(body: Any, kind: Kind) -> Mapping[str, Any]:
    if not isinstance(body, Mapping):
        raise answers.bad_request("the object provided is unrecognized (must be of type object)")
    if body.get("kind") not in (None, kind.name):
        raise answers.bad_request(
            f'{body.get("kind")} in version "{body.get("apiVersion")}" cannot be handled as a'
            f" {kind.name}"
        )
    return body


def _replacing(target: Route, found: Object, wanted: Mapping[str, Any]) -> Mapping[str, Any]:
    """The UID that a PUT carries is its precondition; in a patch it would be a change."""
    uid = (wanted.get("metadata") or {}).get("uid")
    if uid not in (None, "", found["metadata"]["uid"]):
        path = f"{target.namespace}/{target.name}".lstrip("/")
        raise answers.uid_differs(target.kind, path, uid, found["metadata"]["uid"])
    return wanted


def _deletion(request: Request) -> DeleteOptions:
    """From the body; only a request without one has its options in the query."""
    if request.body:
        return _delete_options(request.document())
    return DeleteOptions(
        grace_seconds=request.number("gracePeriodSeconds"),
        propagation=demands.propagation(request.query),
        dry_run=request.dry_run,
    )


def _delete_options(body: Mapping[str, Any]) -> DeleteOptions:
    conditions = body.get("preconditions") or {}
    grace = body.get("gracePeriodSeconds")
    return DeleteOptions(
        grace_seconds=None if grace is None else int(grace),
        uid=str(conditions.get("uid") or ""),
        resource_version=str(conditions.get("resourceVersion") or ""),
        propagation=demands.propagation(body),
        dry_run=bool(body.get("dryRun")),
    )


def _deleted(kind: Kind, found: Object) -> dict[str, Any]:
    details = {"name": found["metadata"]["name"], "kind": kind.plural}
    if kind.group:
        details["group"] = kind.group
    details["uid"] = found["metadata"]["uid"]
    done = answers.status(200, "", "", details, success=True)
    del done["code"]
    return done
