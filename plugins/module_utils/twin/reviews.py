# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The questions that a client asks: may I, may somebody else, and who am I."""

from __future__ import annotations

from typing import Any, Mapping, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin import rbac
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.store import Store

_OTHERS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
_ACCESS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
_SELF = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
# What it takes to ask about somebody else.
_ASKING = rbac.Attributes("create", "authorization.k8s.io", "subjectaccessreviews")


def review(
    path: str, body: Mapping[str, Any], user: rbac.User, store: Store
) -> Optional[dict[str, Any]]:
    """The answer to a POST of a review; None when the path is none of these."""
    if path == _ACCESS:
        return {**body, "metadata": {}, "status": _access(body.get("spec") or {}, user, store)}
    if path == _OTHERS and rbac.allowed(store, user, _ASKING):
        spec = body.get("spec") or {}
        other = rbac.User(str(spec.get("user") or ""), tuple(spec.get("groups") or ()))
        return {**body, "metadata": {}, "status": _access(spec, other, store)}
    if path == _SELF:
        info = {"username": user.name, "groups": [*user.groups, "system:authenticated"]}
        return {**body, "metadata": {}, "status": {"userInfo": info}}
    return None


def _access(spec: Mapping[str, Any], user: rbac.User, store: Store) -> dict[str, Any]:
    asked = spec.get("resourceAttributes")
    if asked is not None:
        names = ("verb", "group", "resource", "subresource", "namespace", "name")
        attributes = rbac.Attributes(**{name: str(asked.get(name) or "") for name in names})
    else:
        plain = spec.get("nonResourceAttributes") or {}
        attributes = rbac.Attributes(str(plain.get("verb")), path=str(plain.get("path")))
    return {"allowed": rbac.allowed(store, user, attributes)}
