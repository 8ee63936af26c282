# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""C22. A dead node's pods terminate for ever: nobody but the user can know that it is off.

With fenced: true the node gets the taint node.kubernetes.io/out-of-service, upon which the cluster
deletes its pods by force and detaches its volumes. The taint has to go before the machine comes
back. So it is recorded in the annotation `<prefix>fenced` by the same write, and a later call that
finds the record removes both; a taint that was there without a record is somebody else's and stays.
"""

from __future__ import annotations

import json
from typing import Any, Callable, Mapping, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.base import Cluster
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.run import Run
from ansible_collections.evenkeel.fleet.plugins.module_utils.model import json_patch
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import Conflict, NotFound
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import Node
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.resources import (
    NODES,
    Raw,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.times import format_instant

TAINT: Mapping[str, str] = {
    "key": "node.kubernetes.io/out-of-service",
    "value": "nodeshutdown",
    "effect": "NoExecute",
}
RECORD = "fenced"

_RAW_NODES = NODES.raw()
_ATTEMPTS = 5

Operations = Sequence[Mapping[str, Any]]


def is_fenced(node: Node, prefix: str) -> bool:
    """Did a run of ours set the taint, and nobody remove the record since?"""
    return prefix + RECORD in node.meta.annotations


def has_taint(node: Node) -> bool:
    """Is the node out of service already, whoever said so?"""
    return any(taint.key == TAINT["key"] for taint in node.taints)


def fence(node: Node, cluster: Cluster, run: Run) -> bool:
    """Sets the taint and its record; False when the taint is there already."""
    value = json.dumps({"run": run.holder, "since": format_instant(run.clock.now())})
    return _write(node, cluster, lambda raw: setting(raw, run.prefix + RECORD, value))


def lift(node: Node, cluster: Cluster, run: Run) -> bool:
    """Removes the taint that a record says to be ours, and the record; False without a record."""
    return _write(node, cluster, lambda raw: lifting(raw, run.prefix + RECORD))


def setting(raw: Raw, key: str, value: str) -> Operations:
    """Returns the JSON patch that fences; empty when the taint is there, whoever set it."""
    taints = (raw.get("spec") or {}).get("taints") or []
    if any(taint.get("key") == TAINT["key"] for taint in taints):
        return ()
    annotations = (raw.get("metadata") or {}).get("annotations") or {}
    return (
        *_tests(raw),
        json_patch.add("/spec/taints", [*taints, dict(TAINT)]),
        json_patch.add(json_patch.ANNOTATIONS, {**annotations, key: value}),
    )


def lifting(raw: Raw, key: str) -> Operations:
    """Returns the JSON patch that takes the fence away; empty when it is not ours."""
    metadata, spec = raw.get("metadata") or {}, raw.get("spec") or {}
    if key not in (metadata.get("annotations") or {}):
        return ()
    left = [taint for taint in spec.get("taints") or [] if taint.get("key") != TAINT["key"]]
    kept = {name: text for name, text in metadata["annotations"].items() if name != key}
    return (
        *_tests(raw),
        json_patch.add("/spec/taints", left),
        json_patch.add(json_patch.ANNOTATIONS, kept),
    )


def _tests(raw: Raw) -> Operations:
    """Lists are written whole: nobody else may have changed them since they were read."""
    metadata = raw.get("metadata") or {}
    return (
        json_patch.test("/metadata/uid", metadata.get("uid")),
        json_patch.test("/spec/taints", (raw.get("spec") or {}).get("taints")),
        json_patch.test(json_patch.ANNOTATIONS, metadata.get("annotations") or None),
    )


def _write(node: Node, cluster: Cluster, operations: Callable[[Raw], Operations]) -> bool:
    """Reads, decides and writes, again when somebody was faster. A gone node needs nothing."""
    conflict = Conflict(f"Node {node.name} changes faster than it can be written.")
    for _attempt in range(_ATTEMPTS):
        try:
            patch = operations(cluster.get(_RAW_NODES, node.name))
            if not patch:
                return False
            cluster.patch(NODES, node.name, patch)
            return True
        except NotFound:
            return False
        except Conflict as error:
            conflict = error
    raise conflict
