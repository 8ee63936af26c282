# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Who may do what on the plane, and what the audit log says that they did."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.control_plane.api import Api
from tests.control_plane.audit import Request
from tests.control_plane.space import Space
from tests.control_plane.tools import kubectl
from tests.control_plane.webhooks import Denied

READ_NODES = """
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reader}
rules:
- {apiGroups: [""], resources: [nodes], verbs: [get, list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: leases, namespace: kube-system}
rules:
- {apiGroups: [coordination.k8s.io], resources: [leases], verbs: [create]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reader}
subjects: [{kind: User, name: somebody-else, apiGroup: rbac.authorization.k8s.io}]
"""


def run(config: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(kubectl()), "--kubeconfig", str(config), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def essence(requests: list[Request]) -> list[tuple[str, str, str, int]]:
    return [(r.verb, f"{r.resource}/{r.subresource}", r.name, r.status) for r in requests]


def test_the_audit_log_tells_what_a_child_process_wrote_and_read(space: Space) -> None:
    [node] = space.nodes(1)
    config = space.kubeconfig()
    run(config, "get", "node", node)

    before = space.audit.mark()
    run(config, "cordon", node)

    patched = ("patch", "nodes/", node, 200)
    assert essence(space.requests(since=before)) == [("get", "nodes/", node, 200), patched]
    assert essence(space.writes()) == [patched]
    assert space.writes()[0].body == {"spec": {"unschedulable": True}}


def test_users_and_user_agents_are_told_apart(space: Space) -> None:
    [node] = space.nodes(1)
    run(space.kubeconfig("first"), "cordon", node)
    run(space.kubeconfig("second"), "get", "node", node)

    assert len(space.writes("first")) == 1
    assert space.writes("second") == []
    assert len(space.requests("second", agent="kubectl/")) == 1
    assert space.requests("second", agent="ansible") == []


def test_an_eviction_a_dry_run_and_a_refused_write_count_as_writes(space: Space) -> None:
    [node] = space.nodes(1)
    space.bare_pod("app", node=node)
    space.wait_running()
    space.kubeconfig()
    api = Api(space.plane.server, space.token(), space.plane.layout.certificate)

    api.evict(space.namespace, "app")
    api.request("PATCH", f"/api/v1/nodes/{node}?dryRun=All", {}, "application/merge-patch+json")
    api.request("DELETE", "/api/v1/nodes/no-such-node")
    api.request("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", REVIEW)

    assert essence(space.writes()) == [
        ("create", "pods/eviction", "app", 201),
        ("patch", "nodes/", node, 200),
        ("delete", "nodes/", "no-such-node", 404),
    ]
    assert len(space.requests()) == 4


REVIEW = {
    "apiVersion": "authorization.k8s.io/v1",
    "kind": "SelfSubjectAccessReview",
    "spec": {"resourceAttributes": {"verb": "get", "resource": "nodes"}},
}


def test_a_user_with_roles_may_do_what_they_say_and_no_more(space: Space, tmp_path: Path) -> None:
    [node] = space.nodes(1)
    roles = tmp_path / "roles.yml"
    roles.write_text(READ_NODES)

    config = space.kubeconfig("reader", roles=roles)

    assert run(config, "get", "node", node).returncode == 0
    assert "cannot patch resource" in run(config, "cordon", node).stderr
    allowed = run(config, "auth", "can-i", "create", "leases", "-n", "kube-system")
    assert allowed.stdout == "yes\n"


@pytest.mark.slow
def test_a_short_lived_token_is_refused_after_its_life_and_its_plugin_is_run_again(
    space: Space,
) -> None:
    config = space.kubeconfig("short", token_seconds=3)
    api = Api(space.plane.server, space.token("short"), space.plane.layout.certificate)
    assert api.request("GET", "/api/v1/nodes").status == 200

    space.wait(lambda: api.request("GET", "/api/v1/nodes").status == 401, "401", seconds=30)

    assert run(config, "get", "nodes").returncode == 0
    assert run(config, "get", "nodes").returncode == 0
    assert space.token_requests("short") == 2
    assert {request.status for request in space.requests("short", agent="kubectl")} == {200}


def test_a_webhook_refuses_evictions_of_its_space_only(space: Space) -> None:
    [node] = space.nodes(1)
    other = space.add_namespace(f"{space.namespace}-other")
    hook = space.webhook(lambda request: Denied("not today", 429))
    late = space.add_namespace(f"{space.namespace}-late")
    for namespace in (space.namespace, other, late):
        space.bare_pod("app", node=node, namespace=namespace)
    space.wait_running()

    answers = [space.api.evict(name, "app") for name in (space.namespace, other, late)]

    assert [answer.status for answer in answers] == [429, 429, 201]
    assert "denied the request: not today" in answers[0].body["message"]
    assert [request["namespace"] for request in hook.requests] == [space.namespace, other]
