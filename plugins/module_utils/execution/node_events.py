# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Events on a Node: what `kubectl describe node` shows of us."""

from __future__ import annotations

import secrets

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.base import Cluster
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.run import Run
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import FleetError
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import Node
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.resources import EVENTS
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.times import format_instant

# Where the API keeps Events on objects without a namespace.
_NAMESPACE = "default"
_COMPONENT = "evenkeel.fleet"


def record_event(node: Node, reason: str, message: str, cluster: Cluster, run: Run) -> str:
    """Creates a Normal Event on the node; returns a sentence when that failed, else "".

    An Event tells what was done already: that it could not be told does not undo it, so no error of
    the API is raised from here.
    """
    now = format_instant(run.clock.now())
    reference = {"apiVersion": "v1", "kind": "Node", "name": node.name, "uid": node.meta.uid}
    body = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {
            # An object's name has room for 253 characters; the longest node name leaves none.
            "name": f"{node.name[:200].rstrip('.-')}.{secrets.token_hex(8)}",
            "namespace": _NAMESPACE,
        },
        "involvedObject": reference,
        "reason": reason,
        "message": message,
        "type": "Normal",
        "source": {"component": _COMPONENT},
        "firstTimestamp": now,
        "lastTimestamp": now,
        "count": 1,
    }
    try:
        cluster.create(EVENTS, body, namespace=_NAMESPACE)
    except FleetError as error:
        return f"The Event {reason} was not recorded: {error}"
    return ""
