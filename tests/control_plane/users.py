# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Users of one space: each kubeconfig is a user whom no other test has, so that the audit log
tells who did what, also when ansible-playbook and its children made the requests."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from . import credentials
from .api import Document
from .files import next_number
from .plane import Plane

RBAC = "/apis/rbac.authorization.k8s.io/v1"
ISSUER = Path(__file__).with_name("issue_token.py")


@dataclass(frozen=True)
class _User:
    """`name` is the API's, as the audit log shows it."""

    name: str
    token: str
    subject: Document
    entry: Document


class Users:
    """`created`: paths of objects to delete at the end."""

    def __init__(self, plane: Plane, space: str, namespace: str, scratch: Path) -> None:
        self._plane = plane
        self._space = space
        self._namespace = namespace
        self._scratch = scratch
        self._api = plane.api()
        self._known: dict[str, _User] = {}
        self.created: list[str] = []

    def kubeconfig(
        self, user: str, roles: Path | None, token_seconds: int | None, server: str | None
    ) -> Path:
        if user not in self._known:
            self._known[user] = self._new(user, roles, token_seconds)
        text = credentials.kubeconfig(
            server or self._plane.server,
            self._plane.layout.certificate,
            self._known[user].entry,
        )
        suffix = "" if server is None else "-" + server.rsplit(":", 1)[-1]
        path = self._scratch / f"kubeconfig-{self._space}-{user}{suffix}"
        path.write_text(text)
        return path

    def name(self, user: str) -> str:
        return self._known[user].name

    def token(self, user: str) -> str:
        return self._known[user].token

    def token_requests(self, user: str) -> int:
        log = self._token_log(user)
        return len(log.read_text().splitlines()) if log.exists() else 0

    def _token_log(self, user: str) -> Path:
        return self._scratch / f"tokens-{self._space}-{user}"

    def _new(self, user: str, roles: Path | None, token_seconds: int | None) -> _User:
        if token_seconds is not None:
            made = self._service_account(user, token_seconds)
        else:
            made = self._static("runner" if roles is None else "limited")
        if roles is not None:
            self._bind(user, made.subject, roles)
        elif token_seconds is not None:
            self._bind_cluster_admin(user, made.subject)
        return made

    def _static(self, kind: str) -> _User:
        number = next_number(self._plane.state / f"{kind}.next", credentials.USERS_PER_KIND)
        name = f"{kind}-{number:04}"
        subject = {"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": name}
        return _User(name, name, subject, {"token": name})

    def _service_account(self, user: str, seconds: int) -> _User:
        path = f"/api/v1/namespaces/{self._namespace}/serviceaccounts"
        uid = self._api.create(path, {"metadata": {"name": user}})["metadata"]["uid"]
        key = self._plane.layout.signing_key
        log = self._token_log(user)
        arguments = [str(ISSUER), str(key), self._namespace, user, uid, str(seconds), str(log)]
        plugin = {
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": sys.executable,
            "args": arguments,
            "interactiveMode": "Never",
        }
        return _User(
            f"system:serviceaccount:{self._namespace}:{user}",
            credentials.service_account_token(key, self._namespace, user, uid, seconds),
            {"kind": "ServiceAccount", "name": user, "namespace": self._namespace},
            {"exec": plugin},
        )

    def _bind_cluster_admin(self, user: str, subject: Document) -> None:
        role = {"kind": "ClusterRole", "name": "cluster-admin"}
        self._create_binding("ClusterRoleBinding", f"{self._space}-{user}", role, subject, None)

    def _bind(self, user: str, subject: Document, manifest: Path) -> None:
        """Roles under names of this space, so that tests do not share them; bindings of the
        manifest name other subjects and are left out."""
        for document in documents(manifest):
            kind = document.get("kind")
            if kind not in ("ClusterRole", "Role"):
                continue
            metadata = document["metadata"]
            name = f"{self._space}-{user}-{metadata['name']}"
            namespace = metadata.get("namespace") if kind == "Role" else None
            self._create(kind, name, namespace, {"rules": document["rules"]})
            role = {"kind": kind, "name": name}
            self._create_binding(f"{kind}Binding", name, role, subject, namespace)
            for rule in document["rules"]:
                self._wait_until_allowed(subject, rule, namespace)

    def _wait_until_allowed(self, subject: Document, rule: Document, namespace: str | None) -> None:
        """The authorizer learns of a new binding by its own watch, a moment later."""
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {"user": _user_name(subject), **_attributes(rule, namespace)},
        }
        deadline = time.monotonic() + 10.0
        path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
        while not self._api.create(path, review)["status"]["allowed"]:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{_user_name(subject)} is not allowed {rule}")
            time.sleep(0.02)

    def _create_binding(
        self, kind: str, name: str, role: Document, subject: Document, namespace: str | None
    ) -> None:
        reference = {"apiGroup": "rbac.authorization.k8s.io", **role}
        self._create(kind, name, namespace, {"roleRef": reference, "subjects": [subject]})

    def _create(self, kind: str, name: str, namespace: str | None, body: dict[str, Any]) -> None:
        place = f"{RBAC}/namespaces/{namespace}" if namespace else RBAC
        path = f"{place}/{kind.lower()}s"
        document = {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": kind,
            "metadata": {"name": name},
            **body,
        }
        self._api.create(path, document)
        self.created.append(f"{path}/{name}")


def documents(manifest: Path) -> Iterator[Document]:
    """The objects of a manifest, those in a List one by one."""
    for document in yaml.safe_load_all(manifest.read_text()):
        if document and document.get("kind") == "List":
            yield from document["items"]
        elif document:
            yield document


def _user_name(subject: Document) -> str:
    if subject["kind"] == "User":
        return str(subject["name"])
    return f"system:serviceaccount:{subject['namespace']}:{subject['name']}"


def _attributes(rule: Document, namespace: str | None) -> Document:
    """One question that the rule allows, for a SubjectAccessReview."""
    if "nonResourceURLs" in rule:
        path = str(rule["nonResourceURLs"][0]).replace("*", "x")
        return {"nonResourceAttributes": {"path": path, "verb": rule["verbs"][0]}}
    resource, _unused, subresource = str(rule["resources"][0]).partition("/")
    attributes = {
        "verb": rule["verbs"][0],
        "group": rule["apiGroups"][0],
        "resource": resource,
        "subresource": subresource,
        "namespace": namespace or "",
        "name": (rule.get("resourceNames") or [""])[0],
    }
    return {"resourceAttributes": attributes}
