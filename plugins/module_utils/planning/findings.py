# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a preflight says: findings with a level, and a forecast for every pod."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterable

from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.capacity import Capacity

ERROR = "error"
WARNING = "warning"
INFO = "info"
LEVELS = (ERROR, WARNING, INFO)

# What becomes of an eviction request for a pod, as the API server would answer now.
PASSES = "passes"
WAITS = "waits"
NEVER = "never"
ANSWERS = (PASSES, WAITS, NEVER)


@dataclass(frozen=True)
class Finding:
    """level: error (a drain would be refused, or not finish), warning (it takes long, or hurts),
    info (worth knowing). subject: the object, "PodDisruptionBudget shop/web". code: of model.codes.
    """

    level: str
    code: str
    subject: str
    sentence: str
    remedy: str = ""

    def document(self) -> dict[str, str]:
        return {
            "level": self.level,
            "code": self.code,
            "subject": self.subject,
            "sentence": self.sentence,
            "remedy": self.remedy,
        }


@dataclass(frozen=True)
class Forecast:
    """One pod of the chosen nodes.

    answer: what the Eviction API would say to a request now (passes, waits, never). action: what
    `evict` would do with the pod (evict, await, leave, refuse). code and detail: why it is not
    simply evicted; empty when it is.
    """

    workload: str
    node: str
    answer: str
    action: str
    code: str
    detail: str

    def document(self) -> dict[str, str]:
        return {
            "workload": self.workload,
            "node": self.node,
            "answer": self.answer,
            "action": self.action,
            "code": self.code,
            "detail": self.detail,
        }


@dataclass(frozen=True)
class Findings:
    """The whole assessment. capacities: one per set of nodes that would be drained together."""

    nodes: tuple[str, ...]
    findings: tuple[Finding, ...]
    pods: tuple[Forecast, ...]
    capacities: tuple[Capacity, ...]

    def at_least(self, level: str) -> tuple[Finding, ...]:
        """The findings of this level and above."""
        worst = LEVELS[: LEVELS.index(level) + 1]
        return tuple(finding for finding in self.findings if finding.level in worst)

    def summary(self) -> dict[str, int]:
        """Counts of findings by level, and of pods by answer and action."""
        return {
            "nodes": len(self.nodes),
            "pods": len(self.pods),
            **{level: sum(one.level == level for one in self.findings) for level in LEVELS},
            **{answer: sum(pod.answer == answer for pod in self.pods) for answer in ANSWERS},
            "evict": sum(pod.action == "evict" for pod in self.pods),
            "await": sum(pod.action == "await" for pod in self.pods),
            "leave": sum(pod.action == "leave" for pod in self.pods),
            "refuse": sum(pod.action == "refuse" for pod in self.pods),
        }

    def capacity_document(self) -> dict[str, Any]:
        """What found a place and what did not; a misfit's `short` in millicores and base units."""
        left_out = {entry.node: entry.sentence for one in self.capacities for entry in one.left_out}
        return {
            "placed": sum(len(one.placed) for one in self.capacities),
            "misfits": [
                {
                    "workload": misfit.pod.key,
                    "node": misfit.pod.node,
                    "nearest": misfit.nearest,
                    "short": dict(misfit.short),
                    "rules": [{"rule": rule, "nodes": count} for rule, count in misfit.why.rules],
                    "detail": misfit.sentence,
                }
                for one in self.capacities
                for misfit in one.misfits
            ],
            "left_out": [{"node": node, "detail": left_out[node]} for node in sorted(left_out)],
        }


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Worst first, then by code and subject; the same finding once."""
    return tuple(
        sorted(
            dict.fromkeys(findings),
            key=lambda one: (LEVELS.index(one.level), one.code, one.subject, one.sentence),
        )
    )
