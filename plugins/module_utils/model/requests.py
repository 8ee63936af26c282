# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a pod takes from its node, as the scheduler counts it.

Source: k8s.io/component-helpers/resource (PodRequests) with the default feature gates of 1.37. In
short, and per resource:
- containers add up, and so do restartable init containers (sidecars), which keep running;
- a plain init container runs alone beside the sidecars started before it; the pod needs the
  greater of that moment and of the steady state;
- while a resize is under way the pod holds the greatest of what it asks for, was allocated and
  really has; when the node can never grant the resize, what it asks for does not count;
- requests of the whole pod (spec.resources) replace the sum for cpu, memory and huge pages;
- the overhead of its runtime class comes on top.
"""

from __future__ import annotations

from functools import lru_cache
from types import MappingProxyType
from typing import Any, Iterable, Mapping, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.quantity import nanos, round_up

# A raw resource list as a key of a cache: (name, quantity) pairs, or None where it is absent.
_List = Optional[tuple[tuple[str, Any], ...]]
# One container: is it restartable, and what its spec asks for, what it was allocated, what it has.
_Container = tuple[bool, tuple[_List, _List, _List]]
# The pod as a whole: what its spec asks for, what it was allocated, what it has, and whether the
# kubelet reports status.resources at all.
_PodLevel = tuple[_List, _List, _List, bool]
# Containers, init containers, the pod as a whole, its overhead, and whether its node can never
# grant the resize that it asks for.
_Shape = tuple[tuple[_Container, ...], tuple[_Container, ...], _PodLevel, _List, bool]
# Amounts in units of 10^-9, so that rounding happens once, at the end.
_Amounts = dict[str, int]

_SPEC, _ALLOCATED, _ACTUAL = 0, 1, 2

_NOTHING: Mapping[str, Any] = MappingProxyType({})


def effective_requests(raw_pod: Mapping[str, Any]) -> Mapping[str, int]:
    """Returns cpu in millicores and all else in base units, rounded up, of a raw v1 Pod.

    A fleet has few shapes of pods: equal shapes share one read-only result.
    Raises ValueError for a value that is not a quantity.
    """
    spec, status = raw_pod.get("spec") or {}, raw_pod.get("status") or {}
    if _is_settled(spec, status):
        return _requests_of_settled(_asked_by_each(spec.get("containers") or ()))
    return _requests_of_shape(_shape(spec, status))


def _is_settled(spec: Mapping[str, Any], status: Mapping[str, Any]) -> bool:
    """Can nothing count but what the containers ask for?

    That is so for most pods of most fleets: they need none of the rules below, and what is left is
    a key that is made in a third of the time.
    """
    if "initContainers" in spec or "overhead" in spec or "resources" in spec:
        return False
    if "resources" in status or "allocatedResources" in status:
        return False
    reports = _reported(spec, status)
    if not reports:
        return not _resize_infeasible(status)
    return all(
        _has_what_it_asks(container, reports.get(container.get("name")))
        for container in spec.get("containers") or ()
    )


def _has_what_it_asks(container: Mapping[str, Any], report: Optional[Mapping[str, Any]]) -> bool:
    if report is None:
        return False
    asked = (container.get("resources") or _NOTHING).get("requests")
    actual = report.get("resources") or _NOTHING
    return bool(asked and report.get("allocatedResources") == asked == actual.get("requests"))


def _asked_by_each(containers: Iterable[Mapping[str, Any]]) -> tuple[_List, ...]:
    """One loop without a call inside: it runs for every container of the fleet."""
    asked: list[_List] = []
    for container in containers:
        resources = container.get("resources")
        requests = resources.get("requests") if resources else None
        asked.append(tuple(requests.items()) if requests else None)
    return tuple(asked)


@lru_cache(maxsize=65536)
def _requests_of_settled(asked: tuple[_List, ...]) -> Mapping[str, int]:
    containers = tuple((False, (one, None, None)) for one in asked)
    return _requests_of_shape((containers, (), (None, None, None, False), None, False))


def _shape(spec: Mapping[str, Any], status: Mapping[str, Any]) -> _Shape:
    reported = _reported(spec, status)
    resources = status.get("resources")
    return (
        tuple([_container(one, reported) for one in spec.get("containers") or ()]),
        tuple([_container(one, reported) for one in spec.get("initContainers") or ()]),
        (
            _requests(spec.get("resources")),
            _pairs(status.get("allocatedResources")),
            _requests(resources),
            resources is not None,
        ),
        _pairs(spec.get("overhead")),
        _resize_infeasible(status),
    )


def _reported(spec: Mapping[str, Any], status: Mapping[str, Any]) -> Mapping[Any, Any]:
    """Returns the statuses of containers that speak of resources, by the container's name."""
    statuses = status.get("containerStatuses") or ()
    if spec.get("initContainers"):
        statuses = [*statuses, *(status.get("initContainerStatuses") or ())]
    return {
        one["name"]: one for one in statuses if "resources" in one or "allocatedResources" in one
    }


def _container(container: Mapping[str, Any], reported: Mapping[Any, Any]) -> _Container:
    restartable = container.get("restartPolicy") == "Always"
    asked = _requests(container.get("resources"))
    status = reported.get(container.get("name")) if reported else None
    if status is None:
        return restartable, (asked, None, None)
    allocated = _pairs(status.get("allocatedResources"))
    return restartable, (asked, allocated, _requests(status.get("resources")))


def _requests(resources: Optional[Mapping[str, Any]]) -> _List:
    return _pairs(resources.get("requests")) if resources else None


def _pairs(resources: Optional[Mapping[str, Any]]) -> _List:
    return None if resources is None else tuple(resources.items())


def _resize_infeasible(status: Mapping[str, Any]) -> bool:
    for condition in status.get("conditions") or ():
        if condition.get("type") == "PodResizePending":
            return bool(condition.get("reason") == "Infeasible")
    return False


@lru_cache(maxsize=65536)
def _requests_of_shape(shape: _Shape) -> Mapping[str, int]:
    total = _of_containers(shape)
    total.update(_of_pod_level(shape))
    _add(total, _amounts(shape[3]))
    return MappingProxyType({name: round_up(name, value) for name, value in total.items()})


def _of_pod_level(shape: _Shape) -> _Amounts:
    _containers, _init, (asked, allocated, actual, reported), _overhead, infeasible = shape
    if not any(_is_pod_level(name) for name, _unused in asked or ()):
        return {}
    lists = [None if infeasible else asked, actual, allocated] if reported else [asked]
    amounts = _greatest(*map(_amounts, lists))
    return {name: value for name, value in amounts.items() if _is_pod_level(name)}


def _of_containers(shape: _Shape) -> _Amounts:
    _containers, _init, (_asked, allocated, actual, _reported), _overhead, infeasible = shape
    if allocated is None or actual is None:
        held = [_sum(shape, _ALLOCATED), _sum(shape, _ACTUAL)]
    else:
        held = [_amounts(allocated), _amounts(actual)]
    return _greatest(*held) if infeasible else _greatest(_sum(shape, _SPEC), *held)


def _sum(shape: _Shape, view: int) -> _Amounts:
    """Adds one view of all containers up: what they ask for, were allocated, or really have."""
    containers, init, _pod_level, _overhead, infeasible = shape
    total: _Amounts = {}
    for container in containers:
        _add(total, _seen(container, view, infeasible))
    sidecars: _Amounts = {}
    peak: _Amounts = {}
    for container in init:
        amounts = _seen(container, view, infeasible)
        if container[0]:
            _add(total, amounts)
            _add(sidecars, amounts)
            peak = _greatest(peak, sidecars)
        else:
            _add(amounts, sidecars)
            peak = _greatest(peak, amounts)
    return _greatest(total, peak)


def _seen(container: _Container, view: int, infeasible: bool) -> _Amounts:
    """A list that the kubelet has not reported falls back to the one before it."""
    _unused, lists = container
    for known in range(view, _SPEC, -1):
        if lists[known] is not None:
            return _amounts(lists[known])
    return {} if infeasible and view != _SPEC else _amounts(lists[_SPEC])


def _amounts(pairs: _List) -> _Amounts:
    return {name: nanos(value) for name, value in pairs or ()}


def _add(total: _Amounts, more: _Amounts) -> None:
    for name, value in more.items():
        total[name] = total.get(name, 0) + value


def _greatest(*lists: _Amounts) -> _Amounts:
    result: _Amounts = {}
    for amounts in lists:
        for name, value in amounts.items():
            result[name] = max(value, result.get(name, value))
    return result


def _is_pod_level(name: str) -> bool:
    return name in ("cpu", "memory") or name.startswith("hugepages-")
