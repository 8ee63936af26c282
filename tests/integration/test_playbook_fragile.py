# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""`fragile` and `fenced` of the playbooks, by users who may do what docs/rbac says. Case C22."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from tests.control_plane.space import LEASES, Space

from .calling import PREFIX
from .playbooks import ENTER, EXIT, Playbooks
from .rights import RBAC, granted, together, used
from .standing import annotations, clean, standing, terminating

SURGING = {
    "type": "RollingUpdate",
    "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0},
}
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"


def of_deployment(space: Space, name: str) -> dict[str, str]:
    found = space.api.get(space.path("apps/v1", "deployments", name))
    return dict(found["metadata"].get("annotations", {}))


def test_exit_undoes_a_surge_right_after_its_run_was_killed_and_the_next_enter_surges_again(
    space: Space, tmp_path: Path
) -> None:
    first, _second = space.nodes(2)
    space.deployment("web", 1, node=first, strategy=SURGING, start_seconds=6)
    space.wait_running()
    space.annotate_node(first, **{"cluster-autoscaler.kubernetes.io/scale-down-disabled": "false"})
    before = standing(space, first)
    roles = ("maintenance.yml", "maintenance-surge.yml")
    enter = Playbooks(tmp_path, space.kubeconfig("enter", roles=together(tmp_path, *roles)))
    exiting = ("maintenance-exit.yml", "maintenance-surge.yml")
    leaver = Playbooks(tmp_path, space.kubeconfig("exit", roles=together(tmp_path, *exiting)))
    lease = f"{LEASES}/fleet-node-{first}"
    with enter.start(ENTER, {"nodes": first, "fragile": "surge"}) as entering:
        space.wait(lambda: PREFIX + "surge" in of_deployment(space, "web"), "the restart", 60)
        dead = space.api.get(lease)["spec"]["holderIdentity"]
        # Ansible's worker is in a session of its own, and would free the lock when left alone.
        os.kill(int(dead.split(":")[1]), signal.SIGKILL)
        os.killpg(entering.process.pid, signal.SIGKILL)

    left = leaver.run(EXIT, {"nodes": first}).good()

    # It neither waits for the dead run's lock nor takes it.
    assert "held by" not in left.stdout
    assert space.api.get(lease)["spec"]["holderIdentity"] == dead
    assert standing(space, first) == before
    assert PREFIX + "surge" not in of_deployment(space, "web")
    space.wait_running()
    (pod,) = space.pods("web")
    node = pod["spec"]["nodeName"]
    entered = enter.run(ENTER, {"nodes": node, "fragile": "surge"}).good()
    (done,) = entered.named("Empty the nodes")[-1].result["result"]["done"]
    assert (done["code"], done["node"]) == ("surged", node)
    assert used(space, "enter") <= granted(*roles)
    assert granted("maintenance-surge.yml") <= used(space, "enter") | granted("maintenance.yml")
    assert used(space, "exit") <= granted(*exiting)


def test_c22_a_dead_node_is_emptied_once_it_is_stated_to_be_fenced_and_is_given_back(
    space: Space, tmp_path: Path
) -> None:
    first, second = space.nodes(2)
    space.claim("data")
    space.statefulset("db", 1, node=first, claims=["data"], grace_seconds=1)
    space.wait_running()
    space.power_off(first)
    enter = Playbooks(tmp_path, space.kubeconfig("enter", roles=RBAC / "maintenance.yml"))
    leaver = Playbooks(tmp_path, space.kubeconfig("exit", roles=RBAC / "maintenance-exit.yml"))

    entered = enter.run(ENTER, {"nodes": first, "fenced": "true", "settle": "true"}).good()

    (done,) = entered.named("Empty the nodes")[-1].result["result"]["done"]
    assert done["code"] == "fenced"
    assert annotations(space, first)[PREFIX + "maintenance-state"] == "InMaintenance"
    taints = [taint["key"] for taint in space.node(first)["spec"].get("taints", [])]
    assert OUT_OF_SERVICE not in taints
    assert space.attachments(first) == []
    assert [pod["metadata"]["name"] for pod in space.pods("db", node=second)] == ["db-0"]
    space.power_on(first)
    leaver.run(EXIT, {"nodes": first, "rebooted": "true"}).good()
    assert clean(space, first)
    assert used(space, "enter") <= granted("maintenance.yml")
    assert used(space, "exit") <= granted("maintenance-exit.yml")


def test_a_token_of_60_seconds_that_expires_while_a_pod_stops_is_renewed_and_nobody_notices(
    space: Space, tmp_path: Path
) -> None:
    """It waits 72 s for the pod; meanwhile the fragile pods of another node are put off."""
    first = space.nodes(1)[0]
    second, _third = space.nodes(2, labels={"pool": space.id})
    apart = {"nodeSelector": {"pool": space.id}}
    space.deployment("slow", 1, node=second, stop_seconds=72, grace_seconds=120, spec=apart)
    space.deployment("web", 2, node=first)
    space.budget("web", max_unavailable=1)
    space.deployment("single", 1, node=first)
    space.wait_running()
    config = space.kubeconfig("short", roles=RBAC / "maintenance.yml", token_seconds=60)
    with Playbooks(tmp_path, config).start(ENTER, {"nodes": second}) as entering:
        space.wait(lambda: terminating(space, second), "the pod to stop", 60)
        refuse_or_put_off(space, tmp_path, first)
        entered = entering.end().good()

    assert annotations(space, second)[PREFIX + "maintenance-state"] == "InMaintenance"
    assert space.token_requests("short") >= 2
    assert "nauthorized" not in entered.stdout
    assert used(space, "short") <= granted("maintenance.yml")


def refuse_or_put_off(space: Space, tmp_path: Path, first: str) -> None:
    """fragile: refuse writes nothing, defer leaves the node Entering, evict then takes the rest."""
    books = Playbooks(tmp_path, space.kubeconfig("enter", roles=RBAC / "maintenance.yml"))

    refused = books.run(ENTER, {"nodes": first, "fragile": "refuse"})

    assert refused.message.startswith("Refused, nothing was changed: 1 pod may not be evicted.")
    assert f"{space.namespace}/single" in refused.message
    assert space.writes("enter") == []

    deferred = books.run(ENTER, {"nodes": first, "fragile": "defer"})

    assert f"1 pod still on {first}:" in deferred.message
    assert f"{space.namespace}/single" in deferred.message
    assert [pod["metadata"]["labels"]["app"] for pod in space.pods(node=first)] == ["single"]
    found = annotations(space, first)
    assert found[PREFIX + "maintenance-state"] == "Entering"
    assert "single" in found[PREFIX + "maintenance-message"]

    books.run(ENTER, {"nodes": first}).good()
    assert space.pods(node=first) == []
    assert used(space, "enter") <= granted("maintenance.yml")
