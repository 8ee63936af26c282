# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""policy/eviction_answer: what the Eviction API says. The bodies are those of a 1.37.2 server."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Mapping, Optional

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eviction_answer import (
    AnswerKind,
    EvictionVerdict,
    classify,
)

Kind = AnswerKind
REFUSED_BY_BUDGET = "Cannot evict pod as it would violate the pod's disruption budget."


@dataclass(frozen=True)
class Said:
    status: int
    body: Mapping[str, Any] = field(default_factory=dict)
    retry_after: Optional[float] = None


def failure(status, message, reason="", details=None, retry_after=None):
    body = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "details": details or {},
        "code": status,
    }
    return Said(status, {key: value for key, value in body.items() if value != ""}, retry_after)


def of_budget(text, status=429, message=REFUSED_BY_BUDGET, retry_after=None):
    details = {"causes": [{"reason": "DisruptionBudget", "message": text}]}
    reason = "TooManyRequests" if status == 429 else "Forbidden"
    return failure(status, message, reason, details, retry_after)


POD = {"name": "web-1", "kind": "pods"}
EXHAUSTED = "The disruption budget p1 needs 1 healthy pods and has 1 currently"
PROCESSING = "The disruption budget p1 is still being processed by the server."
SYNC_FAILED = (
    "The disruption budget p1 does not allow evicting pods currently because it failed sync: "
    "daemonsets.apps does not implement the scale subresource"
)
TOO_MANY = (
    "The disruption budget p5 does not allow evicting pods currently: too many pending evictions "
    "not confirmed by PDB controller"
)
NEGATIVE = (
    "The disruption budget p5 does not allow evicting pods currently: pdb disruptions allowed is "
    "negative"
)
FORBIDDEN_PDB = 'poddisruptionbudget.policy "p5" is forbidden: '
SEVERAL = (
    "This pod has more than one PodDisruptionBudget, which the eviction subresource does not "
    "support."
)
ANOTHER_UID = (
    'Operation cannot be fulfilled on Pod "web-1": the UID in the precondition (1111) does not '
    "match the UID in record (62fb). The object might have been deleted and then recreated"
)
ANOTHER_UID_AT_DELETE = (
    'Operation cannot be fulfilled on pods "web-1": StorageError: invalid object, Code: 4, Key: '
    "/registry/pods/shop/web-1, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID "
    "in precondition: 1111, UID in object meta: 62fb"
)
ANOTHER_VERSION = (
    'Operation cannot be fulfilled on Pod "web-1": the ResourceVersion in the precondition (1) '
    "does not match the ResourceVersion in record (414). The object might have been modified"
)
RBAC = (
    'pods "web-1" is forbidden: User "bob" cannot create resource "pods/eviction" in API group "" '
    'in the namespace "shop"'
)
TERMINATING = (
    'pods "web-1" is forbidden: unable to create new content in namespace shop because it is being '
    "terminated"
)
TERMINATING_CAUSE = {
    "reason": "NamespaceTerminating",
    "message": "namespace shop is being terminated",
    "field": "metadata.namespace",
}
POLICY = (
    "ValidatingAdmissionPolicy 'no-drain' with binding 'everywhere' denied request: not on a Friday"
)
EVACUATION = 'Eviction triggered evacuation of VMI "shop/vm"'
CALL = 'failed to call webhook: Post "https://guard.shop.svc/x": connection refused'

ANSWERS = [
    pytest.param(Said(201, {"status": "Success"}), Kind.ACCEPTED, "", "", id="created"),
    pytest.param(Said(200, {"status": "Success"}), Kind.ACCEPTED, "", "", id="ok"),
    pytest.param(
        failure(404, 'pods "web-1" not found', "NotFound", POD),
        Kind.GONE,
        "",
        'pods "web-1" not found',
        id="C14 the pod is gone",
    ),
    pytest.param(
        failure(
            404, 'namespaces "shop" not found', "NotFound", {"name": "shop", "kind": "namespaces"}
        ),
        Kind.GONE,
        "",
        'namespaces "shop" not found',
        id="its namespace is gone",
    ),
    pytest.param(
        failure(404, "the server could not find the requested resource", "NotFound"),
        Kind.FAILED,
        "",
        "the server could not find the requested resource",
        id="a path that the server does not know says nothing of the pod",
    ),
    pytest.param(
        Said(404, {"message": "404 page not found"}),
        Kind.FAILED,
        "",
        "404 page not found",
        id="a proxy's 404",
    ),
    pytest.param(
        failure(409, ANOTHER_UID, "Conflict", {"name": "web-1", "kind": "Pod"}),
        Kind.REPLACED,
        "",
        ANOTHER_UID,
        id="another UID",
    ),
    pytest.param(
        failure(409, ANOTHER_UID_AT_DELETE, "Conflict", POD),
        Kind.REPLACED,
        "",
        ANOTHER_UID_AT_DELETE,
        id="another UID by the time of the deletion",
    ),
    pytest.param(
        failure(409, ANOTHER_VERSION, "Conflict", {"name": "web-1", "kind": "Pod"}),
        Kind.RETRY,
        "",
        ANOTHER_VERSION,
        id="changed meanwhile",
    ),
    pytest.param(of_budget(EXHAUSTED), Kind.BUDGET, "p1", EXHAUSTED, id="budget exhausted"),
    pytest.param(
        of_budget(PROCESSING, retry_after=10.0),
        Kind.BUDGET,
        "p1",
        PROCESSING,
        id="a budget with Retry-After is no throttling",
    ),
    pytest.param(of_budget(SYNC_FAILED), Kind.BUDGET, "p1", SYNC_FAILED, id="C11 sync failed"),
    pytest.param(
        of_budget(NEGATIVE, 403, FORBIDDEN_PDB + "pdb disruptions allowed is negative"),
        Kind.BUDGET,
        "p5",
        NEGATIVE,
        id="a budget's 403 is not RBAC's",
    ),
    pytest.param(
        of_budget(TOO_MANY, 403, FORBIDDEN_PDB + "DisruptedPods map too big - too many evictions"),
        Kind.DISRUPTED_FULL,
        "p5",
        TOO_MANY,
        id="full list of disrupted pods",
    ),
    pytest.param(
        failure(500, SEVERAL), Kind.SEVERAL_BUDGETS, "", SEVERAL, id="C07 several budgets"
    ),
    pytest.param(
        Said(429, {"message": "Too many requests, please try again later."}, 1.0),
        Kind.THROTTLED,
        "",
        "Too many requests, please try again later.",
        id="priority and fairness",
    ),
    pytest.param(
        failure(429, f'admission webhook "virt" denied the request: {EVACUATION}'),
        Kind.WEBHOOK,
        "virt",
        EVACUATION,
        id="a webhook's 429",
    ),
    pytest.param(
        failure(404, 'admission webhook "a.b" denied the request: no\nnot now', "NotFound", POD),
        Kind.WEBHOOK,
        "a.b",
        "no\nnot now",
        id="a webhook's 404 is no sign that the pod is gone",
    ),
    pytest.param(
        failure(403, 'admission webhook "a.b" denied the request without explanation', "Forbidden"),
        Kind.WEBHOOK,
        "a.b",
        "without explanation",
        id="a webhook that gives no reason",
    ),
    pytest.param(
        failure(500, f'Internal error occurred: failed calling webhook "a.b": {CALL}'),
        Kind.WEBHOOK_FAILED,
        "a.b",
        CALL,
        id="a webhook that is down",
    ),
    pytest.param(
        failure(422, f'pods "web-1" is forbidden: {POLICY}', "Invalid", POD),
        Kind.ADMISSION_POLICY,
        "no-drain",
        "not on a Friday",
        id="a validating admission policy",
    ),
    pytest.param(
        failure(403, TERMINATING, "Forbidden", {**POD, "causes": [TERMINATING_CAUSE]}),
        Kind.NAMESPACE_TERMINATING,
        "shop",
        TERMINATING,
        id="terminating namespace",
    ),
    pytest.param(
        failure(403, RBAC, "Forbidden", POD),
        Kind.FORBIDDEN,
        "create pods/eviction",
        RBAC,
        id="RBAC",
    ),
    pytest.param(
        failure(
            403, 'pods "web-1" is forbidden: not yet ready to handle request', "Forbidden", POD
        ),
        Kind.RETRY,
        "",
        'pods "web-1" is forbidden: not yet ready to handle request',
        id="a server that has just started",
    ),
    pytest.param(
        failure(504, 'Timeout: couldn\'t update PodDisruptionBudget "p1" due to conflicts'),
        Kind.RETRY,
        "",
        'Timeout: couldn\'t update PodDisruptionBudget "p1" due to conflicts',
        id="conflicts on the budget",
    ),
    pytest.param(Said(503), Kind.RETRY, "", "HTTP 503", id="no body at all"),
    pytest.param(
        failure(400, "name in URL does not match name in Eviction object", "BadRequest"),
        Kind.FAILED,
        "",
        "name in URL does not match name in Eviction object",
        id="anything else is for good",
    ),
]


@pytest.mark.parametrize(("answer", "kind", "name", "text"), ANSWERS)
def test_an_answer_is_sorted_by_its_status_causes_and_text(answer, kind, name, text):
    verdict = EvictionVerdict(kind, name, text, answer.status, answer.retry_after)
    assert classify(answer) == verdict


def test_every_kind_of_answer_is_shown_above():
    assert {case.values[1] for case in ANSWERS} == set(AnswerKind)
