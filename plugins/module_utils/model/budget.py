# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A PodDisruptionBudget: its spec, and the status that the disruption controller last wrote."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Mapping, Optional, Union

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.objects import (
    Metadata,
    parse_metadata,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.selector import (
    LabelSelector,
    parse_stored_selector,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.times import parse_instant

IntOrPercent = Union[int, str]

IF_HEALTHY_BUDGET = "IfHealthyBudget"
ALWAYS_ALLOW = "AlwaysAllow"


@dataclass(frozen=True)
class Budget:
    """`selector` is None when the PDB has none, or one that the API would not take any more: it
    then selects no pod (policy/v1).

    min_available, max_unavailable: an integer, a percentage ("30%"), or None; one of them is set.
    disrupted_pods: names of pods whose eviction was admitted and that the controller still expects
    to go, with the time of the admission.
    stale: the controller has not yet observed this generation; the API then refuses evictions.
    sync_failure: the DisruptionAllowed condition's message when the controller could not work
    the budget out (reason SyncFailed), such as an owner without a scale subresource; or "".
    """

    meta: Metadata
    selector: Optional[LabelSelector]
    min_available: Optional[IntOrPercent]
    max_unavailable: Optional[IntOrPercent]
    unhealthy_pod_eviction_policy: str
    disruptions_allowed: int
    current_healthy: int
    desired_healthy: int
    expected_pods: int
    disrupted_pods: Mapping[str, datetime]
    observed_generation: int
    sync_failure: str

    @property
    def key(self) -> str:
        return self.meta.key

    @property
    def stale(self) -> bool:
        return self.observed_generation < self.meta.generation

    def selects(self, namespace: str, labels: Mapping[str, str]) -> bool:
        return (
            self.selector is not None
            and namespace == self.meta.namespace
            and self.selector.matches(labels)
        )


def parse_budget(raw: Mapping[str, Any]) -> Budget:
    """Returns the Budget of a raw policy/v1 PodDisruptionBudget."""
    spec = raw.get("spec") or {}
    status = raw.get("status") or {}
    return Budget(
        meta=parse_metadata(raw),
        selector=parse_stored_selector(spec.get("selector")),
        min_available=spec.get("minAvailable"),
        max_unavailable=spec.get("maxUnavailable"),
        unhealthy_pod_eviction_policy=spec.get("unhealthyPodEvictionPolicy") or IF_HEALTHY_BUDGET,
        disruptions_allowed=status.get("disruptionsAllowed", 0),
        current_healthy=status.get("currentHealthy", 0),
        desired_healthy=status.get("desiredHealthy", 0),
        expected_pods=status.get("expectedPods", 0),
        disrupted_pods={
            name: parse_instant(when) for name, when in (status.get("disruptedPods") or {}).items()
        },
        observed_generation=status.get("observedGeneration", 0),
        sync_failure=_sync_failure(status),
    )


def _sync_failure(status: Mapping[str, Any]) -> str:
    for condition in status.get("conditions") or ():
        if condition.get("type") == "DisruptionAllowed" and condition.get("reason") == "SyncFailed":
            return str(condition.get("message") or "SyncFailed")
    return ""
