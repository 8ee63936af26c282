# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The catalogue of codes: every code that an Outcome, a Report or an error can carry.

Codes are stable: playbooks and pipelines match on them. docs/guides/codes.md is made from this.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Code:
    """`meaning` and `remedy` are sentences for the person who reads the code in a log."""

    name: str
    meaning: str
    remedy: str = ""


CODES: tuple[Code, ...] = (
    # What was done.
    Code("cordoned", "The node was closed to new pods."),
    Code("uncordoned", "The node was opened to new pods."),
    Code("evicted", "The Eviction API accepted the pod's eviction and the pod is gone."),
    Code("forced", "The pod was deleted past its budgets, as disable_eviction asks."),
    Code("already_gone", "The pod was gone, or replaced by another of its name, before its turn."),
)
