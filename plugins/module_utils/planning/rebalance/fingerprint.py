# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Of what a plan was computed: the same fleet and the same offers give the same text."""

from __future__ import annotations

import json
from hashlib import sha256

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.fleet import Fleet
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.rebalance.world import World


def fingerprint(fleet: Fleet, world: World) -> str:
    """Nodes with their room, labels and taints; pods with their place and needs; prices."""
    nodes = [
        [
            node.meta.uid,
            node.unschedulable,
            sorted(node.allocatable.items()),
            sorted(node.meta.labels.items()),
            sorted((taint.key, taint.value, taint.effect) for taint in node.taints),
        ]
        for node in fleet.nodes
    ]
    pods = sorted([pod.key, pod.node, list(pod.spec.requests)] for pod in world.pods)
    offers = sorted([one.key, str(one.price)] for one in world.offerings)
    text = json.dumps([nodes, pods, offers], sort_keys=True)
    return sha256(text.encode()).hexdigest()
