# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Questions that make the API server say what it thinks of a quantity, a selector, a pod's size.

All of them are dry runs: nothing is stored, and the same name serves for every question.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Union
from urllib.parse import urlencode

from tests.control_plane.api import Answer, Document
from tests.control_plane.space import Space

ADMISSION = "/apis/admissionregistration.k8s.io/v1"
SLICES = "/apis/resource.k8s.io/v1/resourceslices"
DRY_RUN = "?dryRun=All"
REJECTED, EQUAL, DIFFERS = "rejected", "equal", "differs"
_VERDICT = re.compile(r"denied request: (\w+)$")
_REQUESTED = re.compile(r"requested: (.*?), used:")
_CANONICAL = re.compile(r"([0-9]+)(?:e([+-]?[0-9]+))?([A-Za-z]*)")
# What the server writes of its own, after rounding up; larger suffixes are not drawn here.
_SUFFIXES = {"": 1, "m": Fraction(1, 1000), "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12} | {
    "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40
}  # fmt: skip


class QuantityOracle:
    """The server compares two quantities in CEL, where they are read by ParseQuantity itself.

    A stored field would not do: a quantity keeps the text it was read from until it is added to.
    """

    def __init__(self, space: Space) -> None:
        self._space = space
        self._configs = space.path("v1", "configmaps") + DRY_RUN
        space.add(f"{ADMISSION}/validatingadmissionpolicies", _policy(space.id))
        space.add(f"{ADMISSION}/validatingadmissionpolicybindings", _binding(space.id))
        space.wait(lambda: self._ask("1", "1").status == 422, "the policy is in force")

    def compare(self, text: str, nanos: int) -> str:
        """REJECTED, or whether this text is EQUAL to so many 10^-9, or DIFFERS."""
        answer = self._ask(text, f"{nanos}n")
        found = _VERDICT.search(answer.body["message"])
        assert answer.status == 422, answer
        assert found, answer
        return found.group(1)

    def takes(self, value: Union[str, int, float]) -> bool:
        """Whether a field of this JSON value is accepted in an object."""
        answer = self._space.api.request("POST", SLICES + DRY_RUN, _slice(value))
        assert answer.status in (201, 400), answer
        return answer.status == 201

    def _ask(self, text: str, value: str) -> Answer:
        body = {"metadata": {"name": "question"}, "data": {"text": text, "value": value}}
        return self._space.api.request("POST", self._configs, body)


def _policy(name: str) -> Document:
    answer = (
        f"!isQuantity(object.data.text) ? '{REJECTED}'"
        " : quantity(object.data.text).compareTo(quantity(object.data.value)) == 0"
        f" ? '{EQUAL}' : '{DIFFERS}'"
    )
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": ["configmaps"],
    }
    asked = {"name": "asked", "expression": "has(object.data) && 'text' in object.data"}
    spec = {
        "failurePolicy": "Fail",
        "matchConstraints": {"resourceRules": [rule]},
        "matchConditions": [asked],
        "validations": [{"expression": "false", "messageExpression": answer}],
    }
    return {"metadata": {"name": name}, "spec": spec}


def _binding(name: str) -> Document:
    here = {"namespaceSelector": {"matchLabels": {"test-space": name}}}
    spec = {"policyName": name, "validationActions": ["Deny"], "matchResources": here}
    return {"metadata": {"name": name}, "spec": spec}


def _slice(value: Union[str, int, float]) -> Document:
    """A field of type Quantity whose value may be of either sign."""
    spec = {
        "driver": "a.test",
        "nodeName": "none",
        "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
        "devices": [{"name": "d", "capacity": {"q": {"value": value}}}],
    }
    return {"metadata": {"name": "question"}, "spec": spec}


class SelectorOracle:
    """`labels`: those of the pods that there are, by name."""

    def __init__(self, space: Space, labels: Mapping[str, Mapping[str, str]]) -> None:
        self._space = space
        self._pods = space.path("v1", "pods")
        self._budgets = space.path("policy/v1", "poddisruptionbudgets") + DRY_RUN
        container = {"name": "main", "image": "registry.test/main:1"}
        # A scheduler that nobody runs: they stay as they are.
        spec = {"containers": [container], "schedulerName": "none"}
        for name, chosen in labels.items():
            metadata = {"name": name, "labels": dict(chosen)}
            space.api.create(self._pods, {"metadata": metadata, "spec": spec})

    def selected(self, text: str) -> Union[list[str], str]:
        """Names of the pods that a list with this selector has, or REJECTED."""
        answer = self._space.api.request(
            "GET", f"{self._pods}?{urlencode({'labelSelector': text})}"
        )
        assert answer.status in (200, 400), answer
        if answer.status == 400:
            return REJECTED
        return sorted(item["metadata"]["name"] for item in answer.body["items"])

    def takes(self, selector: Any) -> bool:
        """Whether a PodDisruptionBudget with this LabelSelector may be made."""
        spec = {"selector": selector, "minAvailable": 1}
        body = {"metadata": {"name": "question"}, "spec": spec}
        answer = self._space.api.request("POST", self._budgets, body)
        assert answer.status in (201, 400, 422), answer
        return answer.status == 201


class RequestsOracle:
    """A quota of nothing refuses every pod, and says how much that pod asks for."""

    HARD = {"requests.cpu": "0", "requests.memory": "0"}

    def __init__(self, space: Space) -> None:
        self._space = space
        self._pods = space.path("v1", "pods") + DRY_RUN
        quotas = space.path("v1", "resourcequotas")
        space.api.create(quotas, {"metadata": {"name": "none"}, "spec": {"hard": self.HARD}})
        space.wait(
            lambda: space.api.get(f"{quotas}/none").get("status", {}).get("hard"), "quota is known"
        )
        self.runtime_class = space.id
        fixed = {"podFixed": {"cpu": "50m", "memory": "10Mi"}}
        classes = "/apis/node.k8s.io/v1/runtimeclasses"
        handler = {"metadata": {"name": space.id}, "handler": "x", "overhead": fixed}
        space.add(classes, handler)
        self.overhead = fixed["podFixed"]

    def requests(self, spec: Document) -> Union[dict[str, int], str]:
        """cpu in millicores and memory in bytes, 0 left out; or why the pod is not valid."""
        body = {"metadata": {"name": "question"}, "spec": spec}
        answer = self._space.api.request("POST", self._pods, body)
        if answer.status == 201:
            return {}
        if answer.status == 422:
            return str(answer.body["message"])
        found = _REQUESTED.search(answer.body["message"])
        assert answer.status == 403, answer
        assert found, answer
        return dict(_amount(*part.split("=")) for part in found.group(1).split(","))


def _amount(name: str, text: str) -> tuple[str, int]:
    """Reads the server's canonical form, with no code of the collection."""
    match = _CANONICAL.fullmatch(text)
    assert match, text
    digits, exponent, suffix = match.groups(default="")
    value = int(digits) * Fraction(10) ** int(exponent or "0") * _SUFFIXES[suffix]
    resource = name.removeprefix("requests.")
    whole = value * 1000 if resource == "cpu" else value
    assert whole.denominator == 1, text
    return resource, int(whole)
