# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The playbook rehearse, on a live cluster that it must not touch, and beside the real run."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.control_plane.space import Space

from .playbooks import ENTER, REHEARSE, Playbooks, Ran
from .playing import Stage
from .rights import RBAC, granted, used

SPEC = {
    "nodes": [{"pool": "w", "count": 3}],
    "workloads": [
        {"name": "web", "namespace": "shop", "replicas": 6, "start": "20s", "stop": "10s"},
        {"name": "bare", "namespace": "shop", "kind": "Job"},
    ],
    "budgets": [{"name": "web", "namespace": "shop", "max_unavailable": 1}],
}


def rehearsal(ran: Ran) -> dict[str, Any]:
    found: dict[str, Any] = ran.named("Rehearse")[-1].result
    return found


def traces() -> set[str]:
    """What a rehearsal would leave behind: its directory, with the twin's in it."""
    return {path.name for path in Path(tempfile.gettempdir()).glob("evenkeel-rehearsal-*")}


def owners(space: Space, found: dict[str, Any]) -> list[tuple[str, str]]:
    return sorted(
        (move["workload"], move["how"])
        for move in found["prediction"]["moved"]
        if move["workload"].startswith(f"{space.namespace}/")
    )


@pytest.mark.smoke
def test_a_rehearsal_predicts_the_real_run_and_writes_nothing_with_the_rights_of_its_manifest(
    space: Space, tmp_path: Path
) -> None:
    first, second, third = space.nodes(3)
    space.cordon(second)
    space.cordon(third)
    space.deployment("web", 4, node=first, start_seconds=3, stop_seconds=2)
    space.budget("web", max_unavailable=1)
    space.deployment("free", 3, node=first)
    space.wait_running()
    space.uncordon(second)
    space.uncordon(third)
    (tmp_path / "patch.yml").write_text(yaml.safe_dump([touch(tmp_path / "patched")]))
    reader = Playbooks(tmp_path, space.kubeconfig("reader", roles=RBAC / "rehearse.yml"))
    options = {"nodes": first, "maintenance_tasks": "patch.yml"}

    told = reader.run(
        REHEARSE,
        {"playbook": ENTER, **options, "seeds": [1], "hook_durations": {"maintenance_tasks": "1h"}},
        as_json=True,
    ).good()

    found = rehearsal(told)
    assert told.changed == 0
    assert space.writes("reader") == []
    assert used(space, "reader") == granted("rehearse.yml")
    assert not (tmp_path / "patched").exists()
    assert found["hooks"] == [{"name": "maintenance_tasks", "seconds": 3600.0, "given": True}]
    assert 3600 < found["prediction"]["duration"]["median"] < 3660
    assert [wait["budget"] for wait in found["prediction"]["waits"]] == [f"{space.namespace}/web"]
    expected = {f"{space.namespace}/{pod['metadata']['name']}" for pod in space.pods(node=first)}

    really = Playbooks(tmp_path, space.kubeconfig()).run(ENTER, options).good()

    assert (tmp_path / "patched").exists()
    evicted = really.named("Empty the nodes")[-1].result["result"]["done"]
    assert {outcome["workload"] for outcome in evicted} == expected
    assert owners(space, found) == sorted((pod, "evicted") for pod in expected)


def test_a_run_that_would_be_refused_is_told_so_with_what_to_change_and_fails(
    space: Space, tmp_path: Path
) -> None:
    first, _second = space.nodes(2)
    space.bare_pod("alone", node=first)
    space.deployment("web", 2, node=first)
    space.wait_running()
    books = Playbooks(tmp_path, space.kubeconfig())
    options = {"playbook": ENTER, "nodes": first, "seeds": "1"}

    told = books.run(REHEARSE, options)

    assert told.returncode != 0
    assert told.message.startswith("Refused, nothing was changed: 1 pod may not be evicted.")
    prediction = rehearsal(told)["prediction"]
    pods = [one["workload"] for one in prediction["refused"]]
    assert pods == [f"{space.namespace}/alone"]
    assert prediction["moved"] == []
    assert prediction["change_first"][0]["subject"] == f"Pod {space.namespace}/alone"
    really = books.run(ENTER, {"nodes": first})
    assert really.message == told.message
    assert books.run(REHEARSE, {**options, "fail_on": "never"}).returncode == 0


def test_a_snapshot_is_rehearsed_on_without_a_cluster_and_in_check_mode_the_same(
    space: Space, tmp_path: Path
) -> None:
    first, _second = space.nodes(2)
    space.deployment("web", 2, node=first)
    space.wait_running()
    path = str(tmp_path / "fleet.json.gz")
    assert not Stage(tmp_path, space.kubeconfig()).task("fleet_info", {"dest": path})["failed"]
    books = Playbooks(tmp_path, tmp_path / "none")
    pace = '{"pace": {"stop": 5}}'
    options = {"playbook": ENTER, "nodes": first, "snapshot": path, "seeds": "1"}
    told = books.run(REHEARSE, options, "--check", "-e", pace).good()
    prediction = rehearsal(told)["prediction"]
    left = sorted(move["workload"] for move in prediction["moved"])
    assert left == [f"{space.namespace}/{pod['metadata']['name']}" for pod in space.pods("web")]
    # Two pods without a budget of their own leave one after the other.
    assert 5 <= prediction["duration"]["median"] < 15
    assert told.changed == 0


def test_what_cannot_be_rehearsed_is_refused_in_a_sentence(tmp_path: Path) -> None:
    books = Playbooks(tmp_path, tmp_path / "none")
    told = books.run(REHEARSE, {"playbook": "doctor"})
    assert told.returncode != 0
    assert "doctor cannot be rehearsed" in told.message
    none = books.run(REHEARSE, {})
    assert "playbook" in none.message


def test_the_rehearsed_run_knows_no_credential_but_the_twins(tmp_path: Path) -> None:
    """The environment of every process below it is read while it runs."""
    secrets = {
        "KUBECONFIG": "/nowhere/prod",
        "K8S_AUTH_API_KEY": "key-of-prod",
        "K8S_AUTH_HOST": "https://prod.example.com",
        "AWS_SECRET_ACCESS_KEY": "key-of-cloud",
        "KUBERNETES_SERVICE_HOST": "10.9.8.7",
    }
    spec = tmp_path / "fleet.yml"
    spec.write_text(yaml.safe_dump(SPEC), encoding="utf-8")
    options = {"playbook": ENTER, "nodes": "w-1", "spec": str(spec), "seeds": "1", "force": "true"}
    books = Playbooks(tmp_path, tmp_path / "none")
    found: dict[int, dict[str, str]] = {}
    with books.start(REHEARSE, options, environment=secrets) as playing:
        while playing.process.poll() is None:
            found.update(inner_environments())
        ran = playing.end().good()
    assert rehearsal(ran)["prediction"]["succeeds"]
    assert found
    values = {value for environment in found.values() for value in environment.values()}
    assert not values & set(secrets.values())
    assert {name for one in found.values() for name in one if name.startswith("K8S_")} == set()
    assert all(one["KUBECONFIG"].endswith("/twin/kubeconfig") for one in found.values())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_rehearsal_leaves_nothing(tmp_path: Path, number: int) -> None:
    spec = tmp_path / "fleet.yml"
    spec.write_text(yaml.safe_dump(SPEC), encoding="utf-8")
    before = traces()
    options = {"playbook": ENTER, "nodes": "w-1", "spec": str(spec), "force": "true"}
    books = Playbooks(tmp_path, tmp_path / "none")
    with books.start(REHEARSE, options) as playing:
        while not inner_environments() and playing.process.poll() is None:
            pass
        os.killpg(playing.process.pid, number)
        ran = playing.end(30)
    assert ran.returncode != 0
    # Its worker outlives ansible-playbook by the moment that it needs to clean up.
    deadline = time.monotonic() + 20
    while (traces() - before or inner_environments()) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert traces() - before == set()
    assert inner_environments() == {}


def touch(path: Path) -> dict[str, Any]:
    return {"ansible.builtin.file": {"path": str(path), "state": "touch"}}


def inner_environments() -> dict[int, dict[str, str]]:
    """By PID, of the rehearsed run and what it has started. It is told by its directory."""
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            parts = (entry / "environ").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        environment = dict(part.split("=", 1) for part in parts if "=" in part)
        if "EVENKEEL_FLEET_REHEARSED" in environment:
            found[int(entry.name)] = environment
    return found
