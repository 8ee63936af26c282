# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Live progress: per node how far it is, and the one thing that most holds it up."""

from __future__ import annotations

from collections import Counter
from typing import Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.events import Now
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.leaver import (
    Leaver,
    Stage,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.reasons import (
    attached_hurdle,
    why_still_there,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.state import (
    DrainState,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.volumes import (
    still_attached,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.run import Progress

# Seconds between two looks: to make all lines at each decision took as long as deciding.
LOOK_EVERY = 0.2


class Teller:
    """Gives a node's line when it differs from the last one; repeating is the renderer's work.

    looks_at: Clock.monotonic() of a look that was put off; None when none was.
    """

    def __init__(self) -> None:
        self.looks_at: Optional[float] = None
        self._next = 0.0
        self._last: dict[str, Progress] = {}

    def news(self, state: DrainState, now: Now, *, last: bool = False) -> list[Progress]:
        """Returns the lines that are new; the `last` ones are not put off."""
        if now.mono < self._next and not last:
            self.looks_at = self._next
            return []
        self._next, self.looks_at = now.mono + LOOK_EVERY, None
        here: dict[str, list[Leaver]] = {name: [] for name in state.targets}
        for leaver in state.leavers.values():
            here[leaver.node].append(leaver)
        lines = (_line(state, name, here[name], now) for name in here)
        fresh = [line for line in lines if self._last.get(line.node) != line]
        self._last.update((line.node, line) for line in fresh)
        return fresh


def _line(state: DrainState, name: str, here: list[Leaver], now: Now) -> Progress:
    """Where a node stands: n1 12/20 waits for PDB shop/web (allows 0; ...). here: its leavers."""
    done = sum(1 for leaver in here if leaver.bucket == "done")
    obstacle = _obstacle([leaver for leaver in here if not leaver.settled])
    if obstacle is not None:
        detail = why_still_there(state, obstacle, now).detail
        return Progress(name, detail, done, len(here), obstacle.waiting_since)
    return _last_line(state, name, done, here)


def _obstacle(unsettled: list[Leaver]) -> Optional[Leaver]:
    """What is held comes before what is stopping: the second ends by itself. Then the oldest."""
    if not unsettled:
        return None
    held = [each for each in unsettled if each.stage is Stage.WAITING and each.hurdle is not None]
    stopping = [each for each in unsettled if each.stage in (Stage.LEAVING, Stage.ROLLING)]
    return min(held or stopping or unsettled, key=lambda each: (each.waiting_since, each.pod.key))


def _last_line(state: DrainState, name: str, done: int, here: list[Leaver]) -> Progress:
    attached = [each for each in still_attached(state) if each.node == name]
    if attached:
        since = attached[0].leaver.waiting_since if attached[0].leaver is not None else None
        return Progress(name, attached_hurdle(attached[0]).detail, done, len(here), since)
    if state.targets[name].gone:
        return Progress(name, "node gone", done, len(here), urgent=True)
    failed = Counter(leaver.bucket for leaver in here)["failed"]
    text = f"{failed} pods cannot leave" if failed else "all pods gone"
    return Progress(name, text, done, len(here))
