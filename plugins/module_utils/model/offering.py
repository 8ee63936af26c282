# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Offerings: what a cloud or a data centre would sell, an instance type in a zone at a price.

The schema, as a list in YAML or JSON:

    - instance_type: m5.large
      zone: eu-west-1a             # absent: in whatever zone it is needed
      capacity_type: on-demand     # on-demand (default), spot or reserved
      price_per_hour: "0.107"      # of any one currency; a text keeps it exact
      capacity: {cpu: "2", memory: 8Gi, pods: 29}
      overhead: {cpu: 70m, memory: 600Mi}   # what the system keeps of it
      labels: {kubernetes.io/arch: amd64}
      taints: [{key: dedicated, value: batch, effect: NoSchedule}]
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from typing import Any, Iterable, Mapping, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import InvalidOption
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import (
    Node,
    Taint,
    parse_node,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.quantity import parse_resources

INSTANCE_TYPE = "node.kubernetes.io/instance-type"
ZONE = "topology.kubernetes.io/zone"
CAPACITY_TYPE = "karpenter.sh/capacity-type"

ON_DEMAND, SPOT, RESERVED = "on-demand", "spot", "reserved"
CAPACITY_TYPES = (ON_DEMAND, SPOT, RESERVED)
# Without these a node holds nothing.
_NEEDED = ("cpu", "memory", "pods")
_KEYS = (
    "instance_type", "zone", "capacity_type", "price_per_hour", "capacity", "overhead", "labels",
    "taints",
)  # fmt: skip
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_OPTION = "offerings"


@dataclass(frozen=True)
class Offering:
    """zone: "" is any. price: an hour's. allocatable: as Node.allocatable, the overhead is off."""

    instance_type: str
    zone: str
    capacity_type: str
    price: Decimal
    capacity: Mapping[str, int]
    allocatable: Mapping[str, int]
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()

    @property
    def key(self) -> str:
        """What tells it from all others: m5.large/eu-west-1a/spot."""
        return "/".join((self.instance_type, self.zone or "*", self.capacity_type))

    def node(self, name: str, daemons: Mapping[str, int]) -> Node:
        """The node that it would become; daemons: what DaemonSet pods take of it."""
        labels = {
            **self.labels,
            INSTANCE_TYPE: self.instance_type,
            CAPACITY_TYPE: self.capacity_type,
            **({ZONE: self.zone} if self.zone else {}),
        }
        allocatable = {
            resource: max(0, amount - daemons.get(resource, 0))
            for resource, amount in self.allocatable.items()
        }
        bare = parse_node({"metadata": {"name": name, "labels": labels}})
        return replace(bare, ready="True", taints=self.taints, allocatable=allocatable)


def parse_offerings(document: Any) -> tuple[Offering, ...]:
    """Returns the offerings of a loaded document, sorted by key.

    Raises InvalidOption, which names the entry: an unknown or missing key, a price or an amount
    that is none, the same offering twice, none at all.
    """
    if not isinstance(document, Sequence) or isinstance(document, str) or not document:
        raise InvalidOption(_OPTION, "it is not a list of offerings.", "See docs/guides/plan.md.")
    found: dict[str, Offering] = {}
    for number, raw in enumerate(document, 1):
        offering = _parse(raw, f"entry {number}")
        if offering.key in found:
            raise InvalidOption(
                _OPTION,
                f"entry {number}: {offering.key} is there already.",
                "Keep one: instance_type, zone and capacity_type together tell offerings apart.",
            )
        found[offering.key] = offering
    return tuple(found[key] for key in sorted(found))


def _parse(raw: Any, where: str) -> Offering:
    if not isinstance(raw, Mapping):
        raise InvalidOption(_OPTION, f"{where} is not a map.", f"Give it {', '.join(_KEYS)}.")
    _check_keys(raw, where)
    capacity_type = raw.get("capacity_type") or ON_DEMAND
    if capacity_type not in CAPACITY_TYPES:
        raise InvalidOption(
            _OPTION,
            f"{where}: capacity_type {capacity_type!r} is none of {', '.join(CAPACITY_TYPES)}.",
        )
    capacity = _amounts(raw, "capacity", where)
    missing = [name for name in _NEEDED if not capacity.get(name)]
    if missing:
        raise InvalidOption(_OPTION, f"{where}: its capacity has no {' and no '.join(missing)}.")
    overhead = _amounts(raw, "overhead", where)
    return Offering(
        instance_type=str(raw["instance_type"]),
        zone=str(raw.get("zone") or ""),
        capacity_type=capacity_type,
        price=_price(raw["price_per_hour"], where),
        capacity=capacity,
        allocatable={
            name: max(0, amount - overhead.get(name, 0)) for name, amount in capacity.items()
        },
        labels={str(key): str(value) for key, value in (raw.get("labels") or {}).items()},
        taints=_taints(raw.get("taints") or (), where),
    )


def _check_keys(raw: Mapping[str, Any], where: str) -> None:
    unknown = sorted(str(key) for key in raw if key not in _KEYS)
    if unknown:
        raise InvalidOption(
            _OPTION, f"{where}: {', '.join(unknown)} is unknown.", f"Known are {', '.join(_KEYS)}."
        )
    for key in ("instance_type", "price_per_hour", "capacity"):
        if raw.get(key) in (None, ""):
            raise InvalidOption(_OPTION, f"{where}: {key} is missing.")


def _price(value: Any, where: str) -> Decimal:
    try:
        price = Decimal(str(value))
    except InvalidOperation:
        price = Decimal(-1)
    if isinstance(value, bool) or not price.is_finite() or price < 0:
        raise InvalidOption(
            _OPTION,
            f"{where}: price_per_hour {value!r} is no price.",
            "Give a number of 0 or more, without a currency sign.",
        )
    return price


def _amounts(raw: Mapping[str, Any], key: str, where: str) -> dict[str, int]:
    value = raw.get(key) or {}
    if not isinstance(value, Mapping):
        raise InvalidOption(_OPTION, f"{where}: {key} is not a map of resources.")
    try:
        amounts = parse_resources(value)
    except ValueError as error:
        raise InvalidOption(
            _OPTION, f"{where}: {key}: {error}.", "Write it as in a pod's requests: 500m, 8Gi."
        ) from error
    negative = [name for name, amount in amounts.items() if amount < 0]
    if negative:
        raise InvalidOption(_OPTION, f"{where}: {key}: {negative[0]} is negative.")
    return amounts


def _taints(raw: Iterable[Any], where: str) -> tuple[Taint, ...]:
    taints = []
    for one in raw:
        effect = one.get("effect") if isinstance(one, Mapping) else None
        if effect not in _EFFECTS or not one.get("key"):
            raise InvalidOption(
                _OPTION,
                f"{where}: {one!r} is no taint.",
                f"A taint has key, value and effect ({', '.join(_EFFECTS)}).",
            )
        taints.append(Taint(str(one["key"]), str(one.get("value") or ""), effect))
    return tuple(taints)
