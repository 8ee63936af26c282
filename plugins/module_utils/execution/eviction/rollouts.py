# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""fragile: surge. A Deployment's rollout starts replacements before it stops the old pods.

The restart and its record (the annotation `<prefix>surge` on the Deployment) are one write, so a
run that is killed leaves either neither or both. A later run that finds a record waits for that
rollout and removes the record; it does not restart a second time, unless a pod that is to leave is
already of the restarted template: the node was open in between, and that rollout moves nothing any
more. The node must be cordoned, or the replacement could land where the old pod is.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import Enum
from typing import Iterable, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.events import (
    Command,
    Forget,
    Restart,
    Restarted,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.leaver import (
    FIRST_DELAY,
    TRIES,
    Hurdle,
    Leaver,
    Stage,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.state import (
    DrainState,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.controller import Controller
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.fleet import Fleet
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.pod import Pod
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.resources import DEPLOYMENTS

RECORD = "surge"
# The number of a template among those that a Deployment has had: a ReplicaSet has its own, a
# Deployment the newest.
REVISION = "deployment.kubernetes.io/revision"
# Seconds that the garbage collector is given for the pods of a deleted Deployment.
AFTERLIFE = 30.0
# A line names so many pods that a rollout waits for.
_NAMED = 3


class Phase(Enum):
    """WANTED -> ASKED -> ROLLING -> FORGETTING -> OVER; where a record is void, VOID -> CLEARING
    come before."""

    VOID = "void"
    CLEARING = "clearing"
    WANTED = "wanted"
    ASKED = "asked"
    ROLLING = "rolling"
    FORGETTING = "forgetting"
    OVER = "over"


# The phase that follows a request which was carried out, and the one that asks for it again.
_DONE = {Phase.CLEARING: Phase.WANTED, Phase.ASKED: Phase.ROLLING, Phase.FORGETTING: Phase.OVER}
_AGAIN = {Phase.CLEARING: Phase.VOID, Phase.ASKED: Phase.WANTED, Phase.FORGETTING: Phase.ROLLING}


@dataclass
class Rollout:
    """One Deployment's restart; `controller` is its state when the rollout was planned.

    adopted: another run began it. void: the record of one that replaces no pod any more.
    recorded: the watch has shown the record, so the counts it shows are of the new rollout.
    lost: the Deployment was deleted; its pods are given until not_before to go with it.
    """

    controller: Controller
    phase: Phase
    adopted: bool = False
    void: str = ""
    recorded: bool = False
    lost: bool = False
    tries: int = 0
    not_before: float = 0.0

    @property
    def uid(self) -> str:
        return self.controller.meta.uid


def record_of(nodes: Iterable[str], run: str, since: str) -> str:
    """The annotation's value: for which nodes, by whom and when the rollout was restarted."""
    return json.dumps({"nodes": sorted(nodes), "run": run, "since": since}, sort_keys=True)


def left_over(controller: Controller, prefix: str, nodes: Iterable[str]) -> bool:
    """Did a run restart this Deployment to empty one of these nodes, and not see it through?

    A Deployment's annotations are copied to its ReplicaSets: the record of those says nothing.
    """
    if controller.kind != DEPLOYMENTS.kind:
        return False
    try:
        record = json.loads(controller.meta.annotations.get(prefix + RECORD, ""))
        return bool(set(record["nodes"]) & set(nodes))
    except (ValueError, TypeError, KeyError):
        return False


def is_restarted(pod: Pod, controller: Controller, fleet: Fleet) -> bool:
    """Is this pod of the Deployment's newest template? False while that is not sure."""
    owner = pod.meta.owner
    sets = [
        each
        for each in fleet.controllers
        if each.meta.owner is not None and each.meta.owner.uid == controller.meta.uid
    ]
    newest = max(sets, key=_revision, default=None)
    # Two watches race: the newest ReplicaSet may not have been shown yet.
    return (
        controller.observed
        and newest is not None
        and _revision(newest) >= _revision(controller)
        and owner is not None
        and owner.uid == newest.meta.uid
    )


def _revision(controller: Controller) -> int:
    text = controller.meta.annotations.get(REVISION, "")
    return int(text) if text.isdigit() else 0


class Rollouts:
    """All restarts of one call, by the Deployment's UID."""

    def __init__(self, state: DrainState) -> None:
        self._state = state
        self._rollouts: dict[str, Rollout] = {}

    def adopt(self, controllers: Iterable[Controller]) -> None:
        """Takes over what a dead run left: called once, before the first decision."""
        for controller in controllers:
            if left_over(controller, self._state.prefix, self._state.targets):
                self._rollouts[controller.meta.uid] = Rollout(controller, Phase.ROLLING, True)

    def join(self, leaver: Leaver) -> bool:
        """Lets the owner's rollout replace this pod. False: that rollout is over already."""
        fleet = self._state.world.fleet(leaver.pod.meta.namespace)
        controller = fleet.controller_of(leaver.pod)
        if controller is None:
            raise AssertionError("policy/surge lets only pods of a Deployment through")
        rollout = self._rollouts.setdefault(controller.meta.uid, Rollout(controller, Phase.WANTED))
        if rollout.adopted and is_restarted(leaver.pod, controller, fleet):
            rollout.adopted, rollout.phase = False, Phase.VOID
            rollout.void = controller.meta.annotations[self._state.prefix + RECORD]
        leaver.stage = Stage.ROLLING
        leaver.rolled = rollout.phase is Phase.ROLLING
        leaver.hurdle = Hurdle("surging", f"waits for the rollout of {controller.key}")
        return rollout.phase not in (Phase.FORGETTING, Phase.OVER)

    def commands(self, now: float) -> list[Command]:
        """What to ask for next. Nothing new is begun once fail_fast stopped the call."""
        return [
            command
            for rollout in self._rollouts.values()
            if now >= rollout.not_before
            for command in [self._next(rollout, now)]
            if command is not None
        ]

    def answered(self, answer: Restarted, now: float) -> None:
        """A restart or the removal of its record was carried out, or was not."""
        rollout = self._rollouts[answer.uid]
        asked = rollout.phase
        if not answer.problem:
            self._state.wrote = self._state.wrote or answer.wrote
            rollout.phase = _DONE[asked]
            rollout.tries = 0
            if asked is Phase.ASKED:
                rollout.adopted = not answer.wrote
                for leaver in self._pods_of(rollout):
                    leaver.rolled = True
            return
        rollout.tries += 1
        if rollout.tries < TRIES:
            rollout.not_before = now + FIRST_DELAY * 2 ** (rollout.tries - 1)
            rollout.phase = _AGAIN[asked]
            return
        rollout.phase = Phase.OVER
        if asked is not Phase.FORGETTING:
            for leaver in self._pods_of(rollout):
                self._state.fail(leaver, "surge_failed", answer.problem)

    def unfinished(self) -> list[Rollout]:
        return [each for each in self._rollouts.values() if each.phase is not Phase.OVER]

    @property
    def under_way(self) -> bool:
        """Has a request no answer yet?"""
        return any(each.phase in _AGAIN for each in self._rollouts.values())

    def withdraw(self, uid: str) -> None:
        """The request was not sent after all."""
        rollout = self._rollouts[uid]
        rollout.phase = _AGAIN[rollout.phase]

    def wakes_at(self, now: float) -> Optional[float]:
        later = [each.not_before for each in self.unfinished() if each.not_before > now]
        return min(later) if later else None

    def _next(self, rollout: Rollout, now: float) -> Optional[Command]:
        meta = rollout.controller.meta
        if rollout.phase in (Phase.VOID, Phase.WANTED):
            if self._state.stopped_posting:
                return None
            if rollout.phase is Phase.VOID:
                rollout.phase = Phase.CLEARING
                return Forget(meta.uid, meta.namespace, meta.name)
            rollout.phase = Phase.ASKED
            return Restart(meta.uid, meta.namespace, meta.name)
        if rollout.phase is not Phase.ROLLING:
            return None
        seen = self._state.world.controller(meta.namespace, meta.uid)
        record = "" if seen is None else seen.meta.annotations.get(self._state.prefix + RECORD, "")
        recorded = record not in ("", rollout.void)
        if seen is None:
            self._deleted(rollout, now)
            return None
        if rollout.recorded and not recorded:
            # Another run saw it through: nothing is left to remove. It may have begun before these
            # nodes were closed, and its new pods be here.
            again = self._newcomers(rollout, seen)
            rollout.phase = Phase.WANTED if again else Phase.OVER
            rollout.recorded = False
            return None
        # Before the record shows, the counts are those of before the restart.
        rollout.recorded = recorded
        if recorded and self._complete(rollout, seen):
            rollout.phase = Phase.FORGETTING
            return Forget(meta.uid, meta.namespace, meta.name)
        if recorded:
            self._look_at_pods(rollout, seen, record)
        return None

    def _deleted(self, rollout: Rollout, now: float) -> None:
        """Its pods go with the Deployment, a moment later; but they may have been made orphans."""
        pods = self._pods_of(rollout)
        if pods and not rollout.lost:
            rollout.lost, rollout.not_before = True, now + AFTERLIFE
            return
        rollout.phase = Phase.OVER
        for leaver in pods:
            detail = f"{rollout.controller.key} was deleted, and {leaver.pod.key} was not."
            self._state.fail(leaver, "surge_failed", detail)

    def _look_at_pods(self, rollout: Rollout, seen: Controller, record: str) -> None:
        """Pods of the new template on the node: no rollout of this restart moves them any more."""
        newcomers = self._newcomers(rollout, seen)
        if newcomers and not rollout.adopted:
            for leaver in newcomers:
                self._state.fail(leaver, "comes_back", came_back(leaver))
        elif newcomers and _is_complete(seen):
            rollout.adopted, rollout.recorded = False, False
            rollout.phase, rollout.void = Phase.VOID, record
        fleet = self._state.world.fleet(seen.meta.namespace)
        hurdle = Hurdle("surging", rolling_words(seen, fleet))
        for leaver in self._pods_of(rollout):
            leaver.hurdle = hurdle

    def _newcomers(self, rollout: Rollout, seen: Controller) -> list[Leaver]:
        fleet = self._state.world.fleet(seen.meta.namespace)
        return [
            leaver
            for leaver in self._pods_of(rollout)
            if not leaver.pod.terminating and is_restarted(leaver.pod, seen, fleet)
        ]

    def _complete(self, rollout: Rollout, seen: Controller) -> bool:
        """The old pods are gone from the nodes and all replicas run the new template."""
        return _is_complete(seen) and not self._pods_of(rollout)

    def _pods_of(self, rollout: Rollout) -> list[Leaver]:
        return [
            leaver
            for leaver in self._state.unsettled()
            if leaver.stage is Stage.ROLLING and leaver.owner == rollout.controller.key
        ]


def came_back(leaver: Leaver) -> str:
    return (
        f"{leaver.owner} was restarted to leave {leaver.node} and its new pod is there again: it"
        " tolerates the cordon. Remove that toleration."
    )


def rolling_words(seen: Controller, fleet: Fleet) -> str:
    """waits for the rollout of Deployment shop/web (1 of 2 updated, ...; shop/web-3 (not Ready))"""
    if seen.paused:
        return f"waits for the rollout of {seen.key}, which is paused: resume it"
    facts = [
        f"{seen.updated_replicas} of {seen.replicas} updated, {seen.available_replicas} available"
    ]
    fresh = (pod for pod in fleet.replicas_of(seen) if is_restarted(pod, seen, fleet))
    unready = [pod for pod in fresh if not (pod.ready or pod.terminating or pod.finished)]
    facts += [
        f"{pod.key} ({pod.unschedulable or pod.waiting or 'not Ready'})" for pod in unready[:_NAMED]
    ]
    return f"waits for the rollout of {seen.key} ({'; '.join(facts)})"


def _is_complete(seen: Controller) -> bool:
    return (
        seen.observed
        and seen.updated_replicas >= seen.replicas
        and seen.available_replicas >= seen.replicas
    )
