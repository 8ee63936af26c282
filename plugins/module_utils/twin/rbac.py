# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Who may do what: the twin's tokens, and the rules of RBAC as the API server reads them.

Source: plugin/pkg/auth/authorizer/rbac and pkg/registry/rbac/validation, 1.37.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterator, Mapping, Optional, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.base import Key, Object
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.store import Store

# Members of this group may do everything, as on the real server.
MASTERS = "system:masters"
_GROUP = "rbac.authorization.k8s.io"


@dataclass(frozen=True)
class User:
    name: str
    groups: tuple[str, ...] = ()


@dataclass(frozen=True)
class Attributes:
    """What a request is about. resource: the plural, subresource apart. path: of a request that is
    about no resource."""

    verb: str
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""


def allowed(store: Store, user: User, attributes: Attributes) -> bool:
    if MASTERS in user.groups:
        return True
    return any(_rule_allows(rule, attributes) for rule in _rules(store, user, attributes))


def refusal_text(user: User, attributes: Attributes) -> str:
    """What stands behind "is forbidden: "."""
    if attributes.path:
        return f'User "{user.name}" cannot {attributes.verb} path "{attributes.path}"'
    resource = attributes.resource
    if attributes.subresource:
        resource += f"/{attributes.subresource}"
    where = (
        f'in the namespace "{attributes.namespace}"'
        if attributes.namespace
        else "at the cluster scope"
    )
    return (
        f'User "{user.name}" cannot {attributes.verb} resource "{resource}" in API group'
        f' "{attributes.group}" {where}'
    )


def _rules(store: Store, user: User, attributes: Attributes) -> Iterator[Mapping[str, Any]]:
    for binding in store.objects(f"clusterrolebindings.{_GROUP}"):
        if _binds(binding, user, ""):
            yield from _role_rules(store, binding, "")
    if attributes.namespace:
        for binding in store.objects(f"rolebindings.{_GROUP}", attributes.namespace):
            if _binds(binding, user, attributes.namespace):
                yield from _role_rules(store, binding, attributes.namespace)


def _binds(binding: Object, user: User, namespace: str) -> bool:
    return any(_is_subject(one, user, namespace) for one in binding.get("subjects") or ())


def _is_subject(subject: Mapping[str, Any], user: User, namespace: str) -> bool:
    kind, name = subject.get("kind"), str(subject.get("name"))
    if kind == "User":
        return name == user.name
    if kind == "Group":
        return name in user.groups
    account = f"system:serviceaccount:{subject.get('namespace') or namespace}:{name}"
    return kind == "ServiceAccount" and account == user.name


def _role_rules(store: Store, binding: Object, namespace: str) -> Sequence[Mapping[str, Any]]:
    reference = binding["roleRef"]
    if reference["kind"] == "ClusterRole":
        key = Key(f"clusterroles.{_GROUP}", "", reference["name"])
    else:
        key = Key(f"roles.{_GROUP}", namespace, reference["name"])
    role: Optional[Object] = store.get(key)
    return () if role is None else role.get("rules") or ()


def _rule_allows(rule: Mapping[str, Any], wanted: Attributes) -> bool:
    if not _has(rule.get("verbs"), wanted.verb):
        return False
    if wanted.path:
        return any(_path_matches(one, wanted.path) for one in rule.get("nonResourceURLs") or ())
    names = rule.get("resourceNames") or ()
    return (
        _has(rule.get("apiGroups"), wanted.group)
        and _has_resource(rule.get("resources"), wanted)
        and (not names or wanted.name in names)
    )


def _has(values: Optional[Sequence[str]], wanted: str) -> bool:
    return any(value in ("*", wanted) for value in values or ())


def _has_resource(values: Optional[Sequence[str]], wanted: Attributes) -> bool:
    if not wanted.subresource:
        return _has(values, wanted.resource)
    return any(
        value in ("*", f"{wanted.resource}/{wanted.subresource}", f"*/{wanted.subresource}")
        for value in values or ()
    )


def _path_matches(pattern: str, path: str) -> bool:
    return pattern in ("*", path) or (pattern.endswith("*") and path.startswith(pattern[:-1]))
