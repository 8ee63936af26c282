# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a node waits for, in one line: 3 pod(s) still on this node: 1 terminating, 2 waiting ..."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Iterable

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.events import Now
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.leaver import Leaver
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.reasons import (
    why_still_there,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.state import (
    DrainState,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.volumes import (
    still_attached,
)

# What a hurdle's code is called on the node; pods of one phrase are counted together, in this
# order. The brackets behind a phrase name budgets, owners or codes.
_PHRASES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("terminating", ("terminating", "terminating_past_grace", "fencing")),
    ("on a node that does not answer", ("node_dead",)),
    (
        "waiting for a budget",
        ("budget_exhausted", "budget_stale", "budget_unconfirmed", "budget_sync_failed"),
    ),
    (
        "waiting for replicas",
        ("one_at_a_time", "ordinal_not_ready", "replicas_missing", "last_ready_replica"),
    ),
    ("being replaced by a rollout", ("surging",)),
    ("kept by a webhook", ("evacuating",)),
)
_PHRASE_OF = {code: phrase for phrase, codes in _PHRASES for code in codes}
_REFUSED = "that cannot leave"
_TURN = "waiting for its turn"
_ORDER = (*(phrase for phrase, _codes in _PHRASES), _REFUSED, _TURN)
# A phrase names so many budgets, owners or codes.
_NAMED = 3


def status_text(state: DrainState, node: str, now: Now) -> str:
    """Returns the line for one node, "" when nothing of it is waited for any more."""
    here = [leaver for leaver in state.leavers.values() if leaver.node == node]
    staying = [leaver for leaver in here if not leaver.settled or leaver.bucket == "failed"]
    if staying:
        return f"{len(staying)} pod(s) still on this node: {_counted(state, staying, now)}"
    volumes = sum(1 for attached in still_attached(state) if attached.node == node)
    return f"{volumes} volume(s) still attached to this node" if volumes else ""


def _counted(state: DrainState, staying: Iterable[Leaver], now: Now) -> str:
    counts: Counter[str] = Counter()
    names: dict[str, set[str]] = defaultdict(set)
    for leaver in staying:
        phrase, named = _phrase(state, leaver, now)
        counts[phrase] += 1
        names[phrase].update(named)
    return ", ".join(
        f"{counts[phrase]} {phrase}{_brackets(sorted(names[phrase]))}"
        for phrase in _ORDER
        if counts[phrase]
    )


def _phrase(state: DrainState, leaver: Leaver, now: Now) -> tuple[str, tuple[str, ...]]:
    """The words for one pod, and what the brackets behind them name."""
    if leaver.outcome is not None:
        return _REFUSED, (leaver.outcome.code,)
    hurdle = why_still_there(state, leaver, now)
    if hurdle.for_good:
        return _REFUSED, (hurdle.code,)
    phrase = _PHRASE_OF.get(hurdle.code, _TURN)
    if phrase == "waiting for a budget":
        return phrase, tuple(budget.key for budget in state.budgets_of(leaver.pod))
    if phrase in ("waiting for replicas", "being replaced by a rollout"):
        return phrase, (leaver.owner,)
    return phrase, ()


def _brackets(names: list[str]) -> str:
    if not names:
        return ""
    more = len(names) - _NAMED
    listed = ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")
    return f" ({listed})"
