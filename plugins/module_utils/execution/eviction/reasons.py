# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Why a pod is still there: the words that progress lines and reports share."""

from __future__ import annotations

from datetime import timedelta

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.events import Now
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.leaver import (
    Hurdle,
    Leaver,
    Stage,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.state import (
    DrainState,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.volumes import (
    Attached,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.times import format_instant

# A kubelet that works ends a pod soon after its grace period; one that does not answer never will.
OVERDUE = timedelta(seconds=10)

UNTRIED = Hurdle("not_tried", "its turn had not come")


def why_still_there(state: DrainState, leaver: Leaver, now: Now) -> Hurdle:
    """Returns the code and the clause for one unsettled pod."""
    if leaver.stage is Stage.WAITING:
        return leaver.hurdle or UNTRIED
    if leaver.stage is Stage.ROLLING:
        return leaver.hurdle or Hurdle("surging", f"waits for the rollout of {leaver.owner}")
    if leaver.stage is Stage.POSTED:
        return Hurdle("posted", f"the eviction of {leaver.pod.key} has no answer yet")
    if leaver.stage is Stage.READING:
        return leaver.hurdle or Hurdle("posted", f"what became of {leaver.pod.key} is being read")
    return _stopping(state, leaver, now)


def attached_hurdle(attached: Attached) -> Hurdle:
    whose = f"{attached.leaver.pod.key} is gone, its " if attached.leaver is not None else ""
    return Hurdle(
        "volume_attached",
        f"{whose}volume {attached.volume} is still attached to {attached.node} "
        f"(VolumeAttachment {attached.attachment})",
    )


def _stopping(state: DrainState, leaver: Leaver, now: Now) -> Hurdle:
    meta = leaver.pod.meta
    until = meta.deletion_timestamp
    node = state.world.node(leaver.node)
    ready = node is not None and node.is_ready
    if state.targets[leaver.node].fenced:
        return Hurdle("fencing", f"{meta.key} is being removed from {leaver.node}, which is off")
    if until is not None and now.wall > until + OVERDUE and not ready:
        return Hurdle(
            "node_dead",
            f"node {leaver.node} is dead: {meta.key} should have stopped at "
            f"{format_instant(until)}; once the machine is off for certain, state that it is"
            " fenced (fenced: true)",
        )
    if until is not None and now.wall > until + OVERDUE:
        return Hurdle(
            "terminating_past_grace",
            f"{meta.key} should have stopped at {format_instant(until)}: look for a finalizer on"
            " it, a volume that does not unmount, or a kubelet that hangs",
        )
    grace = meta.deletion_grace_seconds
    limit = "" if grace is None else f" (grace period {grace} s)"
    return Hurdle("terminating", f"{meta.key} is stopping{limit}")
