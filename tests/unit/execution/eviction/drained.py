# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A drain without a cluster: the machine, a clock that is moved by hand, and made-up events.

acts() returns what the machine asks for, in short: "evict web-1". Nothing answers by itself: a test
says accept("web-1"), gone("web-1"), refuse("web-1", ...).
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.events import (
    Answered,
    Delete,
    Evict,
    Forget,
    Listed,
    Lost,
    Now,
    Read,
    ReadPod,
    Restart,
    Restarted,
    Seen,
    Vanished,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.ledger import Ledger
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.machine import (
    SLOTS,
    DrainMachine,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.options import (
    EvictOptions,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.state import (
    DrainState,
    Target,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.summary import (
    report,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.telling import (
    Teller,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.world import World
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.storage import VolumeAttachment
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.consent import judge
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.node_selection import (
    NodeSelection,
)
from tests.unit.builders import NOW, fleet, metadata

PREFIX = "fleet.evenkeel.dev/"
WORDS = {
    Evict: "evict",
    Delete: "delete",
    ReadPod: "read",
    Restart: "restart",
    Forget: "forget",
}


class Drained:
    """`nodes`: the names of the fleet's nodes that are emptied."""

    def __init__(
        self, *members, nodes=("n1",), attachments=(), volumes=None, slots=SLOTS, **options
    ):
        self.fleet = fleet(*members)
        self.time = 100.0
        chosen = EvictOptions(NodeSelection(nodes=tuple(nodes)), **options)
        targets = {
            name: Target(
                name,
                self.fleet.node_by_name[name].meta.uid,
                self.fleet.node_by_name[name].unschedulable,
                chosen.fenced,
            )
            for name in nodes
        }
        world = World(self.fleet, attachments)
        self.state = DrainState(
            chosen, PREFIX, world, Ledger(self.fleet.budgets), targets, volumes or {}
        )
        self.machine = DrainMachine(self.state, chosen.consent(PREFIX), slots)
        self.pods = {pod.meta.name: pod for pod in self.fleet.pods}
        consent = chosen.consent(PREFIX)
        verdicts = [
            judge(pod, self.fleet, consent) for name in nodes for pod in self.fleet.pods_on(name)
        ]
        self.machine.begin(verdicts, self.fleet.controllers, self.now)

    @property
    def now(self):
        return Now(self.time, NOW + timedelta(seconds=self.time - 100))

    @property
    def finished(self):
        return self.machine.finished

    def wait(self, seconds):
        self.time += seconds
        return self

    def acts(self):
        return [f"{WORDS[type(command)]} {_name(command)}" for command in self.commands()]

    def commands(self):
        return self.machine.decide(self.now)

    def observe(self, event):
        self.machine.observe(event, self.now)
        return self

    def seen(self, *objects):
        for item in objects:
            if type(item).__name__ == "Pod":
                self.pods[item.meta.name] = item
            self.observe(Seen(item))
        return self

    def vanished(self, item):
        return self.observe(Vanished(item))

    def listed(self, kind, *items):
        return self.observe(Listed(kind, items))

    def accept(self, *names):
        for name in names:
            self.observe(Answered(self.uid(name), 201, {}, None))
        return self

    def refuse(self, name, status, message="", *, causes=(), retry_after=None, details=None):
        body = {"message": message, "details": {**(details or {}), "causes": list(causes)}}
        return self.observe(Answered(self.uid(name), status, body, retry_after))

    def refuse_by_budget(self, name, budget="web"):
        text = f"The disruption budget {budget} needs 2 healthy pods and has 2 currently"
        cause = {"reason": "DisruptionBudget", "message": text}
        return self.refuse(name, 429, "Cannot evict pod", causes=[cause])

    def lose(self, name):
        return self.observe(Lost(self.uid(name), "connection reset"))

    def read(self, name, found, problem=""):
        return self.observe(Read(self.uid(name), found, problem))

    def restarted(self, controller, problem="", *, wrote=True):
        return self.observe(Restarted(controller.meta.uid, problem, wrote))

    def gone(self, *names):
        for name in names:
            self.vanished(self.pods[name])
        return self

    def leave(self, *names):
        """Accepted, terminating, gone."""
        for name in names:
            self.accept(name).seen(terminating(self.pods[name])).gone(name)
        return self

    def uid(self, name):
        return self.pods[name].meta.uid

    def report(self, **kwargs):
        return report(self.state, self.now, **kwargs)

    def line(self, node="n1"):
        lines = Teller().news(self.state, self.now, last=True)
        return next(line for line in lines if line.node == node)

    def outcomes(self, **kwargs):
        """{"done": {"web-1": "evicted"}, ...}, empty lists left out."""
        found = self.report(**kwargs).result()
        return {
            bucket: {outcome["workload"].partition("/")[2]: outcome["code"] for outcome in outcomes}
            for bucket, outcomes in found.items()
            if outcomes
        }


def attachment(node, volume):
    return VolumeAttachment(metadata("VolumeAttachment", f"csi-{volume}"), node, volume, True)


def terminating(pod, grace=30):
    meta = replace(
        pod.meta,
        deletion_timestamp=NOW + timedelta(seconds=grace),
        deletion_grace_seconds=grace,
    )
    return replace(pod, meta=meta)


def _name(command):
    pod = getattr(command, "pod", None)
    return pod.meta.name if pod is not None else command.name
