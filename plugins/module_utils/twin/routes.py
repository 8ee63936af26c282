# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""From the path and method of a request to what it is about."""

from __future__ import annotations

from dataclasses import dataclass

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin import answers
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.base import Key
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.kinds import (
    SAME_OBJECTS,
    Kind,
    Kinds,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.messages import Request
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.rbac import Attributes

_NAMESPACE_SUBRESOURCES = ("status", "finalize")


@dataclass(frozen=True)
class Route:
    """One resource, object or subresource. verb: as RBAC names it."""

    kind: Kind
    verb: str
    namespace: str
    name: str
    subresource: str

    @property
    def key(self) -> Key:
        return Key(self.resource, self.namespace, self.name)

    @property
    def resource(self) -> str:
        return SAME_OBJECTS.get(self.kind.resource, self.kind.resource)

    @property
    def attributes(self) -> Attributes:
        return Attributes(
            self.verb,
            self.kind.group,
            self.kind.plural,
            self.subresource,
            self.namespace or (self.name if self.kind.resource == "namespaces" else ""),
            self.name,
        )


def route(request: Request, kinds: Kinds) -> Route:
    """Raises Refusal (404, 405)."""
    group, version, rest = _version(request.path)
    namespace = ""
    in_namespace = len(rest) > 2 and rest[0] == "namespaces"
    if in_namespace and not (len(rest) == 3 and rest[2] in _NAMESPACE_SUBRESOURCES):
        namespace, rest = rest[1], rest[2:]
    plural, name, subresource = (*rest, "", "", "")[:3]
    kind = kinds.find(group, version, plural)
    if kind is None and not any((k.group, k.version) == (group, version) for k in kinds):
        raise answers.no_such_group()
    if kind is None or len(rest) > 3 or (namespace and not kind.namespaced):
        raise answers.no_such_path()
    if subresource and subresource not in kind.subresources:
        raise answers.no_such_path()
    if kind.namespaced and name and not namespace:
        raise answers.no_such_path()
    return Route(kind, _verb(request, name), namespace, name, subresource)


def _version(path: str) -> tuple[str, str, list[str]]:
    """Group, version and what follows; all empty for a path that is none of a resource."""
    parts = [part for part in path.split("/") if part]
    if parts[:1] == ["api"] and len(parts) > 2:
        return "", parts[1], parts[2:]
    if parts[:1] == ["apis"] and len(parts) > 3:
        return parts[1], parts[2], parts[3:]
    return "", "", []


def _verb(request: Request, name: str) -> str:
    if request.method == "GET":
        if name:
            return "get"
        return "watch" if request.wants_watch else "list"
    if request.method == "DELETE":
        return "delete" if name else "deletecollection"
    verbs = {"POST": "create", "PUT": "update", "PATCH": "patch"}
    if request.method not in verbs:
        raise answers.method_not_allowed()
    return verbs[request.method]
