# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How many pods each replica set of a deployment shall have next.

Source: pkg/controller/deployment (rolling.go, recreate.go, sync.go) and util/deployment_util.go,
1.37. Nothing here knows of objects but Sets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Mapping, Optional, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.budget import IntOrPercent
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.disruption import of_total


@dataclass(frozen=True)
class Set:
    """A replica set: what it shall have and what it has. number: its revision; the order of age.

    size_then: the deployment's replicas and surge when this one was last scaled with it; 0 when
    that is not known.
    """

    name: str
    wanted: int
    available: int
    present: int
    terminating: int = 0
    size_then: int = 0


@dataclass(frozen=True)
class Limits:
    """replicas, and how many more and fewer of them there may be meanwhile."""

    replicas: int
    surge: int
    unavailable: int


Scales = Mapping[str, int]


def limits(
    replicas: int, surge: Optional[IntOrPercent], unavailable: Optional[IntOrPercent]
) -> Limits:
    """Shares of the surge round up, those of what may be missing down; both may not be 0."""
    more = of_total(surge if surge is not None else "25%", replicas)
    fewer = _rounded_down(unavailable if unavailable is not None else "25%", replicas)
    if more == 0 and fewer == 0:
        fewer = 1
    return Limits(replicas, more, min(fewer, replicas))


def _rounded_down(value: IntOrPercent, total: int) -> int:
    return value if isinstance(value, int) else int(value.rstrip("%")) * total // 100


def first_size(bounds: Limits, old: Sequence[Set]) -> int:
    """Of a new set: as many as the surge leaves."""
    room = bounds.replicas + bounds.surge - sum(one.wanted for one in old)
    return max(0, min(room, bounds.replicas))


def rolling(bounds: Limits, new: Set, old: Sequence[Set]) -> Scales:
    """The next step: the new set grows, or else old ones shrink. {} when there is none to take.

    old: from the oldest on, those without pods included.
    """
    grown = _new_size(bounds, new, old)
    if grown != new.wanted:
        return {new.name: grown}
    return _shrunk(bounds, new, old)


def _new_size(bounds: Limits, new: Set, old: Sequence[Set]) -> int:
    if new.wanted >= bounds.replicas:
        return bounds.replicas
    total = new.wanted + sum(one.wanted for one in old)
    room = bounds.replicas + bounds.surge - total
    return new.wanted + max(0, min(room, bounds.replicas - new.wanted))


def _shrunk(bounds: Limits, new: Set, old: Sequence[Set]) -> Scales:
    if not any(one.wanted for one in old):
        return {}
    total = new.wanted + sum(one.wanted for one in old)
    least = bounds.replicas - bounds.unavailable
    most = total - least - (new.wanted - new.available)
    if most <= 0:
        return {}
    sizes = {one.name: one.wanted for one in old}
    _drop_unhealthy(old, sizes, most)
    spare = new.available + sum(one.available for one in old) - least
    for one in old:
        if spare <= 0:
            break
        less = min(sizes[one.name], spare)
        sizes[one.name] -= less
        spare -= less
    return {one.name: sizes[one.name] for one in old if sizes[one.name] != one.wanted}


def _drop_unhealthy(old: Sequence[Set], sizes: dict[str, int], most: int) -> None:
    """Pods that serve nobody go first; they free the surge without a loss."""
    for one in old:
        less = max(0, min(most, one.wanted - one.available))
        sizes[one.name] -= less
        most -= less


def recreating(bounds: Limits, new: Optional[Set], old: Sequence[Set], old_pods: bool) -> Scales:
    """Old sets go to 0 first; the new one grows when none of their pods is left."""
    down = {one.name: 0 for one in old if one.wanted}
    if down or old_pods or new is None or new.wanted == bounds.replicas:
        return down
    return {new.name: bounds.replicas}


def proportional(bounds: Limits, rolls: bool, sets: Sequence[Set]) -> Scales:
    """A new size in the middle of a rollout, or of a paused one: every set gets its share.

    sets: all those with pods, the newest first.
    """
    allowed = bounds.replicas + (bounds.surge if rolls and bounds.replicas > 0 else 0)
    change = allowed - sum(one.wanted for one in sets)
    ordered = sorted(sets, key=lambda one: -one.wanted)
    sizes, added = {one.name: one.wanted for one in ordered}, 0
    for one in ordered:
        if change != 0:
            share = _share(one, allowed, change, added)
            sizes[one.name] += share
            added += share
    if ordered and change != added:
        sizes[ordered[0].name] = max(0, sizes[ordered[0].name] + change - added)
    return {one.name: sizes[one.name] for one in ordered if sizes[one.name] != one.wanted}


def _share(one: Set, allowed: int, change: int, added: int) -> int:
    if one.wanted == 0:
        return 0
    then = one.size_then or allowed
    share = round(one.wanted * allowed / then) - one.wanted
    left = change - added
    return min(share, left) if change > 0 else max(share, left)
