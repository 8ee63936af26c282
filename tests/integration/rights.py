# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The rights that docs/rbac grants, and those that a user of a space made use of."""

from __future__ import annotations

from pathlib import Path

from tests.control_plane.space import Space
from tests.control_plane.users import documents

RBAC = Path(__file__).parents[2] / "docs" / "rbac"
# Asked for only after a conflict, which no test can order from a real server.
ON_CONFLICT = {("get", "", "pods", "")}

Right = tuple[str, str, str, str]


def together(directory: Path, *manifests: str) -> Path:
    """One manifest with the roles of several, for a user who is bound to all of them."""
    path = directory / f"roles-{'-'.join(manifests)}"
    path.write_text("".join((RBAC / name).read_text(encoding="utf-8") for name in manifests))
    return path


def granted(*manifests: str) -> set[Right]:
    """(verb, group, resource, namespace): namespace "" for the whole cluster."""
    rights = set()
    for document in (each for name in manifests for each in documents(RBAC / name)):
        namespace = document["metadata"].get("namespace", "")
        for rule in document["rules"]:
            rights |= {
                (verb, group, resource, namespace)
                for verb in rule["verbs"]
                for group in rule["apiGroups"]
                for resource in rule["resources"]
            }
    return rights


def used(space: Space, user: str) -> set[Right]:
    """Fails when a request was refused for want of a right."""
    rights = set()
    for request in space.requests(user):
        if request.group in ("authorization.k8s.io", "authentication.k8s.io"):
            continue
        assert request.status < 400 or request.status in (404, 409, 429), str(request)
        resource = "/".join(part for part in (request.resource, request.subresource) if part)
        of_role = request.resource in ("leases", "events")
        namespace = request.namespace if of_role else ""
        rights.add((request.verb, request.group, resource, namespace))
    return rights
