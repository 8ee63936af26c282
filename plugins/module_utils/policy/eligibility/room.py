# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Room on a node: requests of every resource, places for pods, host ports.

Source: kube-scheduler 1.37, pkg/scheduler/framework/plugins: noderesources (fit.go), nodeports.
"""

from __future__ import annotations

from typing import Iterator

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.quantity import CPU
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.scheduling import HostPort
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility import verdict
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.local import (
    LocalMasks,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.nodes import (
    NodeTable,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.pods import (
    PodClass,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.verdict import (
    Failing,
)

PODS = "pods"
_MIB = 2**20

_Requests = tuple[tuple[str, int], ...]


class ResourceRule:
    """C39. A resource that the node does not report counts as none of it; a pod that does not ask
    for it does not care. A node that is over its capacity still takes pods that ask for nothing.
    """

    name = verdict.RESOURCES

    def __init__(self, nodes: NodeTable, journal: list[int]) -> None:
        self._allocatable = [node.allocatable for node in nodes.nodes]
        self._free = [dict(allocatable) for allocatable in self._allocatable]
        self._masks = LocalMasks(len(nodes), journal, self._has_room)

    def add(self, pod: PodClass, node: int, amount: int) -> None:
        free = self._free[node]
        free[PODS] = free.get(PODS, 0) - amount
        for name, request in pod.spec.requests:
            free[name] = free.get(name, 0) - amount * request

    def passing(self, pod: PodClass) -> int:
        return self._masks.mask(pod.spec.requests)

    def free(self, node: int, name: str) -> int:
        """May be negative: what is placed is not always what fits."""
        return self._free[node].get(name, 0)

    def failing(self, pod: PodClass, node: int) -> Iterator[Failing]:
        for name, request in ((PODS, 1), *pod.spec.requests):
            free = self.free(node, name)
            if request > free:
                asked, left = amount_words(name, request), amount_words(name, max(free, 0))
                detail = f"it asks for {asked}, of which {left} is free"
                if name == PODS:
                    detail = (
                        f"the node takes no more than {self._allocatable[node].get(PODS, 0)} pods"
                    )
                yield Failing(verdict.RESOURCES, detail, ((name, request - free),))

    def _has_room(self, requests: _Requests, node: int) -> bool:
        free = self._free[node].get
        if free(PODS, 0) < 1:
            return False
        return all(request <= free(name, 0) for name, request in requests)


class PortRule:
    """C36. Each pod with a host port takes it on its node for all addresses that it names."""

    name = verdict.HOST_PORTS

    def __init__(self, nodes: NodeTable, journal: list[int]) -> None:
        self._used: list[dict[HostPort, int]] = [{} for _unused in nodes.nodes]
        self._all = nodes.all
        self._masks = LocalMasks(len(nodes), journal, self._is_free)

    def add(self, pod: PodClass, node: int, amount: int) -> None:
        used = self._used[node]
        for port in pod.spec.host_ports:
            used[port] = used.get(port, 0) + amount
            if not used[port]:
                del used[port]

    def passing(self, pod: PodClass) -> int:
        return self._masks.mask(pod.spec.host_ports) if pod.spec.host_ports else self._all

    def failing(self, pod: PodClass, node: int) -> Iterator[Failing]:
        for port in pod.spec.host_ports:
            if not self._is_free((port,), node):
                yield Failing(verdict.HOST_PORTS, f"the host port {port} is taken")

    def _is_free(self, ports: tuple[HostPort, ...], node: int) -> bool:
        used = self._used[node]
        return not any(port.conflicts(taken) for port in ports for taken in used)


def amount_words(name: str, amount: int) -> str:
    """An amount as people write it: 200m CPU, 64Mi of memory, 1 of example.com/gpu."""
    if name == CPU:
        return f"{amount}m CPU"
    if name == PODS:
        return f"{amount} places for pods" if amount != 1 else "1 place for a pod"
    if name in ("memory", "ephemeral-storage") or name.startswith("hugepages-"):
        return f"{-(-amount // _MIB)}Mi of {name}"
    return f"{amount} of {name}"
