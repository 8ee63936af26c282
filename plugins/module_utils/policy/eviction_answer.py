# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What the Eviction API's answer means. Shapes and texts are those of Kubernetes 1.37.

Sources: pkg/registry/core/pod/storage/eviction.go, and in k8s.io/apiserver pkg/admission
(namespace/lifecycle, webhook/errors, policy/validating), pkg/util/webhook,
pkg/server/filters/priority-and-fairness.go, pkg/endpoints/handlers/responsewriters/errors.go.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import Any, Callable, Mapping, Optional, Protocol


class EvictionAnswer(Protocol):
    """backends.base.Answer: the HTTP status, the metav1.Status (or only a message), Retry-After."""

    @property
    def status(self) -> int: ...

    @property
    def body(self) -> Mapping[str, Any]: ...

    @property
    def retry_after(self) -> Optional[float]: ...


class AnswerKind(Enum):
    """What to do about each stands behind it; `name` of the verdict says what is in brackets."""

    ACCEPTED = "accepted"  # the pod is leaving: wait for its UID to go
    GONE = "gone"  # there is no such pod any more: done
    REPLACED = "replaced"  # another pod has its name: done, but read it to be sure
    BUDGET = "budget"  # [PodDisruptionBudget] does not allow it now: try when it changes
    DISRUPTED_FULL = "disrupted_full"  # [PodDisruptionBudget] has too many open evictions: wait
    SEVERAL_BUDGETS = "several_budgets"  # refused for good, however much they allow
    THROTTLED = "throttled"  # the API server is busy: wait retry_after
    WEBHOOK = "webhook"  # [webhook] denied it: its text says whether waiting helps
    WEBHOOK_FAILED = "webhook_failed"  # [webhook] did not answer: try again for a while
    ADMISSION_POLICY = "admission_policy"  # [ValidatingAdmissionPolicy] denied it
    NAMESPACE_TERMINATING = "namespace_terminating"  # [namespace] deletes its pods by itself: wait
    FORBIDDEN = "forbidden"  # [verb resource] is not granted to us, for good
    RETRY = "retry"  # a conflict, or trouble inside the server: try again with backoff
    FAILED = "failed"  # anything else, for good


@dataclass(frozen=True)
class EvictionVerdict:
    """`text` is the server's own sentence, without what `kind` and `name` say already.

    status: of HTTP. retry_after: seconds, when the server named them.
    """

    kind: AnswerKind
    name: str
    text: str
    status: int
    retry_after: Optional[float]


_WEBHOOK = re.compile(r'admission webhook "([^"]+)" denied the request:? ?(.*)', re.DOTALL)
_WEBHOOK_FAILED = re.compile(r'failed calling webhook "([^"]+)": ?(.*)', re.DOTALL)
_POLICY = re.compile(
    r"ValidatingAdmissionPolicy '([^']+)'(?: with binding '[^']+')? denied request: ?(.*)",
    re.DOTALL,
)
_BUDGET = re.compile(r"The disruption budget (\S+) ")
_RBAC = re.compile(r'User ".*" cannot (\S+) resource "([^"]+)"')
_ANOTHER_UID = re.compile(r"UID in (?:the )?precondition")
_FULL = re.compile(r"DisruptedPods map too big|too many pending evictions")

_Found = Optional[tuple[AnswerKind, str, str]]


def classify(answer: EvictionAnswer) -> EvictionVerdict:
    """Returns what an answer to POST pods/NAME/eviction means."""
    message = str(answer.body.get("message") or f"HTTP {answer.status}")
    for rule in _RULES:
        found = rule(answer, message)
        if found is not None:
            return EvictionVerdict(*found, status=answer.status, retry_after=answer.retry_after)
    return EvictionVerdict(AnswerKind.FAILED, "", message, answer.status, answer.retry_after)


def _accepted(answer: EvictionAnswer, _message: str) -> _Found:
    return (AnswerKind.ACCEPTED, "", "") if 200 <= answer.status < 300 else None


def _admission(_answer: EvictionAnswer, message: str) -> _Found:
    """A webhook chooses its status freely, 404 and 429 included: only the text tells."""
    for kind, pattern in (
        (AnswerKind.WEBHOOK, _WEBHOOK),
        (AnswerKind.WEBHOOK_FAILED, _WEBHOOK_FAILED),
        (AnswerKind.ADMISSION_POLICY, _POLICY),
    ):
        match = pattern.search(message)
        if match is not None:
            return kind, match.group(1), match.group(2)
    return None


def _terminating(answer: EvictionAnswer, message: str) -> _Found:
    if _cause(answer, "NamespaceTerminating") is None:
        return None
    match = re.search(r"in namespace (\S+) because", message)
    return AnswerKind.NAMESPACE_TERMINATING, match.group(1) if match else "", message


def _budget(answer: EvictionAnswer, message: str) -> _Found:
    """429 mostly, with or without Retry-After; 403 for a full list or a negative allowance."""
    text = _cause(answer, "DisruptionBudget")
    if text is None:
        return None
    match = _BUDGET.search(text)
    full = _FULL.search(text) or _FULL.search(message)
    kind = AnswerKind.DISRUPTED_FULL if full else AnswerKind.BUDGET
    return kind, match.group(1) if match else "", text or message


def _gone(answer: EvictionAnswer, message: str) -> _Found:
    """C14. A 404 that names no object speaks of the path (a proxy's, say), not of the pod."""
    named = answer.body.get("reason") == "NotFound" and _details(answer).get("name")
    return (AnswerKind.GONE, "", message) if answer.status == 404 and named else None


def _conflict(answer: EvictionAnswer, message: str) -> _Found:
    if answer.status != 409:
        return None
    replaced = _ANOTHER_UID.search(message)
    return AnswerKind.REPLACED if replaced else AnswerKind.RETRY, "", message


def _throttled(answer: EvictionAnswer, message: str) -> _Found:
    return (AnswerKind.THROTTLED, "", message) if answer.status == 429 else None


def _several_budgets(answer: EvictionAnswer, message: str) -> _Found:
    """C07."""
    several = answer.status == 500 and "more than one PodDisruptionBudget" in message
    return (AnswerKind.SEVERAL_BUDGETS, "", message) if several else None


def _forbidden(answer: EvictionAnswer, message: str) -> _Found:
    if answer.status != 403:
        return None
    if "not yet ready to handle request" in message:  # the server's caches are still filling
        return AnswerKind.RETRY, "", message
    match = _RBAC.search(message)
    return AnswerKind.FORBIDDEN, " ".join(match.groups()) if match else "", message


def _trouble(answer: EvictionAnswer, message: str) -> _Found:
    passing = answer.status >= 500 or answer.status == 408
    return (AnswerKind.RETRY, "", message) if passing else None


# The first that knows the answer decides. Admission comes before all that looks at the status;
# causes, which only the server writes, before texts.
_RULES: tuple[Callable[[EvictionAnswer, str], _Found], ...] = (
    _accepted,
    _admission,
    _terminating,
    _budget,
    _gone,
    _conflict,
    _throttled,
    _several_budgets,
    _forbidden,
    _trouble,
)


def _details(answer: EvictionAnswer) -> Mapping[str, Any]:
    return answer.body.get("details") or {}


def _cause(answer: EvictionAnswer, cause_type: str) -> Optional[str]:
    """The message of a cause; in JSON a cause's type is called its reason."""
    for cause in _details(answer).get("causes") or ():
        if cause.get("reason") == cause_type:
            return str(cause.get("message") or "")
    return None
