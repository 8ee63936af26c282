# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Reads as much of the fleet as a selection of nodes needs, and selects."""

from __future__ import annotations

from typing import Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.base import Cluster
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.fleet import Fleet
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import Node
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.resources import NODES, PODS
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.node_selection import (
    NodeSelection,
    check_selection,
    select,
)


def choose(
    selection: Optional[NodeSelection], cluster: Cluster, *, ignore_not_found: bool = False
) -> tuple[Fleet, tuple[Node, ...]]:
    """Returns the fleet's nodes and the selected ones; None selects all.

    Pods are read only for `where`, whose documents count them.
    Raises InvalidOption before anything is read, Refused when a node is unknown or none matches.
    """
    if selection is not None:
        check_selection(selection)
    nodes = tuple(sorted(cluster.list(NODES).items, key=lambda node: node.name))
    pods = cluster.list(PODS).items if selection is not None and selection.where else ()
    fleet = Fleet(nodes=nodes, pods=pods)
    if selection is None:
        return fleet, nodes
    return fleet, select(selection, fleet, ignore_not_found=ignore_not_found)
