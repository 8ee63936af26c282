# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The world of each run, how it is asked to change, and how it must look afterwards."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.evenkeel.fleet import plugins
from tests.control_plane.objects import SPACE_LABEL
from tests.control_plane.space import LEASES, Space

from .hook import Hook
from .judgement import AGENT, REPLICAS, Judge, foreign_annotations, guard_of, is_up
from .playing import Playing
from .proxy import Proxy
from .watcher import Watcher

SURGE = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
# Of each enter, beside the nodes and the hook.
OPTIONS = {"reason": "patching", "fragile": "surge", "settle": "true"}


@dataclass
class Scenario:
    """3 nodes of which the first two are emptied, 12 pods, 2 budgets, one surge and one hook.

    cordoned: the second node was cordoned by an administrator beforehand.
    """

    space: Space
    directory: Path
    judge: Judge
    hook: Hook
    watcher: Watcher

    @classmethod
    def build(cls, space: Space, directory: Path, *, cordoned: bool) -> Scenario:
        first, second, third = space.nodes(3)
        space.deployment("solo", REPLICAS["solo"], strategy=SURGE, node=first)
        space.deployment("web", REPLICAS["web"], start_seconds=1)
        space.budget("web", max_unavailable=2)
        space.deployment("api", REPLICAS["api"], stop_seconds=1)
        space.budget("api", min_available=3)
        space.daemonset(AGENT)
        space.wait_running()
        for name, foreign in foreign_annotations([first, second, third]).items():
            space.annotate_node(name, **foreign)
        if cordoned:
            space.cordon(second)
        watcher = Watcher(space, guard_of([first, second, third], cordoned))
        watcher.start()
        judge = Judge(_OnPlane(space), [first, second], cordoned, watcher.guard)
        hook = Hook(lambda _nodes: judge.not_ready_for_patching(), directory)
        return cls(space, directory, judge, hook, watcher)

    def close(self) -> None:
        self.hook.close()
        self.watcher.stop()

    # Runs.

    def enter_and_exit(
        self, user: str, proxy: Proxy | None = None, how: type[Playing] = Playing
    ) -> Playing:
        return self.enter(user, proxy, how, exit_after="true")

    def enter(
        self, user: str, proxy: Proxy | None = None, how: type[Playing] = Playing, **more: str
    ) -> Playing:
        options = {
            **OPTIONS,
            "maintenance_tasks": str(self.hook.tasks),
            **more,
        }
        return self._play("maintenance_enter", options, user, proxy, how)

    def exit(self, user: str) -> Playing:
        return self._play("maintenance_exit", {}, user, None, Playing)

    def _play(
        self,
        playbook: str,
        options: Mapping[str, str],
        user: str,
        proxy: Proxy | None,
        how: type[Playing],
    ) -> Playing:
        kubeconfig = self.space.kubeconfig(user, server=proxy.url if proxy else None)
        arguments = command_line(playbook, {"nodes": ",".join(self.judge.nodes), **options})
        return how(arguments, environment(kubeconfig), self.directory)

    # How it must look: what is not so, in sentences.

    def wrong_in_maintenance(self) -> list[str]:
        return self.judge.wrong_in_maintenance()

    def wrong_after_exit(self) -> list[str]:
        return self.judge.wrong_after_exit()


@dataclass(frozen=True)
class _OnPlane:
    """judgement.World: a space of the control plane."""

    space: Space

    def nodes(self) -> list[dict[str, Any]]:
        own = f"{SPACE_LABEL}={self.space.id}"
        return self.space.api.list("/api/v1/nodes", labelSelector=own)

    def pods_on(self, node: str) -> list[dict[str, Any]]:
        return self.space.pods(node=node)

    def lease(self, name: str) -> dict[str, Any] | None:
        return self.space.api.find(f"{LEASES}/{name}")

    def events_of(self, node: str) -> list[dict[str, Any]]:
        return self.space.events("Node", node)

    def deployment(self, name: str) -> dict[str, Any]:
        path = self.space.path("apps/v1", "deployments", name)
        self.space.wait(lambda: is_up(self.space.api.get(path)), f"{name} is up", 20)
        return self.space.api.get(path)


def command_line(playbook: str, options: Mapping[str, str]) -> list[str]:
    """The arguments of ansible-playbook."""
    given = [text for name, value in options.items() for text in ("-e", f"{name}={value}")]
    return [f"evenkeel.fleet.{playbook}", *given]


def environment(kubeconfig: Path) -> dict[str, str]:
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("ANSIBLE_", "K8S_AUTH_"))
    }
    return {
        **inherited,
        "ANSIBLE_COLLECTIONS_PATH": str(Path(next(iter(plugins.__path__))).parents[3]),
        "ANSIBLE_LOCALHOST_WARNING": "false",
        "ANSIBLE_INVENTORY_UNPARSED_WARNING": "false",
        "ANSIBLE_NOCOLOR": "1",
        "KUBECONFIG": str(kubeconfig),
    }
