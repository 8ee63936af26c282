# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The statuses of a plan, the ways between them, and what can go wrong.

The names are those of CAST AI's RebalancingPlan. Two of that schema are never written: the
unspecified status and the unspecified code.
"""

from __future__ import annotations

from typing import Mapping

GENERATING, READY, EXECUTING = "GENERATING", "READY", "EXECUTING"
COMPLETED, PARTIALLY_COMPLETED, FAILED = "COMPLETED", "PARTIALLY_COMPLETED", "FAILED"
CANCELED, STALE, SKIPPED, EXPIRED = "CANCELED", "STALE", "SKIPPED", "EXPIRED"

TRANSITIONS: Mapping[str, tuple[str, ...]] = {
    GENERATING: (READY, SKIPPED, FAILED, CANCELED),
    READY: (EXECUTING, STALE, EXPIRED, CANCELED),
    EXECUTING: (COMPLETED, PARTIALLY_COMPLETED, FAILED, CANCELED, STALE),
    COMPLETED: (),
    PARTIALLY_COMPLETED: (),
    FAILED: (),
    CANCELED: (),
    STALE: (),
    SKIPPED: (),
    EXPIRED: (),
}
STATUSES = tuple(TRANSITIONS)
TERMINAL = frozenset(status for status, after in TRANSITIONS.items() if not after)

GENERATION_FAILED = "GENERATION_FAILED"
UPSCALING_FAILED = "UPSCALING_FAILED"
NODE_DRAIN_FAILED = "NODE_DRAIN_FAILED"
NODE_CREATE_FAILED = "NODE_CREATE_FAILED"
NODE_PREPARE_FAILED = "NODE_PREPARE_FAILED"
NODE_DELETE_FAILED = "NODE_DELETE_FAILED"
TIMEOUT = "TIMEOUT"
INSUFFICIENT_SAVINGS = "INSUFFICIENT_SAVINGS"
UNKNOWN = "UNKNOWN"
INSUFFICIENT_CAPACITY = "INSUFFICIENT_CAPACITY"
OPERATION_CANCELED = "OPERATION_CANCELED"
QUOTA_EXCEEDED = "QUOTA_EXCEEDED"
ERROR_CODES = (
    GENERATION_FAILED, UPSCALING_FAILED, NODE_DRAIN_FAILED, NODE_CREATE_FAILED,
    NODE_PREPARE_FAILED, NODE_DELETE_FAILED, TIMEOUT, INSUFFICIENT_SAVINGS, UNKNOWN,
    INSUFFICIENT_CAPACITY, OPERATION_CANCELED, QUOTA_EXCEEDED,
)  # fmt: skip

NO_NODES, NO_REPLACEABLE, LOW_SAVINGS = "NO_NODES", "NO_REPLACEABLE", "LOW_SAVINGS"
UP_TO_DATE, WINDOW_CLOSED, RUN_ACTIVE = "UP_TO_DATE", "WINDOW_CLOSED", "RUN_ACTIVE"
SKIPPED_REASONS = (
    NO_NODES, NO_REPLACEABLE, LOW_SAVINGS, UP_TO_DATE, WINDOW_CLOSED, RUN_ACTIVE,
)  # fmt: skip

AVAILABLE, BLOCKED = "BUDGET_WAIT_STATE_AVAILABLE", "BUDGET_WAIT_STATE_BLOCKED"
UNSPECIFIED = "BUDGET_WAIT_STATE_UNSPECIFIED"
WAIT_STATES = (UNSPECIFIED, AVAILABLE, BLOCKED)

REBALANCE, DRS, EVACUATION, ROLLING = "rebalance", "drs", "evacuation", "rolling"
KINDS = (REBALANCE, DRS, EVACUATION, ROLLING)


class IllegalTransition(Exception):
    """A fault of ours: a plan was to go from one status to another to which no way leads."""

    def __init__(self, before: str, after: str) -> None:
        super().__init__(f"a plan that is {before} cannot become {after}")


def check_transition(before: str, after: str) -> None:
    """Raises IllegalTransition."""
    if after not in TRANSITIONS[before]:
        raise IllegalTransition(before, after)
