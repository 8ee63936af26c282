# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Why a pod fits on none of some nodes: the rules by how many nodes they rule out, and the nearest
miss."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.pods import (
    PodClass,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.room import (
    amount_words,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.state import (
    ClusterState,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.verdict import (
    RESOURCES,
    Failing,
    Verdict,
)

_PPM = 1_000_000


@dataclass(frozen=True)
class Nowhere:
    """rules: (rule, nodes that fail it), the most first; a node may fail several.

    nearest: the node with the fewest failing rules beside room, of these the one with the
    smallest missing share, of these the first by name; "" when there are no nodes.
    missing: what keeps the pod off the nearest node.
    """

    nodes: int
    rules: tuple[tuple[str, int], ...]
    nearest: str
    missing: tuple[Failing, ...]

    @property
    def counts(self) -> str:
        """resources on 3, taints on 1"""
        return ", ".join(f"{rule} on {count}" for rule, count in self.rules)

    @property
    def wants(self) -> str:
        """200m CPU and 1024Mi of memory"""
        return " and ".join(_words(failing) for failing in self.missing)

    @property
    def sentence(self) -> str:
        if not self.nearest:
            return "There is no node to go to."
        return (
            f"It fits on none of {self.nodes} nodes: {self.counts}."
            f" It fits on {self.nearest} but for {self.wants}."
        )


def nowhere(state: ClusterState, pod: PodClass, among: int) -> Nowhere:
    """Sums the verdicts up on the nodes of the mask `among`, none of which the pod fits on.

    Cost: every rule is asked about every node; for what is told to people, not for planning.
    """
    verdicts = {name: state.explain(pod, name) for name in state.names(among)}
    counts = Counter(rule for verdict in verdicts.values() for rule in verdict.rules)
    ranked = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    asked = {"pods": 1, **dict(pod.spec.requests)}
    nearest = min(verdicts, key=lambda name: (*_distance(verdicts[name], asked), name), default="")
    missing = verdicts[nearest].failing if nearest else ()
    return Nowhere(len(verdicts), tuple(ranked), nearest, missing)


def _distance(verdict: Verdict, asked: dict[str, int]) -> tuple[int, int]:
    """How many rules fail, room last of all: it may come by itself; then the share missing."""
    short = [pair for failing in verdict.failing for pair in failing.short]
    others = sum(1 for rule in verdict.rules if rule != RESOURCES)
    return others, max((amount * _PPM // asked[name] for name, amount in short), default=0)


def _words(failing: Failing) -> str:
    if failing.short:
        return " and ".join(amount_words(name, amount) for name, amount in failing.short)
    return f"{failing.rule} ({failing.detail})"
