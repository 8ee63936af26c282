# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""When the line of status_text.py is written on its node: seldom, and never at the drain's cost."""

from __future__ import annotations

from dataclasses import dataclass

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.events import (
    Now,
    Tell,
    Told,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.state import (
    DrainState,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.status_text import (
    status_text,
)

# Seconds: a drain that is over by then costs no request; between two lines of a node; and between
# two looks at whether its line is another one.
FIRST_AFTER = 3.0
EVERY = 10.0
LOOK_EVERY = 1.0


@dataclass
class _Line:
    """text: what was last asked for. due: Clock.monotonic() of the next look."""

    due: float
    text: str = ""


class StatusAnnotation:
    """The annotation `state.options.status_annotation` of every target. "" writes nothing."""

    def __init__(self, state: DrainState, now: float) -> None:
        self._state = state
        self._lines: dict[str, _Line] = {}
        if state.options.status_annotation:
            self._lines = {name: _Line(now + FIRST_AFTER) for name in state.targets}
        self._complained: set[str] = set()

    def due(self, now: Now) -> list[Tell]:
        """Returns the lines to write now."""
        found = []
        for name, line in self._lines.items():
            node = self._state.world.node(name)
            if now.mono < line.due or node is None or self._state.targets[name].gone:
                continue
            line.due = now.mono + LOOK_EVERY
            text = status_text(self._state, name, now)
            if text and text != line.text:
                line.text, line.due = text, now.mono + EVERY
                found.append(Tell(node, text))
        return found

    def last(self, now: Now) -> list[Tell]:
        """Returns, at the end, what brings the lines that were written up to date: mostly that
        nothing is waited for any more, which removes them."""
        found = []
        for name, line in self._lines.items():
            node = self._state.world.node(name)
            if line.text and node is not None and not self._state.targets[name].gone:
                text = status_text(self._state, name, now)
                if text != line.text:
                    found.append(Tell(node, text))
        return found

    def answered(self, told: Told) -> str:
        """Returns what to say of a write that was refused: once per node, and "" afterwards."""
        if not told.problem or told.node in self._complained:
            return ""
        self._complained.add(told.node)
        return f"its status could not be written on it: {told.problem}"
