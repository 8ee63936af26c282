# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The playbooks, run by users who may do what docs/rbac says and no more."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.control_plane.space import Space

from .calling import PREFIX
from .playbooks import DOCTOR, ENTER, EXIT, STATUS, Playbooks
from .rights import ON_CONFLICT, RBAC, granted, used
from .standing import annotations, standing

PROTECTIONS = (
    "karpenter.sh/do-not-disrupt",
    "cluster-autoscaler.kubernetes.io/scale-down-disabled",
)


def everything(space: Space, first: str) -> None:
    """One of each kind of pod, all of which may leave with the consents given."""
    space.mirror_pod("static", first)
    space.daemonset("agent", empty_dir=True)
    space.deployment("web", 2, node=first, empty_dir=True)
    space.budget("web", max_unavailable=1)
    space.deployment("single", 1, node=first)
    space.statefulset("db", 2, node=first)
    space.claim("data")
    space.deployment("keeper", 1, node=first, claims=["data"])
    controller = space.api.get(space.path("apps/v1", "deployments", "single"))
    template = controller["spec"]["template"]
    template["metadata"]["labels"] = {"app": "old"}
    space.api.create(
        space.path("v1", "replicationcontrollers"),
        {
            "metadata": {"name": "old"},
            "spec": {"replicas": 1, "selector": {"app": "old"}, "template": template},
        },
    )
    space.wait_running()
    space.wait(lambda: any(pod["spec"].get("nodeName") == first for pod in space.pods("old")))


@pytest.mark.smoke
def test_c05_c19_a_whole_cycle_with_exactly_the_rights_of_the_manifests(
    space: Space, tmp_path: Path
) -> None:
    first, second = space.nodes(2)
    space.cordon(second)
    everything(space, first)
    space.uncordon(second)
    before = standing(space, first)
    enter = Playbooks(tmp_path, space.kubeconfig("enter", roles=RBAC / "maintenance.yml"))
    options = {
        "nodes": first,
        "reason": "kernel update",
        "delete_emptydir_data": "true",
        "settle": "true",
    }

    entered = enter.run(ENTER, options).good()

    left = {pod["metadata"]["labels"]["app"] for pod in space.pods(node=first)}
    assert left == {"static", "agent"}
    assert entered.changed == 4
    found = annotations(space, first)
    assert found[PREFIX + "maintenance"] == "true"
    assert found[PREFIX + "maintenance-state"] == "InMaintenance"
    assert found[PREFIX + "maintenance-message"] == "kernel update"
    assert found[PREFIX + "maintenance-cordoned"] == "true"
    assert [found[key] for key in PROTECTIONS] == ["true", "true"]
    events = [each for each in space.events("Node", first) if "fleet" in str(each["source"])]
    assert [event["reason"] for event in events] == ["MaintenanceReady"]
    settled = entered.named("Wait until what moved")[0].result["result"]["done"]
    assert {outcome["workload"].partition("/")[2] for outcome in settled} == {
        "web",
        "single",
        "db",
        "keeper",
        "old",
    }
    assert enter.run(ENTER, options).good().changed == 0
    assert used(space, "enter") | ON_CONFLICT == granted("maintenance.yml")

    reader = Playbooks(tmp_path, space.kubeconfig("status", roles=RBAC / "maintenance-status.yml"))
    status = reader.run(STATUS).good()
    words = "InMaintenance, 0 pods left, cordoned by maintenance, kernel update."
    assert f"{first}: {words}" in status.stdout
    assert used(space, "status") == granted("maintenance-status.yml")

    leaver = Playbooks(tmp_path, space.kubeconfig("exit", roles=RBAC / "maintenance-exit.yml"))
    assert leaver.run(EXIT, {"nodes": first}).good().changed == 3
    assert standing(space, first) == before
    assert leaver.run(EXIT, {"nodes": first}).good().changed == 0
    assert used(space, "exit") == granted("maintenance-exit.yml")


def test_doctor_tells_findings_as_lines_with_exactly_the_rights_of_its_manifest(
    space: Space, tmp_path: Path
) -> None:
    first, second = space.nodes(2)
    space.deployment("stuck", 1, node=first)
    space.budget("stuck", max_unavailable=0)
    space.deployment("cache", 1, node=first, empty_dir=True)
    space.wait_running()
    doctor = Playbooks(tmp_path, space.kubeconfig("doctor", roles=RBAC / "doctor.yml"))

    ran = doctor.run(DOCTOR, {"nodes": first})

    assert ran.returncode != 0
    lines = [line for line in ran.stdout.splitlines() if line.startswith("error    ")]
    assert len(lines) == 2
    assert f"Budget {space.namespace}/stuck can never allow an eviction" in "".join(lines)
    assert "delete_emptydir_data" in "".join(lines)
    assert ran.message.startswith("2 errors")
    options = {
        "nodes": first,
        "pod_selector": "app=cache",
        "namespaces": space.namespace,
        "delete_emptydir_data": "true",
        "allow_last": "true",
        "fail_on": "never",
    }
    relaxed = doctor.run(DOCTOR, options).good()
    assert not [line for line in relaxed.stdout.splitlines() if line.startswith("error    ")]
    assert used(space, "doctor") == granted("doctor.yml")
    assert space.writes("doctor") == []


def test_c19_c20_what_others_set_before_stays_and_a_custom_prefix_is_followed(
    space: Space, tmp_path: Path
) -> None:
    first, second = space.nodes(2)
    space.deployment("web", 2, node=first)
    space.wait_running()
    space.cordon(first)
    space.wait(lambda: space.node(first)["spec"].get("taints"), "the cordon's taint")
    karpenter, autoscaler = PROTECTIONS
    space.annotate_node(first, **{karpenter: "true", autoscaler: "false"})
    before = standing(space, first)
    books = Playbooks(tmp_path, space.kubeconfig())
    records = {"annotation_prefix": "maint.example.com", "state_namespace": space.namespace}

    entered = books.run(ENTER, {"nodes": first, **records}).good()

    assert space.pods(node=first) == []
    found = annotations(space, first)
    assert found["maint.example.com/maintenance-state"] == "InMaintenance"
    assert "maint.example.com/maintenance-cordoned" not in found
    assert found[autoscaler] == "true"
    assert not any(key.startswith(PREFIX) for key in found)
    assert entered.named("Close the nodes")[0].result["cordoned"] == []
    leases = space.api.list(space.path("coordination.k8s.io/v1", "leases"))
    assert [lease["metadata"]["name"] for lease in leases] == [f"fleet-node-{first}"]
    assert "-e annotation_prefix=maint.example.com" in entered.stdout
    assert "Entering" not in books.run(STATUS, {"nodes": first}).good().stdout
    books.run(EXIT, {"nodes": first, **records}).good()
    assert standing(space, first) == before


def test_c25_a_node_that_somebody_opened_is_shown_and_not_closed_again(
    space: Space, tmp_path: Path
) -> None:
    first, second = space.nodes(2)
    books = Playbooks(tmp_path, space.kubeconfig())
    books.run(ENTER, {"nodes": first}).good()
    space.uncordon(first)

    assert "uncordoned by somebody though held by maintenance" in books.run(STATUS).stdout
    again = books.run(ENTER, {"nodes": first})
    assert "unschedulable" not in space.node(first)["spec"]
    assert "kubectl cordon" in again.stdout
    books.run(EXIT, {"nodes": first}).good()
    assert not any(key.startswith(PREFIX) for key in annotations(space, first))


def test_c16_check_mode_writes_nothing_runs_no_hook_and_shows_what_would_change(
    space: Space, tmp_path: Path
) -> None:
    first, second = space.nodes(2)
    space.deployment("web", 2, node=first)
    space.wait_running()
    books = Playbooks(tmp_path, space.kubeconfig())
    for name in ("before", "during", "after"):
        hook = [{"ansible.builtin.file": {"path": str(tmp_path / f"{name}-ran"), "state": "touch"}}]
        (tmp_path / f"{name}.yml").write_text(yaml.safe_dump(hook), encoding="utf-8")
    options = {
        "nodes": first,
        "exit_after": "true",
        "settle": "true",
        "maintenance_before_tasks": "before.yml",
        "maintenance_tasks": "during.yml",
        "maintenance_after_tasks": "after.yml",
    }

    entered = books.run(ENTER, options, "--check", "--diff").good()

    assert space.writes() == []
    assert "unschedulable: true" in entered.stdout or '"unschedulable": true' in entered.stdout
    assert "maintenance-state" in entered.stdout
    assert len(entered.named("Empty the nodes")[-1].result["result"]["done"]) >= 1
    books.run(ENTER, {"nodes": first}).good()
    mark = space.audit.mark()
    left = books.run(EXIT, {"nodes": first}, "--check", "--diff").good()
    assert left.changed >= 2
    assert space.writes(since=mark) == []
    assert not list(tmp_path.glob("*-ran"))
