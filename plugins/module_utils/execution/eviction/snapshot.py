# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What is read before anything is decided, and from where the watches go on."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Mapping

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.base import Cluster, Listing
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.options import (
    EvictOptions,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.fleet import Fleet
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import Node
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.resources import (
    AUTOSCALERS,
    BUDGETS,
    CONTROLLERS,
    NODES,
    PERSISTENT_VOLUMES,
    PODS,
    VOLUME_ATTACHMENTS,
    Resource,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.storage import VolumeAttachment
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.node_selection import (
    not_found,
    select,
)


@dataclass(frozen=True)
class Snapshot:
    """`listings` by Resource.kind, for the watches. volumes: PersistentVolume by its claim.

    gone: names of nodes that are not there any more.
    """

    fleet: Fleet
    nodes: tuple[Node, ...]
    listings: Mapping[str, Listing[Any]]
    attachments: tuple[VolumeAttachment, ...] = ()
    volumes: Mapping[str, str] = field(default_factory=dict)
    gone: tuple[str, ...] = ()


def take_snapshot(options: EvictOptions, cluster: Cluster) -> Snapshot:
    """Reads the fleet and selects the nodes. Raises what `select` raises.

    Nodes come first: a selection that is wrong must not cost the reading of 50,000 pods. Pods come
    before budgets: a budget's status is then never older than the pods it is compared with.
    Autoscalers matter only to a surge; volumes only where a pod of the nodes mounts a claim.
    """
    wanted: list[Resource[Any]] = [NODES]
    if options.fragile == "surge":
        wanted.append(AUTOSCALERS)
    listings = {resource.kind: cluster.list(resource) for resource in wanted}
    if not options.selection.where:
        _chosen(options, Fleet(nodes=_sorted(listings, "Node")))
    listings.update(_read_workloads(cluster))
    fleet = _fleet(listings)
    nodes = _chosen(options, fleet)
    gone = not_found(options.selection, fleet)
    if not options.fenced and not _mounts_claims(fleet, nodes):
        return Snapshot(fleet, nodes, listings, gone=gone)
    listings[VOLUME_ATTACHMENTS.kind] = attachments = cluster.list(VOLUME_ATTACHMENTS)
    volumes = {
        volume.claim: volume.meta.name
        for volume in cluster.list(PERSISTENT_VOLUMES).items
        if volume.claim
    }
    return Snapshot(fleet, nodes, listings, attachments.items, volumes, gone)


def _chosen(options: EvictOptions, fleet: Fleet) -> tuple[Node, ...]:
    return select(options.selection, fleet, ignore_not_found=options.ignore_not_found)


def _read_workloads(cluster: Cluster) -> dict[str, Listing[Any]]:
    """Pods and then budgets; controllers, of which nothing depends on the order, beside them."""
    rows: tuple[tuple[Resource[Any], ...], ...] = ((PODS, BUDGETS), CONTROLLERS)

    def read(row: tuple[Resource[Any], ...]) -> dict[str, Listing[Any]]:
        return {resource.kind: cluster.list(resource) for resource in row}

    with ThreadPoolExecutor(len(rows), thread_name_prefix="read") as workers:
        return {kind: found for part in workers.map(read, rows) for kind, found in part.items()}


def _fleet(listings: Mapping[str, Listing[Any]]) -> Fleet:
    controllers = [item for kind in CONTROLLERS for item in listings[kind.kind].items]
    return Fleet(
        nodes=_sorted(listings, "Node"),
        pods=_sorted(listings, "Pod"),
        budgets=_sorted(listings, "PodDisruptionBudget"),
        controllers=tuple(sorted(controllers, key=lambda item: item.key)),
        autoscalers=_sorted(listings, "HorizontalPodAutoscaler"),
    )


def _sorted(listings: Mapping[str, Listing[Any]], kind: str) -> tuple[Any, ...]:
    items = listings[kind].items if kind in listings else ()
    return tuple(sorted(items, key=lambda item: item.meta.key))


def _mounts_claims(fleet: Fleet, nodes: tuple[Node, ...]) -> bool:
    return any(pod.claims for node in nodes for pod in fleet.pods_on(node.name))
