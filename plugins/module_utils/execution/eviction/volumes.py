# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A node is empty when the disks of what left are gone from it too.

A ReadWriteOnce volume that is still attached keeps the replacement from starting elsewhere, and a
node that is switched off in that moment may damage it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.leaver import (
    Leaver,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.state import (
    DrainState,
)


@dataclass(frozen=True)
class Attached:
    """A VolumeAttachment that still holds a node up, and the departed pod that left it behind.

    leaver is None on a fenced node: there, everything has to go.
    """

    node: str
    attachment: str
    volume: str
    leaver: Optional[Leaver] = None


def still_attached(state: DrainState) -> list[Attached]:
    """Returns what is still attached to the nodes for the claims of pods that left them.

    A claim that another pod of the same node uses stays attached rightly.
    """
    on_nodes = {
        (each.node, each.volume): each
        for each in state.world.attachments()
        if each.node in state.targets and not state.targets[each.node].gone
    }
    found = []
    for leaver in state.leavers.values() if on_nodes else ():
        if leaver.bucket != "done":
            continue
        for claim in leaver.pod.claims:
            volume = state.volumes.get(f"{leaver.pod.meta.namespace}/{claim}", "")
            attachment = on_nodes.get((leaver.node, volume)) if volume else None
            if attachment is not None and not _used(state, leaver, claim):
                del on_nodes[(leaver.node, volume)]
                found.append(Attached(leaver.node, attachment.meta.name, volume, leaver))
    return found + [
        Attached(node, attachment.meta.name, volume)
        for (node, volume), attachment in sorted(on_nodes.items())
        if state.targets[node].fenced
    ]


def _used(state: DrainState, leaver: Leaver, claim: str) -> bool:
    fleet = state.world.fleet(leaver.pod.meta.namespace)
    return any(
        claim in pod.claims and not pod.finished and pod.meta.uid != leaver.uid
        for pod in fleet.pods_on(leaver.node)
    )
