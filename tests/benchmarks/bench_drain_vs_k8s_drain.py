# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How long a playbook of ours takes to drain 5 nodes, beside one that loops kubernetes.core's
module k8s_drain over 5 equal nodes.

The worlds are those of drain_vs_kubectl: 100 deployments of one pod, budgets of maxUnavailable
30 %, 10 s to stop and 2 s to start. Both sides are timed as ansible-playbook processes. k8s_drain
looks for the end of the pods every 5 s unless told otherwise; here every second. The module comes
from the `ansible` package, whose wheel is downloaded once and kept in the cache outside the
checkout.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from tests.integration.playing import Stage
from tools.tree import cache_directory

from .worlds import LIMIT_SECONDS, Pace, World, emptied, equal_worlds, result

TARGET = 0.35
ANSIBLE = "14.5.0"
WANTED = "ansible_collections/kubernetes/core/"


def main() -> int:
    collections = kubernetes_core()
    with equal_worlds(2, Pace(stop_seconds=10, start_seconds=2)) as (first, second):
        ours = emptied(first, drain_with_our_playbook)
        print(f"ours:      {ours:.1f} s", flush=True)
        theirs = emptied(second, lambda world: drain_with_k8s_drain(world, collections))
        print(f"k8s_drain: {theirs:.1f} s", flush=True)
    return result("drain_vs_k8s_drain", ours, theirs, TARGET)


def drain_with_our_playbook(world: World) -> None:
    config = world.space.kubeconfig("ours")
    nodes = list(world.nodes)
    evict = {"nodes": nodes, "wait_timeout": LIMIT_SECONDS}
    tasks = [
        {"evenkeel.fleet.cordon": {"nodes": nodes, "state": "cordoned"}},
        {
            "evenkeel.fleet.evict": {
                **evict,
                "ignore_daemonsets": True,
                "delete_emptydir_data": True,
            }
        },
    ]
    _play(Stage(world.directory, config), tasks, {})


def drain_with_k8s_drain(world: World, collections: Path) -> None:
    config = world.space.kubeconfig("k8s-drain")
    options = {
        "ignore_daemonsets": True,
        "delete_emptydir_data": True,
        "wait_timeout": int(LIMIT_SECONDS),
        "wait_sleep": 1,
    }
    task = {
        "kubernetes.core.k8s_drain": {
            "name": "{{ item }}",
            "state": "drain",
            "kubeconfig": str(config),
            "delete_options": options,
        },
        "loop": list(world.nodes),
    }
    _play(Stage(world.directory, config), [task], {"ANSIBLE_COLLECTIONS_PATH": str(collections)})


def _play(stage: Stage, tasks: list[dict[str, Any]], environment: dict[str, str]) -> None:
    played = stage.play(tasks, environment=environment)
    failed = [one for one in played.results if one.get("failed")]
    assert not failed, played.stdout


def kubernetes_core() -> Path:
    """The root of a tree with the collection kubernetes.core, downloaded where it is not there."""
    target = cache_directory() / "collections" / f"ansible-{ANSIBLE}"
    if not target.is_dir():
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
            _unpack(_download(Path(scratch)), Path(scratch, "tree"))
            # Renamed at last: a download that was cut off leaves nothing behind.
            os.rename(Path(scratch, "tree"), target)
    return target


def _download(directory: Path) -> Path:
    print(f"downloading kubernetes.core from ansible {ANSIBLE} ...", flush=True)
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    # No more than its files is wanted: the interpreter may be older than the package likes.
    command += ["--ignore-requires-python", "--only-binary=:all:", "--dest", str(directory)]
    subprocess.run([*command, f"ansible=={ANSIBLE}"], check=True)
    return next(directory.glob("ansible-*.whl"))


def _unpack(wheel: Path, target: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.startswith(WANTED)]
        archive.extractall(target, names)


if __name__ == "__main__":
    sys.exit(main())
