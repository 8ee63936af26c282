# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The EXAMPLES run as they are printed, and what they return is what RETURN promises."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any, Iterator

import pytest
import yaml

from tests.control_plane import objects
from tests.control_plane.plane import Plane
from tests.control_plane.space import NODES, Space, is_ready

from .playing import ELSEWHERE, Played, Stage, Task

NAMES = sorted(
    path.stem for path in (Path(__file__).parents[2] / "plugins" / "modules").glob("*.py")
)
TYPES = {
    "bool": bool,
    "dict": dict,
    "float": (int, float),
    "int": int,
    "list": list,
    "raw": object,
    "str": str,
}


def module(name: str) -> Any:
    return importlib.import_module(f"ansible_collections.evenkeel.fleet.plugins.modules.{name}")


@pytest.fixture
def world(own_plane: Plane, tmp_path: Path) -> Iterator[Space]:
    """The cluster that the examples speak of: a whole one, as some of them mean every node."""
    space = Space(own_plane, tmp_path)
    for name, zone in (("worker-1", "z1"), ("worker-2", "z1"), ("worker-3", "z2")):
        named_node(space, name, zone)
    space.add_namespace("shop")
    space.deployment("web", 3, namespace="shop", node="worker-1")
    space.budget("web", max_unavailable=1, namespace="shop")
    space.daemonset("agent", namespace="shop")
    space.wait_running()
    yield space
    space.close()


def named_node(space: Space, name: str, zone: str) -> None:
    document = objects.node(
        name,
        space.id,
        labels={"topology.kubernetes.io/zone": zone},
        cpu="8",
        memory="32Gi",
        pods=110,
        control_plane=False,
        kubelet_version="v1.37.2",
    )
    space.add(NODES, document)
    space.wait(lambda: is_ready(space.node(name)), f"{name} is Ready")


def examples(name: str) -> list[Task]:
    return list(yaml.safe_load(module(name).EXAMPLES))


def problems(
    returned: Any, promised: dict[str, Any], succeeded: bool, where: str = ""
) -> list[str]:
    """What of a result is not as its documentation says, both ways."""
    found = [f"{where}{key} is not documented" for key in returned if key not in promised]
    for key, text in promised.items():
        when = text["returned"]
        expected = when == "always" or (when == "success" and succeeded)
        if expected and key not in returned:
            found.append(f"{where}{key} is missing")
        value = returned.get(key)
        if value is None:
            continue
        if not isinstance(value, TYPES[text["type"]]):
            found.append(f"{where}{key} is no {text['type']}: {value!r}")
        elif "contains" in text:
            for item in value if isinstance(value, list) else [value]:
                found += problems(item, text["contains"], succeeded, f"{where}{key}.")
    return found


def own(result: dict[str, Any]) -> dict[str, Any]:
    """Without what Ansible itself adds to every result."""
    added = ("failed", "warnings", "deprecations", "exception", "failed_when_result")
    return {key: value for key, value in result.items() if key not in added}


def broken_promises(name: str, played: Played) -> dict[str, list[str]]:
    promised = yaml.safe_load(module(name).RETURN)
    found = {
        task["name"]: problems(own(result), promised, not result["failed"])
        for task, result in zip(examples(name), played.results)
    }
    return {task: sentences for task, sentences in found.items() if sentences}


@pytest.mark.parametrize("name", NAMES)
def test_the_examples_run_and_return_what_is_documented(
    world: Space, tmp_path: Path, name: str
) -> None:
    stage = Stage(tmp_path, world.kubeconfig())
    if name == "twin":
        stage.task("fleet_info", {"dest": "fleet.json.gz"})
    predicted = stage.play([{**task, "check_mode": True} for task in examples(name)])
    assert broken_promises(name, predicted) == {}
    assert world.writes() == []

    if name == "settle":
        stage.task("maintenance", {"nodes": "worker-1,worker-2", "state": "entering"})
        world.reboot("worker-1")
        world.reboot("worker-2")
    # The first as a module, because only a module has a timeline.
    first, *others = examples(name)
    played = stage.play([{**first, **ELSEWHERE}, *others])
    assert broken_promises(name, played) == {}
    failed = {
        task["name"]: result["msg"]
        for task, result in zip(examples(name), played.results)
        if result["failed"]
    }
    assert failed == {}
