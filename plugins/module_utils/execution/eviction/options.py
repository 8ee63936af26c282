# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The options of `evict`, with the module's names."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Mapping, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.consents import consent_of
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import InvalidOption
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.consent import Consent
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.node_selection import (
    NodeSelection,
)

CONTINUE = "continue"
FAIL_FAST = "fail_fast"


@dataclass(frozen=True)
class EvictOptions:
    """grace_period_seconds: None is the pod's own. fragile: evict, defer, refuse or surge.

    max_parallel: pods that are leaving at once over the whole call; 0 is as many as the budgets
    allow. wait_timeout: seconds, 0 is no limit. only_while: annotations that each node must keep,
    with their values: when one goes or changes, the run stops before its next act.
    fenced: the user states that the nodes are switched off.
    status_annotation: key of the annotation that says on each node what it waits for; "" is none.
    ignore_not_found: nodes named that are not there are reported as gone, not refused.
    """

    selection: NodeSelection
    pod_selector: str = ""
    namespaces: tuple[str, ...] = ()
    delete_emptydir_data: bool = False
    ignore_daemonsets: bool = False
    force: bool = False
    disable_eviction: bool = False
    grace_period_seconds: Optional[int] = None
    fragile: str = "evict"
    max_parallel: int = 0
    wait: bool = True
    wait_timeout: float = 1800.0
    on_refusal: str = CONTINUE
    fenced: bool = False
    allow_last: bool = False
    only_while: Mapping[str, str] = field(default_factory=dict)
    status_annotation: str = ""
    ignore_not_found: bool = False

    def consent(self, prefix: str) -> Consent:
        """What policy/consent judges by. Raises InvalidOption for a selector it cannot read.

        A negative max_parallel would let nothing leave, and wait for it until wait_timeout.
        """
        if self.max_parallel < 0:
            raise InvalidOption(
                "max_parallel",
                f"{self.max_parallel} is negative.",
                "Set a count of pods, or 0 for as many as their budgets allow.",
            )
        return consent_of(self, prefix)
