# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The three patches of the API: JSON patch (RFC 6902), merge patch (RFC 7386), strategic merge.

All return a new object and leave the old one as it is. Sources: the RFCs; for the strategic one the
patchMergeKey and patchStrategy tags of k8s.io/api, 1.37.
"""

from __future__ import annotations

import copy
from typing import Any, Mapping, Optional, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.json_patch import parts
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.answers import (
    bad_request,
    unprocessable,
)

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"

REJECTED = "the server rejected our request due to an error in our request"

# Lists that are merged by a key, by the name of their field; all others are replaced as a whole.
# Two fields share a name and differ: ports of containers and of services, handled by content.
_MERGE_KEYS: Mapping[str, tuple[str, ...]] = {
    "conditions": ("type",),
    "containers": ("name",),
    "initContainers": ("name",),
    "ephemeralContainers": ("name",),
    "env": ("name",),
    "volumes": ("name",),
    "volumeMounts": ("mountPath",),
    "volumeDevices": ("devicePath",),
    "ports": ("containerPort", "port"),
    "ownerReferences": ("uid",),
    "taints": (),
    "tolerations": (),
    "imagePullSecrets": ("name",),
    "hostAliases": ("ip",),
    "topologySpreadConstraints": ("topologyKey",),
    "resourceClaims": ("name",),
    "addresses": ("type",),
    "podIPs": ("ip",),
    "hostIPs": ("ip",),
    "schedulingGates": ("name",),
    "readinessGates": (),
    "secrets": ("name",),
}
# Lists of plain values that are merged as sets.
_SETS = ("finalizers", "podCIDRs")


def apply(content_type: str, raw: Mapping[str, Any], patch: Any) -> dict[str, Any]:
    """Raises Refusal: 400 for a patch that is none, 422 for one that cannot be applied."""
    if content_type == JSON_PATCH:
        if not isinstance(patch, list):
            raise bad_request(
                "error decoding patch: json: cannot unmarshal object into Go value of type"
                " []handlers.jsonPatchOp"
            )
        return json_patch(raw, patch)
    if not isinstance(patch, Mapping):
        raise bad_request(
            "error decoding patch: json: cannot unmarshal array into Go value of type"
            " map[string]interface {}"
        )
    if content_type == MERGE_PATCH:
        return merge_patch(raw, patch)
    return strategic_patch(raw, patch)


# --- RFC 7386 ------------------------------------------------------------------------------


def merge_patch(raw: Any, patch: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(raw) if isinstance(raw, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, Mapping):
            result[key] = merge_patch(result.get(key), value)
        else:
            result[key] = copy.deepcopy(value)
    return result


# --- strategic merge -----------------------------------------------------------------------


def strategic_patch(raw: Any, patch: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(raw) if isinstance(raw, Mapping) else {}
    directive = patch.get("$patch")
    if directive == "replace":
        return {key: copy.deepcopy(value) for key, value in patch.items() if key != "$patch"}
    for key, value in patch.items():
        if key.startswith(("$setElementOrder/", "$retainKeys")):
            continue
        if key.startswith("$deleteFromPrimitiveList/"):
            field = key.partition("/")[2]
            result[field] = [item for item in result.get(field) or () if item not in value]
        elif value is None:
            result.pop(key, None)
        elif isinstance(value, Mapping):
            result[key] = strategic_patch(result.get(key), value)
        elif isinstance(value, list):
            result[key] = _merged_list(key, result.get(key) or [], value)
        else:
            result[key] = value
    return result


def _merged_list(field: str, found: Sequence[Any], patch: Sequence[Any]) -> list[Any]:
    if field in _SETS:
        kept = [item for item in found if item not in patch]
        return _in_server_order(kept, list(dict.fromkeys(patch)), list(found))
    if any(isinstance(item, Mapping) and item.get("$patch") == "replace" for item in patch):
        return [copy.deepcopy(item) for item in patch if item.get("$patch") != "replace"]
    merge_key = _merge_key(field, [*found, *patch])
    if merge_key is None:
        return copy.deepcopy(list(patch))
    return _merged_items(list(found), patch, merge_key)


def _merge_key(field: str, items: Sequence[Any]) -> Optional[str]:
    for key in _MERGE_KEYS.get(field, ()):
        if all(isinstance(item, Mapping) and (key in item) for item in items):
            return key
    return None


def _merged_items(
    found: Sequence[Mapping[str, Any]], patch: Sequence[Mapping[str, Any]], merge_key: str
) -> list[Any]:
    by_key = {item[merge_key]: item for item in found}
    deleted = {item[merge_key] for item in patch if item.get("$patch") == "delete"}
    patched = {
        item[merge_key]: strategic_patch(by_key.get(item[merge_key]), item)
        for item in patch
        if item[merge_key] not in deleted
    }
    kept = [key for key in by_key if key not in patched and key not in deleted]
    order = _in_server_order(kept, list(patched), list(by_key))
    return [patched.get(key, by_key.get(key)) for key in order]


def _in_server_order(kept: Sequence[Any], patch: Sequence[Any], server: Sequence[Any]) -> list[Any]:
    """Both sequences in one: what the server knew in its order, what is new before the rest.

    Source: mergeSortedSlice of k8s.io/apimachinery pkg/util/strategicpatch.
    """
    places = {item: number for number, item in enumerate(server)}
    result: list[Any] = []
    rest = list(kept)
    for item in patch:
        while rest and item in places and places[rest[0]] < places[item]:
            result.append(rest.pop(0))
        result.append(item)
    return result + rest


# --- RFC 6902 ------------------------------------------------------------------------------


def json_patch(raw: Mapping[str, Any], operations: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    document: Any = copy.deepcopy(raw)
    for operation in operations:
        document = _operate(document, operation)
    result: dict[str, Any] = document
    return result


def _operate(document: Any, operation: Mapping[str, Any]) -> Any:
    op, path = str(operation.get("op")), _pointer(operation.get("path"))
    if op == "test":
        if _find(document, path) != operation.get("value"):
            raise unprocessable(REJECTED)
        return document
    if op in ("move", "copy"):
        source = _pointer(operation.get("from"))
        value = copy.deepcopy(_must_find(document, source))
        if op == "move":
            document = _removed(document, source)
        return _added(document, path, value)
    if op == "remove":
        return _removed(document, path)
    if op == "replace":
        return _replaced(document, path, copy.deepcopy(operation.get("value")))
    if op == "add":
        return _added(document, path, copy.deepcopy(operation.get("value")))
    raise unprocessable(REJECTED)


def _replaced(document: Any, path: Sequence[str], value: Any) -> Any:
    """In an object, what is not there is added: that is how the real server reads RFC 6902."""
    parent = _must_find(document, path[:-1])
    if path and isinstance(parent, list):
        document = _removed(document, path)
    return _added(document, path, value)


_MISSING = object()


def _pointer(text: Any) -> list[str]:
    if not isinstance(text, str) or (text and not text.startswith("/")):
        raise bad_request(f"invalid JSON pointer {text!r}")
    return parts(text)


def _step(document: Any, part: str) -> Any:
    if isinstance(document, Mapping):
        return document.get(part, _MISSING)
    if isinstance(document, list) and part.isdigit() and int(part) < len(document):
        return document[int(part)]
    return _MISSING


def _find(document: Any, path: Sequence[str]) -> Any:
    """None for what is not there: a test against null passes then."""
    for part in path:
        document = _step(document, part)
        if document is _MISSING:
            return None
    return document


def _must_find(document: Any, path: Sequence[str]) -> Any:
    for part in path:
        document = _step(document, part)
        if document is _MISSING:
            raise unprocessable(REJECTED)
    return document


def _removed(document: Any, path: Sequence[str]) -> Any:
    _must_find(document, path)
    parent, last = _must_find(document, path[:-1]), path[-1]
    if isinstance(parent, list):
        del parent[int(last)]
    else:
        del parent[last]
    return document


def _added(document: Any, path: Sequence[str], value: Any) -> Any:
    if not path:
        return value
    parent, last = _must_find(document, path[:-1]), path[-1]
    if isinstance(parent, list):
        at = len(parent) if last == "-" else int(last) if last.isdigit() else len(parent) + 1
        if at > len(parent):
            raise unprocessable(REJECTED)
        parent.insert(at, value)
    elif isinstance(parent, dict):
        parent[last] = value
    else:
        raise unprocessable(REJECTED)
    return document
