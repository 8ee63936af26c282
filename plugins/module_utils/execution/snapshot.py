# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Reads a whole fleet: its collections side by side, through one connection pool."""

from __future__ import annotations

from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Callable

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.base import Cluster
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import Forbidden, NotFound
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.fleet import Fleet
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.pod import Pod
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.resources import (
    AUTOSCALERS,
    BUDGETS,
    CONTROLLERS,
    NODES,
    PODS,
    Resource,
)

# Pods first: they take longest, and the others fit beside them.
_COLLECTIONS: tuple[Resource[Any], ...] = (PODS, NODES, BUDGETS, *CONTROLLERS, AUTOSCALERS)
# Without autoscalers a fleet is still true; only a surge must know of them.
_OPTIONAL = (AUTOSCALERS.kind,)
_SIDE_BY_SIDE = 4


@dataclass(frozen=True)
class Reading:
    """`unread`: why an optional collection is empty in the fleet, a sentence each."""

    fleet: Fleet
    unread: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Part:
    items: tuple[Any, ...]
    problem: str = ""


def read(
    cluster: Cluster,
    *,
    namespaces: tuple[str, ...] = (),
    pods: Resource[Pod] = PODS,
    noting: Callable[[Resource[Any]], Resource[Any]] = lambda resource: resource,
) -> Reading:
    """Returns the fleet, its tuples sorted by key.

    With `namespaces`, only what is in them, and all nodes. Each collection is of one instant, but
    not of the same one: a pod may be younger than its budget's status. Raises what Cluster.list
    raises; a Forbidden, or an API that the server does not have, is tolerated for autoscalers.
    pods: PODS, whose parser may note more of each. noting: makes such a one of each collection.
    """
    collections = [noting(pods if one is PODS else one) for one in _COLLECTIONS]
    with ThreadPoolExecutor(_SIDE_BY_SIDE, thread_name_prefix="read") as workers:
        reading = {
            resource.kind: [
                workers.submit(_read_part, cluster, resource, namespace)
                for namespace in (namespaces if resource.namespaced and namespaces else ("",))
            ]
            for resource in collections
        }
    parts = {kind: [future.result() for future in futures] for kind, futures in reading.items()}
    found = {kind: [item for part in some for item in part.items] for kind, some in parts.items()}
    controllers = [item for resource in CONTROLLERS for item in found[resource.kind]]
    fleet = Fleet(
        nodes=_sorted(found[NODES.kind]),
        pods=_sorted(found[PODS.kind]),
        budgets=_sorted(found[BUDGETS.kind]),
        controllers=tuple(sorted(controllers, key=lambda item: item.key)),
        autoscalers=_sorted(found[AUTOSCALERS.kind]),
    )
    problems = {part.problem for some in parts.values() for part in some if part.problem}
    return Reading(fleet, tuple(sorted(problems)))


def _read_part(cluster: Cluster, resource: Resource[Any], namespace: str) -> _Part:
    try:
        return _Part(cluster.list(resource, namespace=namespace).items)
    except (Forbidden, NotFound) as error:
        if resource.kind not in _OPTIONAL:
            raise
        return _Part((), str(error))


def _sorted(items: list[Any]) -> tuple[Any, ...]:
    """By namespace and name; namespace by namespace, as short lists take fewer comparisons."""
    of_namespace: dict[str, list[Any]] = defaultdict(list)
    for item in items:
        of_namespace[item.meta.namespace].append(item)
    found: list[Any] = []
    for namespace in sorted(of_namespace):
        found += sorted(of_namespace[namespace], key=attrgetter("meta.name"))
    return tuple(found)
