# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""From the API server's answers to the model's errors: fields first, then one sentence."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Mapping

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import (
    ApiFailure,
    Conflict,
    FleetError,
    Forbidden,
    Gone,
    NotFound,
    Unauthorized,
    Unreachable,
)

_RBAC = re.compile(r'User "(?P<user>[^"]*)" cannot (?P<verb>\S+) resource "(?P<resource>[^"]*)"')


@dataclass(frozen=True)
class Subject:
    """What a request is about. `verb`: RBAC's word; `resource`: "pods" or "pods/eviction"; `name`:
    namespace/name, or "" for a collection."""

    verb: str
    kind: str
    resource: str
    name: str = ""

    def __str__(self) -> str:
        return f"{self.verb} {self.resource} {self.name}".strip()


def status_of(data: bytes) -> Mapping[str, Any]:
    """The metav1.Status in an answer's body; one with only a message when it is something else."""
    try:
        body = json.loads(data)
    except ValueError:
        body = data.decode("utf-8", "replace").strip()[:200]
    return body if isinstance(body, dict) else {"message": str(body)}


def failure(status: int, body: Mapping[str, Any], subject: Subject) -> FleetError:
    """Returns the error of an answer that is not a success."""
    reason = str(body.get("reason") or "")
    message = str(body.get("message") or f"HTTP {status}").strip().rstrip(".")
    if status == 404:
        return NotFound(subject.kind, subject.name or f"(the API serves no {subject.resource})")
    if status == 403:
        return _forbidden(message, reason, subject)
    if status == 422 and _test_failed(body):
        return Conflict(
            f"{subject.kind} {subject.name} has changed meanwhile; nothing was written.",
            status=status,
            reason=reason,
        )
    classes = {401: Unauthorized, 409: Conflict, 410: Gone}
    kind = classes.get(status, ApiFailure)
    return kind(
        f"The API server answered {status} to {subject}: {message}.", status=status, reason=reason
    )


def _test_failed(body: Mapping[str, Any]) -> bool:
    """A `test` of a JSON patch that fails is a 422 that names no object; a validation names it."""
    return not (body.get("details") or {}).get("name")


def _forbidden(message: str, reason: str, subject: Subject) -> Forbidden:
    """RBAC's refusal is recognised by its words; an admission's keeps its own."""
    match = _RBAC.search(message)
    if match is None:
        return Forbidden(
            f"The API server forbids to {subject}: {message}.",
            status=403,
            reason=reason,
            verb=subject.verb,
            resource=subject.resource,
        )
    user, verb, resource = match["user"], match["verb"], match["resource"]
    where = message[match.end() :]
    scope = re.search(r'in the namespace "([^"]*)"', where)
    return Forbidden(
        f'User "{user}" may not {verb} {resource} '
        f"{'in namespace ' + scope[1] if scope else 'in the whole cluster'}.",
        f'Grant the verb "{verb}" on "{resource}" to this user by RBAC, or use another user.',
        status=403,
        reason=reason,
        verb=verb,
        resource=resource,
        user=user,
    )


def unreadable(subject: Subject, error: ValueError) -> ApiFailure:
    """For an answer that cannot be parsed: no JSON, or a value that no API server gives."""
    return ApiFailure(
        f"The answer to {subject} cannot be read: {error}.",
        "Check that the server's address leads to a Kubernetes API, past any login page.",
    )


def unreachable(server: str, cause: str, tried: int, subject: Subject, sent: bool) -> Unreachable:
    """`sent`: a write may have reached the server."""
    tries = "" if tried == 1 else f" ({tried} tries)"
    doubt = " It may or may not have been carried out." if sent else ""
    return Unreachable(
        f"The API server {server} did not answer to {subject}: {cause}{tries}.{doubt}",
        "Check that address, the network and the proxy between.",
    )
