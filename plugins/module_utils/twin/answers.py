# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The API server's refusals: metav1.Status, with the texts and fields that the real one gives.

Source: k8s.io/apimachinery pkg/api/errors, 1.37.
"""

from __future__ import annotations

from typing import Any, Mapping, Optional, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.kinds import Kind


class Refusal(Exception):
    """An answer that is not a success. body: the Status. plain: the text that stands for it where
    no part of the API answers."""

    def __init__(
        self,
        body: Mapping[str, Any],
        headers: Sequence[tuple[str, str]] = (),
        plain: str = "",
    ) -> None:
        super().__init__(body["message"])
        self.body = body
        self.headers = tuple(headers)
        self.plain = plain

    @property
    def code(self) -> int:
        return int(self.body["code"])


def status(
    code: int,
    reason: str,
    message: str,
    details: Optional[Mapping[str, Any]] = None,
    *,
    success: bool = False,
) -> dict[str, Any]:
    body: dict[str, Any] = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success" if success else "Failure",
    }
    if message:
        body["message"] = message
    if reason:
        body["reason"] = reason
    if details is not None:
        body["details"] = dict(details)
    return {**body, "code": code}


def _about(kind: Kind, name: str = "") -> dict[str, Any]:
    details: dict[str, Any] = {"name": name} if name else {}
    if kind.group:
        details["group"] = kind.group
    return {**details, "kind": kind.plural}


def not_found(kind: Kind, name: str) -> Refusal:
    message = f'{kind.resource} "{name}" not found'
    return Refusal(status(404, "NotFound", message, _about(kind, name)))


def no_such_path() -> Refusal:
    message = "the server could not find the requested resource"
    return Refusal(status(404, "NotFound", message, {}))


def no_such_group() -> Refusal:
    text = "404 page not found"
    return Refusal(status(404, "NotFound", text), plain=f"{text}\n")


def already_exists(kind: Kind, name: str) -> Refusal:
    message = f'{kind.resource} "{name}" already exists'
    return Refusal(status(409, "AlreadyExists", message, _about(kind, name)))


def conflict(kind: Kind, name: str, why: str) -> Refusal:
    message = f'Operation cannot be fulfilled on {kind.resource} "{name}": {why}'
    return Refusal(status(409, "Conflict", message, _about(kind, name)))


OTHER_NAMESPACE = (
    "the namespace of the provided object does not match the namespace sent on the request"
)
MODIFIED = (
    "the object has been modified; please apply your changes to the latest version and try again"
)


def uid_differs(kind: Kind, path: str, wanted: str, found: str) -> Refusal:
    """path: namespace/name, or the name alone."""
    why = (
        f"StorageError: invalid object, Code: 4, Key: /registry/{_stored_as(kind)}/{path},"
        " ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition:"
        f" {wanted}, UID in object meta: {found}"
    )
    return conflict(kind, path.rpartition("/")[2], why)


def _stored_as(kind: Kind) -> str:
    """Where etcd has the objects of a kind; two names are older than the resources'."""
    if kind.custom:
        return f"{kind.group}/{kind.plural}"
    return {"nodes": "minions", "leases": "leases"}.get(kind.plural, kind.plural)


def already_bound(name: str, why: str) -> Refusal:
    subject = "pods/binding"
    message = f'Operation cannot be fulfilled on {subject} "{name}": {why}'
    return Refusal(status(409, "Conflict", message, {"name": name, "kind": subject}))


def other_name(given: str, name: str) -> str:
    return f"the name of the object ({given}) does not match the name on the URL ({name})"


def versioned_creation() -> Refusal:
    """The real server takes this for a failure of its own."""
    return Refusal(status(500, "", "resourceVersion should not be set on objects to be created"))


def no_version(text: str) -> Refusal:
    """The real server takes this, too, for a failure of its own."""
    message = (
        f'resourceVersion: Invalid value: "{text}": strconv.ParseUint: parsing "{text}": invalid'
        " syntax"
    )
    return Refusal(status(500, "", message))


def unversioned(kind: Kind, name: str) -> Refusal:
    """The only one that names the resource where others name the kind."""
    field, text = "metadata.resourceVersion", "Invalid value: 0: must be specified for an update"
    message = f'{kind.resource} "{name}" is invalid: {field}: {text}'
    causes = [{"reason": "FieldValueInvalid", "message": text, "field": field}]
    return Refusal(status(422, "Invalid", message, {**_about(kind, name), "causes": causes}))


def invalid_options(what: str, causes: Sequence[tuple[str, str, str]]) -> Refusal:
    """what: ListOptions or DeleteOptions; causes as for invalid()."""
    texts = [f"{field}: {message}" for field, _reason, message in causes]
    joined = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    details = {
        "group": "meta.k8s.io",
        "kind": what,
        "causes": [
            {"reason": reason, "message": text, "field": field} for field, reason, text in causes
        ],
    }
    message = f'{what}.meta.k8s.io "" is invalid: {joined}'
    return Refusal(status(422, "Invalid", message, details))


def too_new(wanted: int, found: int) -> Refusal:
    message = f"Timeout: Too large resource version: {wanted}, current: {found}"
    text = "Too large resource version"
    causes = [{"reason": "ResourceVersionTooLarge", "message": text}]
    details = {"causes": causes, "retryAfterSeconds": 1}
    return Refusal(status(504, "Timeout", message, details), (("Retry-After", "1"),))


def forbidden_path(why: str) -> Refusal:
    return Refusal(status(403, "Forbidden", f"forbidden: {why}", {}))


def uid_not_deleted(kind: Kind, name: str, wanted: str, found: str) -> Refusal:
    what = f"the UID in the precondition ({wanted}) does not match the UID in record ({found})"
    return _not_deleted(kind, name, what)


def version_not_deleted(kind: Kind, name: str, wanted: str, found: str) -> Refusal:
    what = (
        f"the ResourceVersion in the precondition ({wanted}) does not match the ResourceVersion in"
        f" record ({found})"
    )
    return _not_deleted(kind, name, what)


def _not_deleted(kind: Kind, name: str, what: str) -> Refusal:
    """A deletion names the kind where all else names the resource."""
    subject = f"{kind.name}.{kind.group}" if kind.group else kind.name
    advice = "The object might have been deleted and then recreated"
    if "ResourceVersion" in what:
        advice = "The object might have been modified"
    message = f'Operation cannot be fulfilled on {subject} "{name}": {what}. {advice}'
    details = {**_about(kind, name), "kind": kind.name}
    return Refusal(status(409, "Conflict", message, details))


def invalid(kind: Kind, name: str, causes: Sequence[tuple[str, str, str]]) -> Refusal:
    """causes: (field, reason, message), such as ("metadata.name", "FieldValueRequired", "...")."""
    texts = [f"{field}: {message}" for field, _reason, message in causes]
    joined = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    group = f".{kind.group}" if kind.group else ""
    message = f'{kind.name}{group} "{name}" is invalid: {joined}'
    details = {
        **({"name": name} if name else {}),
        **({"group": kind.group} if kind.group else {}),
        "kind": kind.name,
        "causes": [
            {"reason": reason, "message": text, "field": field} for field, reason, text in causes
        ],
    }
    return Refusal(status(422, "Invalid", message, details))


def bad_request(message: str) -> Refusal:
    return Refusal(status(400, "BadRequest", message))


def forbidden(kind: Kind, name: str, why: str) -> Refusal:
    subject = f'{kind.resource} "{name}"' if name else kind.resource
    return Refusal(status(403, "Forbidden", f"{subject} is forbidden: {why}", _about(kind, name)))


def unauthorized() -> Refusal:
    return Refusal(status(401, "Unauthorized", "Unauthorized"))


def expired(message: str) -> Refusal:
    return Refusal(status(410, "Expired", message))


def method_not_allowed() -> Refusal:
    message = "the server does not allow this method on the requested resource"
    return Refusal(status(405, "MethodNotAllowed", message, {}))


def unsupported_media_type() -> Refusal:
    return Refusal(status(415, "UnsupportedMediaType", "415: Unsupported Media Type", {}))


def unprocessable(message: str) -> Refusal:
    """A patch that cannot be applied: a failed test, a path that is not there."""
    return Refusal(status(422, "Invalid", message, {}))


def namespace_terminating(kind: Kind, name: str, namespace: str) -> Refusal:
    why = f"unable to create new content in namespace {namespace} because it is being terminated"
    subject = f'{kind.resource} "{name}"'
    cause = {
        "reason": "NamespaceTerminating",
        "message": f"namespace {namespace} is being terminated",
        "field": "metadata.namespace",
    }
    details = {**_about(kind, name), "causes": [cause]}
    return Refusal(status(403, "Forbidden", f"{subject} is forbidden: {why}", details))
