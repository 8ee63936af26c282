# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Does one node suit one pod: taints and tolerations, node selector and required node affinity.

Source: k8s.io/component-helpers/scheduling/corev1 (nodeaffinity, helpers), 1.37. The daemon set
controller asks this of single nodes; the scheduler asks for all nodes at once, by its Fits.
"""

from __future__ import annotations

from typing import Any, Iterable, Mapping, Optional, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.base import Object
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.raw import labels_of

HARD = ("NoSchedule", "NoExecute")
Taint = Mapping[str, Any]


def taints_of(node: Object) -> Sequence[Taint]:
    found: Sequence[Taint] = (node.get("spec") or {}).get("taints") or ()
    return found


def tolerates(toleration: Mapping[str, Any], taint: Taint) -> bool:
    if toleration.get("effect") and toleration["effect"] != taint["effect"]:
        return False
    if toleration.get("key") and toleration["key"] != taint["key"]:
        return False
    if (toleration.get("operator") or "Equal") == "Exists":
        return True
    return bool(
        toleration.get("key") and (toleration.get("value") or "") == (taint.get("value") or "")
    )


def untolerated(
    tolerations: Iterable[Mapping[str, Any]], taints: Iterable[Taint], effects: Sequence[str] = HARD
) -> Optional[Taint]:
    """The first of these taints that keeps the pod away."""
    known = tuple(tolerations)
    for taint in taints:
        if taint["effect"] in effects and not any(tolerates(one, taint) for one in known):
            return taint
    return None


def selects(pod_spec: Mapping[str, Any], node: Object) -> bool:
    """Node selector and required node affinity, both of which must hold."""
    labels = labels_of(node)
    wanted = pod_spec.get("nodeSelector") or {}
    if any(labels.get(key) != value for key, value in wanted.items()):
        return False
    affinity = (pod_spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    return required is None or matches_any(required.get("nodeSelectorTerms") or (), node)


def matches_any(terms: Iterable[Mapping[str, Any]], node: Object) -> bool:
    """A nodeSelector's terms: one must hold; a term without conditions never does."""
    return any(_term(one, node) for one in terms)


def _term(term: Mapping[str, Any], node: Object) -> bool:
    expressions, fields = term.get("matchExpressions") or (), term.get("matchFields") or ()
    if not expressions and not fields:
        return False
    names = {"metadata.name": node["metadata"]["name"]}
    return all(_holds(one, labels_of(node)) for one in expressions) and all(
        _holds(one, names) for one in fields
    )


def _holds(expression: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    operator = expression["operator"]
    values: Sequence[str] = expression.get("values") or ()
    value = labels.get(expression["key"])
    if operator == "NotIn":
        return value not in values
    if operator == "DoesNotExist":
        return value is None
    if value is None:
        return False
    if operator == "In":
        return value in values
    return operator == "Exists" or _compares(operator, value, values[0])


def _compares(operator: str, value: str, limit: str) -> bool:
    try:
        return int(value) > int(limit) if operator == "Gt" else int(value) < int(limit)
    except ValueError:
        return False


def target_of(pod: Object) -> str:
    """The node that a daemon's pod is on or made for; "" for neither."""
    spec = pod["spec"]
    if spec.get("nodeName"):
        return str(spec["nodeName"])
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    for term in required.get("nodeSelectorTerms") or ():
        for one in term.get("matchFields") or ():
            if one["key"] == "metadata.name" and one["operator"] == "In":
                return str(one["values"][0])
    return ""
