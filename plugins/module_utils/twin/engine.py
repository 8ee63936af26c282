# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Runs the controllers of a twin: hears of each write, asks them what to do, and does it.

As in the real controllers, a change puts keys into a queue, each key at most once, and a key is
reconciled from the present state a moment later. All of it happens on the timekeeper's thread, in
the order of time and of asking, so that one seed and one script of requests give one history.
"""

from __future__ import annotations

import math
from random import Random
from typing import Iterable, Mapping, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.answers import Refusal
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.api import Api
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.base import (
    Act,
    Bind,
    Change,
    Controller,
    Create,
    Delete,
    Key,
    Later,
    Object,
    Update,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.raw import key_of
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.lifecycle import DeleteOptions
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.store import ADDED, Write
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.timekeeper import Timekeeper

# Seconds between a change and what a controller does about it, as measured on the control plane.
# What is due falls on whole ticks, so that what happens together happens in one step of time.
LATENCY = 0.02
TICK = 0.01

# Answers that another write has caused, which brings the key back by itself; and 403 in a namespace
# that is being deleted, where every controller gives up.
_OVERTAKEN = (403, 404, 409)


class Engine:
    """start() begins with all objects that there are."""

    def __init__(
        self, api: Api, time: Timekeeper, controllers: Sequence[Controller], seed: int
    ) -> None:
        self._api = api
        self._store = api.store
        self._time = time
        self._controllers = controllers
        self._draw = Random(seed)
        self._queued: set[tuple[str, Key]] = set()
        self._watching: dict[str, list[Controller]] = {}
        for controller in controllers:
            for resource in controller.watches:
                self._watching.setdefault(resource, []).append(controller)

    def start(self) -> None:
        with self._store.lock:
            self._store.listen(self._hear)
            for resource in self._watching:
                for raw in self._store.objects(resource):
                    self._consider(Change(ADDED, resource, raw))

    # Hearing

    def _hear(self, write: Write) -> None:
        self._consider(write.change)

    def _consider(self, change: Change) -> None:
        for controller in self._watching.get(change.resource, ()):
            for key in controller.keys(change, self._store):
                self._enqueue(controller, key, self._time.now() + LATENCY)

    def _enqueue(self, controller: Controller, key: Key, when: float) -> None:
        entry = (controller.name, key)
        if entry not in self._queued:
            self._queued.add(entry)
            self._time.at(_on_a_tick(when), lambda: self._take(controller, key))

    # Doing

    def _take(self, controller: Controller, key: Key) -> None:
        with self._store.lock:
            self._queued.discard((controller.name, key))
            acts = controller.reconcile(key, self._store, self._time.now(), self._draw)
            self._carry_out(controller, key, acts)

    def _carry_out(self, controller: Controller, key: Key, acts: Iterable[Act]) -> None:
        for act in acts:
            if isinstance(act, Later):
                self._remind(controller, key, act.at)
                continue
            try:
                self._write(act)
            except Refusal as refusal:
                if refusal.code not in _OVERTAKEN:
                    raise
                return

    def _remind(self, controller: Controller, key: Key, when: float) -> None:
        """Beside the queue: what comes later must not keep a change from being seen sooner."""
        self._time.at(_on_a_tick(when), lambda: self._enqueue(controller, key, self._time.now()))

    def _write(self, act: Act) -> None:
        if isinstance(act, Create):
            kind = self._api.kinds.named(act.resource)
            namespace = act.object["metadata"].get("namespace", "")
            self._api.lifecycle.create(kind, act.object, namespace)
        elif isinstance(act, Update):
            self._update(act)
        elif isinstance(act, Delete):
            kind = self._api.kinds.named(act.key.resource)
            self._api.lifecycle.delete(kind, act.key, DeleteOptions(act.grace_seconds, act.uid))
        elif isinstance(act, Bind):
            self._api.bind(act.pod, act.node)

    def _update(self, act: Update) -> None:
        kind = self._api.kinds.named(act.resource)
        subresource = "status" if act.status else ""
        wanted: Mapping[str, object] = act.object

        def change(_found: Object) -> Mapping[str, object]:
            return wanted

        key = key_of(act.resource, act.object)
        self._api.lifecycle.update(kind, key, change, subresource=subresource)


def _on_a_tick(when: float) -> float:
    """The first tick that is not before; a hair's breadth beyond one is that one."""
    return math.ceil(when / TICK - 1e-6) * TICK
