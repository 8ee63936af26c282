# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Plans a rebalancing of a live fleet. Reads only."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Mapping, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.base import Cluster
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.offerings_file import (
    offerings_of,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.run import Progress, Run
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.scheduling import (
    SchedulingReading,
    read_scheduling,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import InvalidOption
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.offering import Offering
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.plan.codec import (
    api_document,
    snake_document,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.plan.document import (
    Plan,
    RebalancingNode,
    begun,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.plan.settings import (
    AggressiveModeConfig,
    check_settings,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.plan.status import (
    READY,
    REBALANCE,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.report import Report
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.resources import NAMESPACES
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.rebalance.fingerprint import (
    fingerprint,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.rebalance.inputs import (
    world_of,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.rebalance.plan import (
    Outcome,
    planned,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.rebalance.rebalance import (
    rebalance,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.rebalance.table import (
    curve_lines,
    table,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.rebalance.world import (
    Rebalance,
    Wishes,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.node_selection import (
    NodeSelection,
    check_selection,
    select,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.replaceable import (
    Scope,
    kept_by,
    refusals,
)

API, SNAKE = "api", "snake"
# Every cluster has this namespace, and its UID is taken for the cluster's.
_OLDEST = "kube-system"


@dataclass(frozen=True)
class PlanOptions:
    """offerings: a list, or the path of a file. selection: the nodes that may be replaced; None is
    all. min_savings_percent: below it the plan is skipped. savings_percent: the fewest nodes that
    save so much; None is what saves the most. max_nodes, max_moved: None is no limit. fragile:
    defer keeps the nodes of fragile pods, evict does not. aggressive_mode_config: settings by name.
    format: of the plan, snake or api.
    """

    offerings: Any
    selection: Optional[NodeSelection] = None
    min_savings_percent: float = 0.0
    savings_percent: Optional[float] = None
    max_nodes: Optional[int] = None
    max_moved: Optional[int] = None
    fragile: str = "defer"
    aggressive_mode_config: Mapping[str, Any] = field(default_factory=dict)
    format: str = SNAKE


def plan(options: PlanOptions, cluster: Cluster, run: Run) -> Report:
    """Returns the plan, its table and the savings curve in `extra`.

    Raises InvalidOption before anything is read, Refused for a selection that fits no node.
    """
    settings = _checked(options)
    offerings = offerings_of(options.offerings)
    reading = read_scheduling(cluster)
    run.check()
    fleet = reading.reading.fleet
    chosen = fleet.nodes if options.selection is None else select(options.selection, fleet)
    asked = replace(
        begun(_new_id(run), "", _cluster_id(cluster), REBALANCE, run.clock.now()),
        aggressive_mode_config=settings,
        rebalancing_nodes=()
        if options.selection is None
        else tuple(RebalancingNode(node.name) for node in chosen),
    )
    outcome = _outcome(options, settings, reading, offerings, {node.name for node in chosen})
    run.check()
    made = replace(
        planned(asked, outcome, _decimal(options.min_savings_percent), run.clock.now()),
        fingerprint=fingerprint(fleet, outcome.world),
    )
    for line in table(made):
        run.progress(Progress("", line, urgent=True))
    return _report(made, outcome.found, reading, options.format)


def _outcome(
    options: PlanOptions,
    settings: AggressiveModeConfig,
    reading: SchedulingReading,
    offerings: tuple[Offering, ...],
    chosen: set[str],
) -> Outcome:
    fleet = reading.reading.fleet
    kept = refusals(fleet, reading.facts.storage, Scope(settings, options.fragile))
    world = world_of(
        fleet,
        reading.facts,
        offerings,
        chosen - set(kept_by(kept)),
    )
    wanted = options.savings_percent
    wishes = Wishes(
        options.max_nodes, options.max_moved, None if wanted is None else _decimal(wanted)
    )
    return Outcome(fleet, world, rebalance(world, wishes), kept)


def _checked(options: PlanOptions) -> AggressiveModeConfig:
    if options.selection is not None:
        check_selection(options.selection)
    for name in ("max_nodes", "max_moved"):
        value = getattr(options, name)
        if value is not None and value < 0:
            raise InvalidOption(name, f"{value} is negative.", "Give 0 or more, or leave it out.")
    for name in ("min_savings_percent", "savings_percent"):
        value = getattr(options, name)
        if value is not None and not 0 <= value <= 100:
            raise InvalidOption(name, f"{value:g} is no share.", "Give 0 to 100.")
    settings = AggressiveModeConfig(**options.aggressive_mode_config)
    check_settings(settings)
    return settings


def _new_id(run: Run) -> str:
    """In the order of time, and unique though two are made within a second."""
    return f"{run.clock.now():%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"


def _cluster_id(cluster: Cluster) -> str:
    return str(cluster.get(NAMESPACES, _OLDEST)["metadata"]["uid"])


def _decimal(value: float) -> Decimal:
    return Decimal(str(value))


def _report(made: Plan, found: Rebalance, reading: SchedulingReading, form: str) -> Report:
    document = api_document(made) if form == API else snake_document(made)
    return Report(
        msg=_message(made),
        extra={
            "plan": document,
            "table": table(made),
            "curve": curve_lines(found.curve),
            "kept_back": dict(found.kept_back),
            "unread": [*reading.reading.unread, *reading.unread],
        },
    )


def _message(made: Plan) -> str:
    found = made.configurations
    if made.status != READY or found is None:
        return f"Nothing to do: {made.skipped_message}"
    return (
        f"{found.blue.totals.nodes} nodes can become {found.green.totals.nodes}: the cluster would"
        f" cost {found.green.cluster_totals.price_hourly} an hour instead of"
        f" {found.blue.cluster_totals.price_hourly} ({found.diff.cluster_savings_percentage} %"
        " less)."
    )
