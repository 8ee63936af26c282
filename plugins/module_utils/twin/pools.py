# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Pools from which a twin's scaler makes nodes for pods that fit nowhere, as a user writes them.

    - pool: spare
      types:
        - {name: m7i.xlarge, price: 0.2, cpu: 4, memory: 16Gi}
        - {name: m7i.2xlarge, price: 0.4, cpu: 8, memory: 32Gi, pods: 58}
      delay: {uniform: [40, 90]}
      limit: 10

`delay` is a distribution in the form of behaviour/pace.
"""

from __future__ import annotations

from typing import Any, Mapping, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import InvalidOption
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.quantity import parse_quantity
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.pace import (
    parse_distribution,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.scaler import (
    InstanceType,
    Pool,
)

_POOL = ("pool", "types", "labels", "taints", "delay", "limit", "failures")
_TYPE = ("name", "price", "cpu", "memory", "pods", "labels")


def parse_pools(document: Sequence[Any]) -> tuple[Pool, ...]:
    """Raises InvalidOption (pools), which names the entry, what is wrong with it and what to do."""
    pools = tuple(_pool(entry, f"entry {number}") for number, entry in enumerate(document, 1))
    names = [pool.name for pool in pools]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise _bad(f"pool {twice}", "it is there twice.", "Give each a name of its own.")
    return pools


def _pool(entry: Any, place: str) -> Pool:
    given = _known(entry, _POOL, "pool", place)
    place = f"pool {given['pool']}"
    types = given.get("types")
    if not isinstance(types, Sequence) or isinstance(types, str) or not types:
        raise _bad(place, "it has no types.", "Give at least one instance type with its price.")
    try:
        delay = parse_distribution(given.get("delay", 0), "delay")
    except ValueError as error:
        raise _bad(place, f"{error}", "Write 60, 1m or {uniform: [40, 90]}.") from error
    limit = given.get("limit")
    return Pool(
        str(given["pool"]),
        tuple(_type(one, f"{place}, type {number}") for number, one in enumerate(types, 1)),
        labels=given.get("labels") or {},
        taints=given.get("taints") or (),
        delay=delay,
        limit=None if limit is None else int(_number(limit, f"{place}: limit")),
        failures=_number(given.get("failures", 0), f"{place}: failures", most=0.99),
    )


def _type(entry: Any, place: str) -> InstanceType:
    given = _known(entry, _TYPE, "name", place)
    room = {}
    for name, default in (("cpu", 4), ("memory", "16Gi"), ("pods", 110)):
        room[name] = str(given.get(name, default))
        try:
            parse_quantity(room[name])
        except ValueError as error:
            raise _bad(place, f"{error}.", "Write 4, 500m or 16Gi.") from error
    price = _number(given.get("price", 0), f"{place}: price")
    return InstanceType(str(given["name"]), price, room, given.get("labels") or {})


def _known(entry: Any, known: Sequence[str], named: str, place: str) -> Mapping[str, Any]:
    if not isinstance(entry, Mapping):
        raise _bad(place, f"{entry!r} is no mapping.", "Write keys and values.")
    unknown = sorted(str(key) for key in entry if key not in known)
    if unknown:
        raise _bad(place, f"unknown key {unknown[0]}.", f"Known are {', '.join(known)}.")
    if not entry.get(named):
        raise _bad(place, f"{named} is missing.", f"Give each entry a {named}.")
    return entry


def _number(value: Any, place: str, most: float = float("inf")) -> float:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not 0 <= value <= most:
        limits = "of 0 or more" if most == float("inf") else f"from 0 to {most:g}"
        raise _bad(place, f"{value!r} is no number {limits}.", "Correct it.")
    return float(value)


def _bad(place: str, problem: str, remedy: str) -> InvalidOption:
    return InvalidOption("pools", f"{place}: {problem}", remedy)
