# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a call did: one shape for every module that acts, success or failure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Mapping


@dataclass(frozen=True)
class Outcome:
    """What became of one workload, or of a node itself (`workload` empty).

    workload: "namespace/name"; node: its name; action: evict, delete, cordon, uncordon, ...;
    code: one of model.codes; detail: a sentence with the object, the rule and the remedy.
    """

    workload: str
    node: str
    action: str
    code: str
    detail: str = ""

    def document(self) -> dict[str, str]:
        return {
            "workload": self.workload,
            "node": self.node,
            "action": self.action,
            "code": self.code,
            "detail": self.detail,
        }


@dataclass(frozen=True)
class Report:
    """The result of a call.

    Done, skipped, pending and failed are four things: carried out (in check mode: would be);
    rightly left alone; not finished when the call ended; tried and refused for good.
    `failure` is the code for which the task fails, empty when it succeeds. `changed` is what was
    really written, also when the call failed. `diff` maps "before" and "after" to documents.
    `extra` is what this module returns beside the common shape (snake_case keys).
    """

    changed: bool = False
    msg: str = ""
    done: tuple[Outcome, ...] = ()
    skipped: tuple[Outcome, ...] = ()
    pending: tuple[Outcome, ...] = ()
    failed: tuple[Outcome, ...] = ()
    failure: str = ""
    diff: Mapping[str, Any] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)

    def result(self) -> dict[str, list[dict[str, str]]]:
        return {
            name: [outcome.document() for outcome in getattr(self, name)]
            for name in ("done", "skipped", "pending", "failed")
        }
