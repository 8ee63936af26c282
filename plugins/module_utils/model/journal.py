# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What happened in a twin, as its journal tells it and a prediction reads it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Mapping

# Of nodes. CLOSED: it was so when the journal began.
CLOSED, CORDONED, UNCORDONED = "closed", "cordoned", "uncordoned"
# Of pods. CONCERNED: it was on a node when that was closed. EVICTED and DELETED: it began to leave,
# by the Eviction API or otherwise. UNPLACED: no node takes it; the detail says why.
CONCERNED, EVICTED, DELETED, GONE = "concerned", "evicted", "deleted", "gone"
CREATED, UNPLACED, BOUND, READY = "created", "unplaced", "bound", "ready"
# Of budgets: it allows no disruption any more, or some again; fewer pods are healthy than it wants.
EXHAUSTED, OPEN, VIOLATED = "exhausted", "open", "violated"
# An eviction was not admitted; the detail is the server's sentence.
DENIED = "denied"

LEAVING = (EVICTED, DELETED)


@dataclass(frozen=True)
class Entry:
    """at: seconds since the epoch, of the twin's time. subject: a node's name, or the pod or the
    budget as namespace/name. owner: the workload of the pod, "Deployment shop/web". node: the
    pod's. budgets: those that select the pod, as namespace/name, when it leaves or is concerned."""

    at: float
    event: str
    subject: str
    owner: str = ""
    node: str = ""
    budgets: tuple[str, ...] = ()
    detail: str = ""

    def document(self) -> dict[str, Any]:
        return asdict(self)


def parse_entry(raw: Mapping[str, Any]) -> Entry:
    """Returns the Entry of its document()."""
    return Entry(**{**raw, "budgets": tuple(raw.get("budgets") or ())})
