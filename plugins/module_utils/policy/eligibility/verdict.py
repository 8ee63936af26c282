# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""May this pod run on that node? The answer, with every rule that says no."""

from __future__ import annotations

from dataclasses import dataclass

FITS = "fits"
DOES_NOT_FIT = "does_not_fit"
UNKNOWN = "unknown"

# The rules, named after what the scheduler's plugins look at.
SCHEDULING_GATES = "scheduling gates"
NODE_NAME = "node name"
UNSCHEDULABLE = "unschedulable"
TAINTS = "taints"
NODE_SELECTOR = "node selector"
NODE_AFFINITY = "node affinity"
HOST_PORTS = "host ports"
RESOURCES = "resources"
POD_AFFINITY = "pod affinity"
POD_ANTI_AFFINITY = "pod anti-affinity"
ANTI_AFFINITY_OF_OTHERS = "anti-affinity of other pods"
TOPOLOGY_SPREAD = "topology spread"
VOLUMES = "volumes"
ATTACH_LIMITS = "attach limits"
READ_WRITE_ONCE_POD = "ReadWriteOncePod"


@dataclass(frozen=True)
class Failing:
    """A rule that keeps the pod off the node.

    short: for resources alone, (name, amount missing), as Node.allocatable counts them.
    """

    rule: str
    detail: str
    short: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Verdict:
    """failing: in the order of the rules; unknown: what could not be judged.

    What fails is certain, whatever else is unknown; only what has neither fits.
    """

    failing: tuple[Failing, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def outcome(self) -> str:
        if self.failing:
            return DOES_NOT_FIT
        return UNKNOWN if self.unknown else FITS

    @property
    def rules(self) -> tuple[str, ...]:
        """The names of the rules that fail, each once."""
        return tuple(dict.fromkeys(failing.rule for failing in self.failing))
