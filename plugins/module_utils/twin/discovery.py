# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What the API serves: /version, /api, /apis and the resources of each group."""

from __future__ import annotations

from typing import Any, Iterator, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.kinds import VERBS, Kind, Kinds

# The version that the twin behaves like; the build says that it is none of Kubernetes' own.
VERSION = {
    "major": "1",
    "minor": "37",
    "emulationMajor": "1",
    "emulationMinor": "37",
    "minCompatibilityMajor": "1",
    "minCompatibilityMinor": "36",
    "gitVersion": "v1.37.2+evenkeel.twin",
    "gitCommit": "",
    "gitTreeState": "clean",
    "buildDate": "1970-01-01T00:00:00Z",
    "goVersion": "",
    "compiler": "",
    "platform": "",
}
# Groups whose only resources are questions; see reviews.
_REVIEWS = {
    "authorization.k8s.io": ("SelfSubjectAccessReview", "selfsubjectaccessreviews"),
    "authentication.k8s.io": ("SelfSubjectReview", "selfsubjectreviews"),
}
# What a subresource takes when it is no object of its kind.
_OTHER_KINDS = {
    "eviction": ("policy", "v1", "Eviction"),
    "binding": ("", "", "Binding"),
    "scale": ("autoscaling", "v1", "Scale"),
}
_SUBRESOURCE_VERBS = {
    "eviction": ("create",),
    "binding": ("create",),
    "finalize": ("update",),
}


def discover(path: str, kinds: Kinds) -> Optional[dict[str, Any]]:
    """Returns the document of a discovery path, None for any other path."""
    parts = [part for part in path.split("/") if part]
    if parts == ["version"]:
        return dict(VERSION)
    if parts == ["api"]:
        return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}
    if parts == ["apis"]:
        groups = [_group(name, kinds) for name in _groups(kinds)]
        return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}
    if parts[:1] == ["apis"] and len(parts) == 2 and parts[1] in _groups(kinds):
        return {"kind": "APIGroup", "apiVersion": "v1", **_group(parts[1], kinds)}
    if parts == ["api", "v1"]:
        return _resources("", "v1", kinds)
    if parts[:1] == ["apis"] and len(parts) == 3 and parts[2] in _versions(parts[1], kinds):
        return _resources(parts[1], parts[2], kinds)
    return None


def _groups(kinds: Kinds) -> list[str]:
    names = dict.fromkeys(kind.group for kind in kinds if kind.group)
    return [*names, *_REVIEWS]


def _versions(group: str, kinds: Kinds) -> list[str]:
    if group in _REVIEWS:
        return ["v1"]
    return list(dict.fromkeys(kind.version for kind in kinds if kind.group == group))


def _group(name: str, kinds: Kinds) -> dict[str, Any]:
    versions = [
        {"groupVersion": f"{name}/{version}", "version": version}
        for version in _versions(name, kinds)
    ]
    return {"name": name, "versions": versions, "preferredVersion": versions[0]}


def _resources(group: str, version: str, kinds: Kinds) -> dict[str, Any]:
    found = [
        resource
        for kind in kinds
        if (kind.group, kind.version) == (group, version)
        for resource in _with_subresources(kind)
    ]
    if group in _REVIEWS:
        name, plural = _REVIEWS[group]
        found.append(_resource(plural, name.lower(), False, name, ("create",)))
    # The core group's list is older than this field.
    head = {"kind": "APIResourceList", **({"apiVersion": "v1"} if group else {})}
    return {
        **head,
        "groupVersion": f"{group}/{version}" if group else version,
        "resources": found,
    }


def _with_subresources(kind: Kind) -> Iterator[dict[str, Any]]:
    whole = kind.resource == "namespaces"
    # Namespaces are not deleted all at once.
    verbs = tuple(verb for verb in VERBS if not (whole and verb == "deletecollection"))
    main = _resource(kind.plural, kind.singular, kind.namespaced, kind.name, verbs)
    if kind.short_names:
        main["shortNames"] = list(kind.short_names)
    yield main
    for name in kind.subresources:
        verbs = _SUBRESOURCE_VERBS.get(name, ("get", "patch", "update"))
        group, version, other = _OTHER_KINDS.get(name, ("", "", kind.name))
        entry = _resource(f"{kind.plural}/{name}", "", kind.namespaced, other, verbs)
        if group:
            entry.update({"group": group, "version": version})
        yield entry


def _resource(
    name: str, singular: str, namespaced: bool, kind: str, verbs: tuple[str, ...]
) -> dict[str, Any]:
    return {
        "name": name,
        "singularName": singular,
        "namespaced": namespaced,
        "kind": kind,
        "verbs": list(verbs),
    }
