# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The plan document: what a rebalancing or an upgrade is going to do, does, and has done.

The fields down to skipped_message are those of CAST AI's RebalancingPlan, in snake_case; `kind`,
`steps`, `refusals`, `fingerprint` and `unpriced_nodes` are ours. docs/guides/plan.md tells what
each means. None is absent: it does not stand in a document.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.plan.settings import (
    AggressiveModeConfig,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.plan.status import (
    EXECUTING,
    GENERATING,
    STALE,
    TERMINAL,
    UNSPECIFIED,
    check_transition,
)

PLANNED, INTENDED = "planned", "intended"
DONE, SKIPPED, FAILED = "done", "skipped", "failed"
STEP_STATES = (PLANNED, INTENDED, DONE, SKIPPED, FAILED)


@dataclass(frozen=True)
class ConfigurationNode:
    """name: None for a node that is yet to come. milli_cpu, memory_mib: its capacity."""

    instance_type: str
    milli_cpu: int
    memory_mib: int
    is_spot: bool
    price_hourly: Optional[str] = None
    name: Optional[str] = None


@dataclass(frozen=True)
class Totals:
    """problematic_pods: those that keep their node from being replaced."""

    nodes: int
    replaceable_nodes: int
    migratable_pods: int
    milli_cpu: int
    memory_mib: int
    price_hourly: str
    price_monthly: str
    pods: int
    problematic_pods: int


@dataclass(frozen=True)
class FailedAttempt:
    instance_type: str
    description: str


@dataclass(frozen=True)
class FailedNode:
    """attempts: in their order; all failed."""

    name: str
    attempts: tuple[FailedAttempt, ...]


@dataclass(frozen=True)
class Configuration:
    """totals: of `nodes`. cluster_totals: of the whole cluster in that state."""

    nodes: tuple[ConfigurationNode, ...]
    totals: Totals
    cluster_totals: Totals
    failed_nodes: tuple[FailedNode, ...] = ()


@dataclass(frozen=True)
class ConfigurationTotals:
    affected_node_totals: Totals
    cluster_totals: Totals


@dataclass(frozen=True)
class Diff:
    """Positive is cheaper."""

    price_hourly: str
    price_monthly: str
    savings_percentage: str
    cluster_savings_percentage: str


@dataclass(frozen=True)
class Recommendations:
    """applied: requests came from a recommender, not from the pods' own specs."""

    applied: bool = False


@dataclass(frozen=True)
class Configurations:
    """blue: as it is; green: as it is to be."""

    blue: Configuration
    green: Configuration
    diff: Diff
    achieved_diff: Optional[Diff] = None
    achieved: Optional[ConfigurationTotals] = None
    recommendations: Recommendations = Recommendations()


@dataclass(frozen=True)
class RebalancingError:
    code: str
    message: str
    affected_resource: Optional[str] = None


@dataclass(frozen=True)
class RebalancingNode:
    node_name: str


@dataclass(frozen=True)
class RebalancingWarning:
    """One for each pod without a place."""

    description: str


@dataclass(frozen=True)
class NodePoolBudget:
    """A Karpenter NodePool's disruption budget, as Karpenter counts it."""

    node_pool_name: str
    total_nodes: int
    allowed_disruptions: int
    disrupting_count: int
    remaining_disruptions: int


@dataclass(frozen=True)
class ExecutionProgress:
    nodes_created: int = 0
    nodes_to_create: int = 0
    nodes_deleted: int = 0
    nodes_to_delete: int = 0
    nodes_drained: int = 0
    nodes_to_drain: int = 0
    node_pool_budgets: tuple[NodePoolBudget, ...] = ()
    budget_wait_state: str = UNSPECIFIED


@dataclass(frozen=True)
class Step:
    """One act of a plan. state: one of STEP_STATES.

    uid: of the object when it was planned. target: where what moves goes. wave: which steps are
    done together, from 1; 0 in a plan without waves. forced: past the Eviction API, which an
    aggressive setting allows.
    """

    id: str
    action: str
    object: str
    uid: str
    node: str = ""
    target: str = ""
    wave: int = 0
    state: str = PLANNED
    forced: bool = False
    intent_time: Optional[datetime] = None
    done_time: Optional[datetime] = None
    detail: str = ""


@dataclass(frozen=True)
class Refusal:
    """Why an object keeps its node out of a plan. setting: the one that would let it in, or ""."""

    node: str
    object: str
    code: str
    detail: str
    setting: str = ""


@dataclass(frozen=True)
class Plan:
    """Times are UTC. unpriced_nodes: how many have no price, and are no part of any price here."""

    id: str
    organization_id: str
    cluster_id: str
    status: str
    create_time: datetime
    update_time: datetime
    kind: str
    aggressive_mode_config: AggressiveModeConfig
    execute_time: Optional[datetime] = None
    complete_time: Optional[datetime] = None
    errors: tuple[RebalancingError, ...] = ()
    configurations: Optional[Configurations] = None
    rebalancing_nodes: tuple[RebalancingNode, ...] = ()
    schedule_name: Optional[str] = None
    execution_progress: Optional[ExecutionProgress] = None
    warnings: tuple[RebalancingWarning, ...] = ()
    skipped_reason: Optional[str] = None
    skipped_message: Optional[str] = None
    steps: tuple[Step, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    fingerprint: str = ""
    unpriced_nodes: int = 0

    @property
    def terminal(self) -> bool:
        return self.status in TERMINAL


def advanced(plan: Plan, status: str, now: datetime) -> Plan:
    """Returns the plan in its next status, with the times that go with it.

    A plan that was executed is complete once it is terminal; one that never was has no such time.
    Raises status.IllegalTransition.
    """
    check_transition(plan.status, status)
    if status == STALE and any(step.state == DONE for step in plan.steps):
        raise ValueError("a plan that has acted is partially completed, not stale")
    changed = replace(plan, status=status, update_time=now)
    if status == EXECUTING:
        return replace(changed, execute_time=now)
    if changed.terminal and plan.status == EXECUTING:
        return replace(changed, complete_time=now)
    return changed


def begun(plan_id: str, organization: str, cluster: str, kind: str, now: datetime) -> Plan:
    """Returns a plan that is asked for and not made yet."""
    return Plan(
        id=plan_id,
        organization_id=organization,
        cluster_id=cluster,
        status=GENERATING,
        create_time=now,
        update_time=now,
        kind=kind,
        aggressive_mode_config=AggressiveModeConfig(),
    )
