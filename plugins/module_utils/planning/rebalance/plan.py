# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A rebalancing as a plan document: what it costs now, what it would cost, and what is done for it.

Blue is what goes, green what comes. Prices are sums of those that are known; a node without one is
counted in unpriced_nodes, and is part of no price.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Iterable, Mapping, Optional, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.model import machine_labels
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.fleet import Fleet
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import Node
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.offering import SPOT
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.plan.actions import (
    CORDON,
    DELETE,
    DRAIN,
    PROVISION,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.plan.document import (
    Configuration,
    ConfigurationNode,
    Configurations,
    Diff,
    Plan,
    Refusal,
    Step,
    Totals,
    advanced,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.plan.money import (
    exact,
    monthly,
    percentage,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.plan.status import (
    LOW_SAVINGS,
    NO_NODES,
    NO_REPLACEABLE,
    READY,
    SKIPPED,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.rebalance.world import (
    NewNode,
    Rebalance,
    World,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.replaceable import kept_by

MIB = 2**20


@dataclass(frozen=True)
class Outcome:
    """A rebalancing, and what it was planned from."""

    fleet: Fleet
    world: World
    found: Rebalance
    refusals: tuple[Refusal, ...]


def planned(plan: Plan, outcome: Outcome, min_savings_percent: Decimal, now: datetime) -> Plan:
    """Returns the GENERATING plan as it is READY, or SKIPPED with the reason."""
    found = outcome.found
    made = replace(
        plan,
        configurations=_configurations(outcome),
        refusals=outcome.refusals,
        unpriced_nodes=len(found.unpriced),
    )
    skipped = _skipped(outcome, min_savings_percent)
    if skipped is not None:
        reason, message = skipped
        return advanced(replace(made, skipped_reason=reason, skipped_message=message), SKIPPED, now)
    return advanced(replace(made, steps=_steps(outcome)), READY, now)


def _skipped(outcome: Outcome, min_savings_percent: Decimal) -> Optional[tuple[str, str]]:
    found, nodes = outcome.found, len(outcome.fleet.nodes)
    if not nodes:
        return NO_NODES, "There are no nodes."
    if not outcome.world.replaceable & set(outcome.world.prices):
        kept = len({refusal.node for refusal in outcome.refusals})
        return NO_REPLACEABLE, (
            f"None of {nodes} nodes can be replaced: {kept} are kept by what is on them,"
            f" {len(found.unpriced)} have no price."
        )
    saved = found.price_before - found.price_after
    share = percentage(saved, found.price_before)
    if not found.removed or saved * 100 < min_savings_percent * found.price_before:
        return LOW_SAVINGS, (
            f"It would save {share} % of {exact(found.price_before)} an hour; at least"
            f" {exact(min_savings_percent)} % is asked for."
        )
    return None


def _steps(outcome: Outcome) -> tuple[Step, ...]:
    """New nodes first; then each old one is closed, all of them before any is drained."""
    uids = {node.name: node.meta.uid for node in outcome.fleet.nodes}
    steps = [(PROVISION, one.name, "", one.offering.key) for one in outcome.found.added]
    for action in (CORDON, DRAIN, DELETE):
        steps += [(action, name, uids[name], "") for name in outcome.found.removed]
    return tuple(
        Step(id=str(number), action=action, object=name, uid=uid, node=name, target=target)
        for number, (action, name, uid, target) in enumerate(steps, 1)
    )


# Configurations


@dataclass(frozen=True)
class _Machine:
    """A node that is or will be. price: None where it is not known. problematic: pods that keep it.
    pods: all on it; migratable: those that would have to run elsewhere without it."""

    shown: ConfigurationNode
    price: Optional[Decimal]
    replaceable: bool
    problematic: int
    pods: int
    migratable: int


def _configurations(outcome: Outcome) -> Configurations:
    found, facts = outcome.found, _Facts.of(outcome)
    before = [facts.machine(node) for node in outcome.fleet.nodes]
    gone = [one for one in before if one.shown.name in found.removed]
    arriving = Counter(move.target for move in found.moves)
    new = [_new(one, arriving[one.name]) for one in found.added]
    kept = [node for node in outcome.fleet.nodes if node.name not in found.removed]
    after = [*(facts.machine(node, arriving[node.name]) for node in kept), *new]
    blue, green, whole = _totals(gone), _totals(new), _totals(before)
    return Configurations(
        blue=Configuration(tuple(one.shown for one in gone), blue, whole),
        green=Configuration(tuple(one.shown for one in new), green, _totals(after)),
        diff=_diff(_price(gone), _price(new), _price(before)),
    )


@dataclass(frozen=True)
class _Facts:
    """What there is on the nodes, by their names."""

    prices: Mapping[str, Decimal]
    refused: Mapping[str, tuple[Refusal, ...]]
    pods: Mapping[str, int]
    migratable: Mapping[str, int]

    @staticmethod
    def of(outcome: Outcome) -> _Facts:
        pods = outcome.world.pods
        return _Facts(
            prices=outcome.world.prices,
            refused=kept_by(outcome.refusals),
            pods=Counter(pod.node for pod in pods),
            migratable=Counter(pod.node for pod in pods if pod.moves),
        )

    def machine(self, node: Node, arriving: int = 0) -> _Machine:
        price = self.prices.get(node.name)
        refused = {one.object for one in self.refused.get(node.name, ())}
        return _Machine(
            shown=ConfigurationNode(
                instance_type=machine_labels.instance_type(node.meta.labels),
                milli_cpu=node.capacity.get("cpu", 0),
                memory_mib=node.capacity.get("memory", 0) // MIB,
                is_spot=machine_labels.is_spot(node.meta.labels),
                price_hourly=None if price is None else exact(price),
                name=node.name,
            ),
            price=price,
            replaceable=price is not None and not refused,
            problematic=sum(one.startswith("Pod ") for one in refused),
            pods=self.pods[node.name] + arriving,
            migratable=self.migratable[node.name] + arriving,
        )


def _new(new: NewNode, arriving: int) -> _Machine:
    offering = new.offering
    return _Machine(
        shown=ConfigurationNode(
            instance_type=offering.instance_type,
            milli_cpu=offering.capacity.get("cpu", 0),
            memory_mib=offering.capacity.get("memory", 0) // MIB,
            is_spot=offering.capacity_type == SPOT,
            price_hourly=exact(offering.price),
        ),
        price=offering.price,
        replaceable=True,
        problematic=0,
        pods=arriving + new.daemons,
        migratable=arriving,
    )


def _totals(machines: Sequence[_Machine]) -> Totals:
    price = _price(machines)
    return Totals(
        nodes=len(machines),
        replaceable_nodes=sum(one.replaceable for one in machines),
        migratable_pods=sum(one.migratable for one in machines if one.replaceable),
        milli_cpu=sum(one.shown.milli_cpu for one in machines),
        memory_mib=sum(one.shown.memory_mib for one in machines),
        price_hourly=exact(price),
        price_monthly=exact(monthly(price)),
        pods=sum(one.pods for one in machines),
        problematic_pods=sum(one.problematic for one in machines),
    )


def _price(machines: Iterable[_Machine]) -> Decimal:
    return sum((one.price for one in machines if one.price is not None), Decimal(0))


def _diff(blue: Decimal, green: Decimal, whole: Decimal) -> Diff:
    saved = blue - green
    return Diff(
        price_hourly=exact(saved),
        price_monthly=exact(monthly(saved)),
        savings_percentage=percentage(saved, blue),
        cluster_savings_percentage=percentage(saved, whole),
    )
