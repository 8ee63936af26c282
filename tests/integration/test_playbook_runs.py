# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Runs of the playbooks that meet another run, an end before their time, or batches and hooks."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import yaml

from tests.control_plane.space import LEASES, Space

from .calling import PREFIX
from .playbooks import ENTER, EXIT, Playbooks
from .standing import annotations, clean, counted, is_closed, terminating


def test_batches_with_hooks_and_exit_never_hold_more_nodes_than_asked(
    space: Space, tmp_path: Path
) -> None:
    """50% of four nodes. Each batch is given back and settled before the next is closed."""
    nodes = space.nodes(4, labels={"pool": space.id})
    space.deployment("web", 4, start_seconds=1)
    space.budget("web", max_unavailable=2)
    space.wait_running()
    for name in ("before", "during", "after"):
        words = f"{name} {{{{ maintenance_batch_nodes | join(',') }}}}"
        hook = [{"name": "Tell", "ansible.builtin.shell": f"echo '{words}' >> {tmp_path}/told"}]
        (tmp_path / f"{name}.yml").write_text(yaml.safe_dump(hook), encoding="utf-8")
    options = {
        "node_selector": f"pool={space.id}",
        "batch": "50%",
        "exit_after": "true",
        "maintenance_before_tasks": "before.yml",
        "maintenance_tasks": "during.yml",
        "maintenance_after_tasks": "after.yml",
    }
    with counted(space, is_closed) as counts:
        ran = Playbooks(tmp_path, space.kubeconfig()).run(ENTER, options).good()

    batches = [",".join(nodes[:2]), ",".join(nodes[2:])]
    told = (tmp_path / "told").read_text(encoding="utf-8").splitlines()
    hooks = ("before", "during", "after")
    assert told == [f"{name} {batch}" for batch in batches for name in hooks]
    assert max(counts) == 2
    assert len(ran.named("Wait until what moved")) == 2
    assert all(clean(space, node) for node in nodes)


def test_a_refusal_in_the_last_batch_comes_before_the_first_write(
    space: Space, tmp_path: Path
) -> None:
    first, second, _third = space.nodes(3)
    space.deployment("web", 1, node=first)
    space.deployment("cache", 1, node=second, empty_dir=True)
    space.wait_running()
    ran = Playbooks(tmp_path, space.kubeconfig()).run(
        ENTER, {"nodes": f"{first},{second}", "batch": "1", "delete_emptydir_data": "false"}
    )
    assert ran.message.startswith("Refused, nothing was changed: 1 pod may not be evicted.")
    assert "delete_emptydir_data" in ran.message
    assert space.writes() == []


def test_exit_stops_an_enter_that_runs_elsewhere_and_leaves_a_clean_node(
    space: Space, tmp_path: Path
) -> None:
    first, _second = space.nodes(2)
    space.deployment("web", 3, node=first, start_seconds=300)
    space.wait(lambda: len(space.pods("web", node=first)) == 3, "the pods")
    space.budget("web", min_available=1)
    books = Playbooks(tmp_path, space.kubeconfig())
    other = Playbooks(tmp_path, space.kubeconfig("other"))
    with books.start(ENTER, {"nodes": first}) as entering:
        space.wait(lambda: "waits for PDB" in entering.stdout, "the drain to wait", 60)
        mark = space.audit.mark()
        other.run(EXIT, {"nodes": first}).good()
        entered = entering.end()
    assert entered.returncode != 0
    assert "Somebody gave these nodes back meanwhile." in entered.message
    assert clean(space, first)
    # It may have said on the node what it waits for until the request was gone; nothing was moved.
    late = {write.resource for write in space.writes(since=mark)}
    assert late <= {"leases", "nodes"}


def test_two_enters_at_once_join_and_the_second_says_for_whom_it_waits(
    space: Space, tmp_path: Path
) -> None:
    """C29: the second has nothing left to evict, and ends after the first."""
    first, _second = space.nodes(2)
    space.deployment("web", 2, node=first, behaviour="never-stops", grace_seconds=300)
    space.budget("web", max_unavailable=2)
    space.wait_running()
    pods = [pod["metadata"]["name"] for pod in space.pods("web")]
    books = Playbooks(tmp_path, space.kubeconfig())
    other = Playbooks(tmp_path, space.kubeconfig("other"))
    with books.start(ENTER, {"nodes": first}) as entering:
        space.wait(lambda: terminating(space, first), "the first to evict", 60)
        holder = space.api.get(f"{LEASES}/fleet-node-{first}")["spec"]["holderIdentity"]
        with other.start(ENTER, {"nodes": first}) as joining:
            told = f"{first}  held by {holder} until 20"
            space.wait(lambda: told in joining.stdout, "the second to say that it waits", 90)
            for pod in pods:
                space.annotate_pod(pod, behaviour=None)
            joined = joining.end().good()
        entering.end().good()
    assert annotations(space, first)[PREFIX + "maintenance-state"] == "InMaintenance"
    assert [write for write in space.writes("other") if write.resource == "pods"] == []
    emptied = joined.named("Empty the nodes")[-1].result
    assert not emptied["changed"]
    assert {outcome["code"] for outcome in emptied["result"]["done"]} <= {"already_gone"}


def test_c17_a_timeout_lists_what_is_left_and_the_node_says_it_too(
    space: Space, tmp_path: Path
) -> None:
    first, _second = space.nodes(2)
    space.deployment("web", 2, node=first, start_seconds=300)
    space.deployment("fine", 1, node=first)
    space.wait(lambda: len(space.pods("web", node=first)) == 2, "the pods")
    space.wait(lambda: space.pods("fine", node=first), "the pod")
    space.budget("web", min_available=1)
    hook = [{"ansible.builtin.file": {"path": str(tmp_path / "ran"), "state": "touch"}}]
    (tmp_path / "during.yml").write_text(yaml.safe_dump(hook), encoding="utf-8")
    options = {"nodes": first, "wait_timeout": "6s", "maintenance_tasks": "during.yml"}
    books = Playbooks(tmp_path, space.kubeconfig())

    ran = books.run(ENTER, options)

    assert ran.message.startswith("Timed out after 6 s (wait_timeout).")
    assert f"waits for PDB {space.namespace}/web" in ran.message
    assert f"maintenance_exit -e nodes={first}" in ran.message
    found = annotations(space, first)
    assert found[PREFIX + "maintenance-state"] == "Entering"
    assert found[PREFIX + "maintenance-message"].startswith("2 pods still on this node:")
    assert not (tmp_path / "ran").exists()
    assert space.pods("fine", node=first) == []


def test_c28_killed_in_the_middle_enter_goes_on_evicts_no_pod_twice_and_exit_undoes(
    space: Space, tmp_path: Path
) -> None:
    first, _second = space.nodes(2)
    space.deployment("web", 3, node=first, stop_seconds=4)
    space.budget("web", max_unavailable=1)
    space.wait_running()
    pods = [pod["metadata"]["name"] for pod in space.pods("web")]
    books = Playbooks(tmp_path, space.kubeconfig())
    with books.start(ENTER, {"nodes": first}) as entering:
        space.wait(lambda: terminating(space, first), "the first eviction", 60)
        os.killpg(entering.process.pid, signal.SIGKILL)
    assert annotations(space, first)[PREFIX + "maintenance-state"] == "Entering"

    books.run(ENTER, {"nodes": first}).good()
    assert space.pods(node=first) == []
    assert annotations(space, first)[PREFIX + "maintenance-state"] == "InMaintenance"
    # Nor one of the replacements, which have names of their own.
    posted = [write for write in space.writes() if write.subresource == "eviction"]
    assert sorted(write.name for write in posted if write.status < 400) == pods
    books.run(EXIT, {"nodes": first}).good()
    assert clean(space, first)


def test_after_a_reboot_exit_waits_for_a_new_boot_ready_and_daemon_pods(
    space: Space, tmp_path: Path
) -> None:
    first, _second = space.nodes(2)
    space.daemonset("agent")
    space.wait_running()
    books = Playbooks(tmp_path, space.kubeconfig())
    books.run(ENTER, {"nodes": first}).good()
    early = books.run(EXIT, {"nodes": first, "rebooted": "true", "back_timeout": "1"})
    assert "boot" in early.message
    with books.start(EXIT, {"nodes": first, "rebooted": "true"}) as leaving:
        space.wait(lambda: "boot" in leaving.stdout.rpartition("Wait until the nodes are back")[2])
        assert space.node(first)["spec"]["unschedulable"] is True
        space.reboot(first)
        leaving.end().good()
    assert clean(space, first)
