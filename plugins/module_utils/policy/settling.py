# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Has a workload its Ready replicas again, is a node back? Judged on a fleet, without waiting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.controller import Controller
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.fleet import Fleet
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.pod import Pod

# A sentence that names more pods than this helps nobody.
_NAMED = 5


@dataclass(frozen=True)
class MovedWorkload:
    """ready: how many Ready replicas it had before its pods were moved. kind: of a Controller."""

    kind: str
    namespace: str
    name: str
    ready: int

    @property
    def key(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"


@dataclass(frozen=True)
class Standing:
    """settled: nothing more is to be waited for. hopeless: waiting will not help."""

    settled: bool
    code: str
    detail: str
    hopeless: bool = False


def judge_workload(workload: MovedWorkload, fleet: Fleet) -> Standing:
    """Ready replicas are counted as pods, not as the controller's status says: that lags behind.

    As many are wanted as were recorded, or as few as the owner wants by now.
    """
    controller = _controller(workload, fleet)
    if controller is None:
        return Standing(True, "owner_gone", f"{workload.key} was deleted meanwhile.")
    pods = [pod for pod in fleet.replicas_of(controller) if not (pod.finished or pod.terminating)]
    ready = sum(1 for pod in pods if pod.ready)
    wanted = min(workload.ready, controller.replicas)
    count = f"{workload.key}: {ready} of {wanted} Ready."
    if ready >= wanted:
        return Standing(True, "settled", count)
    return Standing(False, "replicas_not_ready", f"{count} {_missing(pods, controller)}")


def judge_node(name: str, fleet: Fleet, boot_before: Optional[str]) -> Standing:
    """boot_before: the boot ID that must have been replaced, None where no reboot is asked for.

    `fleet` has this node's pods. DaemonSet pods count that are on the node: one that its DaemonSet
    has yet to create is not known here.
    """
    node = fleet.node_by_name.get(name)
    if node is None:
        return Standing(False, "node_not_ready", f"Node {name} does not exist.")
    if boot_before is not None and node.boot_id == boot_before:
        return Standing(False, "not_rebooted", f"Node {name} still has boot ID {boot_before}.")
    if not node.is_ready:
        status = node.ready or "missing"
        return Standing(False, "node_not_ready", f"Node {name}: its condition Ready is {status}.")
    late = [
        pod
        for pod in fleet.pods_on(name)
        if pod.is_daemon and not (pod.ready or pod.finished or pod.terminating)
    ]
    if late:
        detail = f"Node {name} is Ready, its DaemonSet pods are not. {_pods_words(late)}"
        return Standing(False, "daemon_pods_not_ready", detail)
    return Standing(True, "back", f"Node {name} is Ready.")


def _controller(workload: MovedWorkload, fleet: Fleet) -> Optional[Controller]:
    return next((each for each in fleet.controllers if each.key == workload.key), None)


def _missing(pods: list[Pod], controller: Controller) -> str:
    late = sorted((pod for pod in pods if not pod.ready), key=lambda pod: pod.key)
    words = _pods_words(late) if late else ""
    if len(pods) < controller.replicas:
        uncreated = controller.replicas - len(pods)
        return f"{words} {uncreated} not created yet by its controller.".strip()
    return words


def _pods_words(pods: list[Pod]) -> str:
    words = " ".join(f"{pod.key} {_state(pod)}." for pod in pods[:_NAMED])
    more = len(pods) - _NAMED
    return f"{words} And {more} more." if more > 0 else words


def _state(pod: Pod) -> str:
    if pod.unschedulable:
        return f"is Pending, no node takes it: {pod.unschedulable.rstrip('.')}"
    if not pod.node:
        return "is Pending, not scheduled yet"
    if pod.waiting:
        return f"is {pod.phase} on {pod.node} and waits in {pod.waiting}"
    return f"is {pod.phase} on {pod.node}, not Ready"
