# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What the API server does not let into an object: metadata, and fields that may not change.

Only what a client of a fleet can come across; a twin is no validator of manifests. Sources, 1.37:
k8s.io/apimachinery pkg/api/validation and pkg/util/validation, pkg/apis/{core,apps}/validation.
"""

from __future__ import annotations

import json
import re
from typing import Any, Callable, Iterator, Mapping

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.answers import invalid
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.base import Object
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.kinds import Kind

# (field, reason, message), as answers.invalid takes them.
Cause = tuple[str, str, str]
Raw = Mapping[str, Any]

_NAME = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]\Z")
_VALUE = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?\Z")
_LONGEST_LABEL = 63
_LONGEST_ANNOTATIONS = 256 * 1024

_NAME_RULE = (
    " must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an"
    " alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for"
    " validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
_PREFIX_RULE = " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
_VALUE_RULE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.',"
    " and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or"
    " '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
_POD_RULE = (
    "Forbidden: pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions"
    " to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it"
    " was previously negative)"
)


def check_new(kind: Kind, raw: Raw) -> None:
    """Raises Refusal (422) for an object that cannot be created."""
    causes = [*_metadata(raw), *_replicas(raw)]
    if kind.resource == "events":
        causes += _event(raw)
    if kind.resource == "poddisruptionbudgets.policy":
        causes += _budget(raw)
    _refuse(kind, raw, causes)


def check_change(kind: Kind, old: Object, new: Raw) -> None:
    """Raises Refusal (422) for a change that cannot be made."""
    causes = [*_metadata(new), *_new_finalizers(old, new)]
    rule = _CHANGES.get(kind.resource)
    if rule is not None:
        causes += rule(old, new)
    _refuse(kind, old, causes)


def _refuse(kind: Kind, raw: Raw, causes: list[Cause]) -> None:
    if causes:
        raise invalid(kind, raw["metadata"].get("name") or "", causes)


# --- metadata ------------------------------------------------------------------------------


def _metadata(raw: Raw) -> Iterator[Cause]:
    metadata = raw["metadata"]
    for key, value in sorted((metadata.get("labels") or {}).items()):
        for problem in _key_problems(key):
            yield _invalid("metadata.labels", key, problem)
        if len(value) > _LONGEST_LABEL:
            yield _invalid("metadata.labels", value, "must be no more than 63 characters")
        if not _VALUE.match(value):
            yield _invalid("metadata.labels", value, _VALUE_RULE)
    annotations = metadata.get("annotations") or {}
    for key in sorted(annotations):
        for problem in _key_problems(key.lower()):
            yield _invalid("metadata.annotations", key, problem)
    size = sum(len(key) + len(value) for key, value in annotations.items())
    if size > _LONGEST_ANNOTATIONS:
        text = f"Too long: may not be more than {_LONGEST_ANNOTATIONS} bytes"
        yield "metadata.annotations", "FieldValueTooLong", text


def _key_problems(key: str) -> Iterator[str]:
    """Of a qualified name: a name, or a DNS subdomain, a slash and a name."""
    prefix, slash, name = key.partition("/")
    if not slash:
        prefix, name = "", key
    if "/" in name:
        yield "a valid label key" + _NAME_RULE + _PREFIX_RULE
        return
    if slash and not prefix:
        yield "prefix part must be non-empty"
    if not name:
        yield "name part must be non-empty"
    elif len(name) > _LONGEST_LABEL:
        yield "name part must be no more than 63 characters"
    if not _NAME.match(name):
        yield "name part" + _NAME_RULE


def _new_finalizers(old: Object, new: Raw) -> Iterator[Cause]:
    """Whoever is on the way out takes no new guards."""
    if not old["metadata"].get("deletionTimestamp"):
        return
    known = old["metadata"].get("finalizers") or ()
    added = [one for one in new["metadata"].get("finalizers") or () if one not in known]
    if added:
        shown = ", ".join(f'"{one}"' for one in sorted(added))
        text = (
            "Forbidden: no new finalizers can be added if the object is being deleted, found new"
            f" finalizers []string{{{shown}}}"
        )
        yield "metadata.finalizers", "FieldValueForbidden", text


# --- fields of some kinds ------------------------------------------------------------------


def _budget(raw: Raw) -> Iterator[Cause]:
    spec = raw.get("spec") or {}
    if spec.get("minAvailable") is not None and spec.get("maxUnavailable") is not None:
        yield _invalid("spec", spec, "minAvailable and maxUnavailable cannot be both set")


def _event(raw: Raw) -> Iterator[Cause]:
    """Events about what is in no namespace are in the namespace default."""
    about, here = raw.get("involvedObject") or {}, raw["metadata"]["namespace"]
    there = about.get("namespace") or ""
    if there != here and not (not there and here == "default"):
        text = "does not match event.namespace"
        yield _invalid("involvedObject.namespace", there, text)


def _replicas(new: Raw) -> Iterator[Cause]:
    wanted = (new.get("spec") or {}).get("replicas")
    if isinstance(wanted, int) and wanted < 0:
        yield _invalid("spec.replicas", wanted, "must be greater than or equal to 0")


def _controller_change(old: Object, new: Raw) -> Iterator[Cause]:
    yield from _replicas(new)
    before, after = old["spec"].get("selector"), new["spec"].get("selector")
    labels = (new["spec"]["template"].get("metadata") or {}).get("labels") or {}
    wanted = (after or {}).get("matchLabels") or {}
    if any(labels.get(key) != value for key, value in wanted.items()):
        text = "`selector` does not match template `labels`"
        yield _invalid("spec.template.metadata.labels", labels, text)
    if before != after:
        yield _invalid("spec.selector", after, "field is immutable")


def _pod_change(old: Object, new: Raw) -> Iterator[Cause]:
    before, after = old["spec"], new["spec"]
    kept = before.get("tolerations") or []
    if any(one not in (after.get("tolerations") or ()) for one in kept):
        text = "Forbidden: existing toleration can not be modified except its tolerationSeconds"
        yield "spec.tolerations", "FieldValueForbidden", text
    elif _fixed(before) != _fixed(after):
        yield "spec", "FieldValueForbidden", _POD_RULE


def _fixed(spec: Raw) -> dict[str, Any]:
    """What of a pod's spec can never change."""
    open_fields = ("activeDeadlineSeconds", "tolerations", "schedulingGates", "nodeSelector")
    fixed = {key: value for key, value in spec.items() if key not in open_fields}
    for field in ("containers", "initContainers"):
        if fixed.get(field):
            fixed[field] = [{**one, "image": ""} for one in fixed[field]]
    return fixed


def _node_change(_old: Object, new: Raw) -> Iterator[Cause]:
    for number, taint in enumerate(new["spec"].get("taints") or ()):
        if not taint.get("effect"):
            field = f"metadata.taints[{number}].effect"
            yield field, "FieldValueRequired", "Required value"


_CHANGES: Mapping[str, Callable[[Object, Raw], Iterator[Cause]]] = {
    "pods": _pod_change,
    "nodes": _node_change,
    "deployments.apps": _controller_change,
    "replicasets.apps": _controller_change,
    "statefulsets.apps": _controller_change,
    "daemonsets.apps": _controller_change,
}


def _invalid(field: str, value: Any, problem: str) -> Cause:
    shown = json.dumps(value, separators=(",", ":"))
    return field, "FieldValueInvalid", f"Invalid value: {shown}: {problem}"
