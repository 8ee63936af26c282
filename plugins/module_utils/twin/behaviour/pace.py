# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How long pods take to start and to stop, and nodes to come: distributions, drawn from a seed.

The form of a spec, for a pace or for a pool of nodes:

    start: 2                          always 2 seconds; also 2s, 1m30s
    start: {uniform: [1, 4]}          anything from 1 to 4 seconds
    start: {normal: [5, 1]}           mean and standard deviation, never below 0
    start: {lognormal: [5, 0.5]}      median in seconds, and sigma of the logarithm
    start: {empirical: [2, 2, 3, 9]}  one of the seconds that were seen, each as likely
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from random import Random
from typing import Any, Callable, Mapping, Protocol, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.duration import parse_duration


class Distribution(Protocol):
    def sample(self, draw: Random) -> float:
        """Seconds, never negative."""


@dataclass(frozen=True)
class Fixed:
    seconds: float

    def sample(self, draw: Random) -> float:  # noqa: ARG002 - the same whatever is drawn
        return self.seconds


@dataclass(frozen=True)
class Uniform:
    low: float
    high: float

    def sample(self, draw: Random) -> float:
        return draw.uniform(self.low, self.high)


@dataclass(frozen=True)
class Normal:
    mean: float
    deviation: float

    def sample(self, draw: Random) -> float:
        return max(0.0, draw.gauss(self.mean, self.deviation))


@dataclass(frozen=True)
class LogNormal:
    median: float
    sigma: float

    def sample(self, draw: Random) -> float:
        return draw.lognormvariate(math.log(self.median), self.sigma)


@dataclass(frozen=True)
class Empirical:
    values: tuple[float, ...]

    def sample(self, draw: Random) -> float:
        return draw.choice(self.values)


AT_ONCE = Fixed(0.0)


@dataclass(frozen=True)
class Times:
    """start: from the binding until Ready. stop: from the deletion until gone; the grace period
    is its limit."""

    start: Distribution = AT_ONCE
    stop: Distribution = AT_ONCE


@dataclass(frozen=True)
class Pace:
    """The times of pods that carry no annotation of their own.

    by_class: by the pod's label `label`, for those values that are known; `others` else.
    """

    others: Times = Times()
    label: str = ""
    by_class: Mapping[str, Times] = field(default_factory=dict)

    def times(self, labels: Mapping[str, str]) -> Times:
        return self.by_class.get(labels.get(self.label, ""), self.others)


# --- the form of a spec --------------------------------------------------------------------


def parse_pace(raw: Mapping[str, Any]) -> Pace:
    """Returns the Pace of {start:, stop:, label:, classes: {value: {start:, stop:}}}.

    Raises ValueError with one sentence that names the field.
    """
    _known(raw, ("start", "stop", "label", "classes"), "pace")
    classes = raw.get("classes") or {}
    if classes and not raw.get("label"):
        raise ValueError("pace.classes needs pace.label, the label whose values it lists.")
    if not isinstance(classes, Mapping):
        raise ValueError(f"pace.classes: {classes!r} is not a mapping from a value to its times.")
    by_class = {str(name): _times(one, f"pace.classes.{name}") for name, one in classes.items()}
    given = {name: raw[name] for name in ("start", "stop") if name in raw}
    return Pace(_times(given, "pace"), str(raw.get("label") or ""), by_class)


def _times(raw: Any, path: str) -> Times:
    _known(raw, ("start", "stop"), path)
    start, stop = (
        parse_distribution(raw[name], f"{path}.{name}") if name in raw else AT_ONCE
        for name in ("start", "stop")
    )
    return Times(start, stop)


def _known(raw: Any, names: Sequence[str], path: str) -> None:
    if not isinstance(raw, Mapping):
        raise ValueError(f"{path}: {raw!r} is not a mapping with {', '.join(names)}.")
    unknown = sorted(str(name) for name in raw if name not in names)
    if unknown:
        raise ValueError(f"{path}: {unknown[0]!r} is not one of {', '.join(names)}.")


def parse_distribution(raw: Any, path: str) -> Distribution:
    """Returns the distribution of a spec's form, as the head of this file lists them.

    path: the field's name, for the sentence of the ValueError.
    """
    if not isinstance(raw, Mapping):
        try:
            return Fixed(parse_duration(raw))
        except ValueError as problem:
            raise ValueError(f"{path}: {problem}.") from None
    if len(raw) != 1 or next(iter(raw)) not in _FORMS:
        raise ValueError(f"{path}: give seconds, or one of {', '.join(_FORMS)}.")
    name, values = next(iter(raw.items()))
    return _FORMS[name](_numbers(values, f"{path}.{name}"), f"{path}.{name}")


def _numbers(values: Any, path: str) -> tuple[float, ...]:
    if not isinstance(values, Sequence) or isinstance(values, str) or not values:
        raise ValueError(f"{path}: {values!r} is not a list of numbers.")
    for value in values:
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number or not math.isfinite(value) or value < 0:
            raise ValueError(f"{path}: {value!r} is not a number of 0 or more.")
    return tuple(float(value) for value in values)


def _pair(values: Sequence[float], path: str, names: str) -> tuple[float, float]:
    if len(values) != 2:
        raise ValueError(f"{path}: give two numbers, {names}.")
    return values[0], values[1]


def _uniform(values: tuple[float, ...], path: str) -> Distribution:
    low, high = _pair(values, path, "the least and the most")
    if low > high:
        raise ValueError(f"{path}: the least, {low:g}, is more than the most, {high:g}.")
    return Uniform(low, high)


def _normal(values: tuple[float, ...], path: str) -> Distribution:
    return Normal(*_pair(values, path, "the mean and the deviation"))


def _log_normal(values: tuple[float, ...], path: str) -> Distribution:
    median, sigma = _pair(values, path, "the median and sigma")
    if median == 0:
        raise ValueError(f"{path}: the median must be more than 0.")
    return LogNormal(median, sigma)


def _empirical(values: tuple[float, ...], path: str) -> Distribution:  # noqa: ARG001 - any will do
    return Empirical(values)


_FORMS: Mapping[str, Callable[[tuple[float, ...], str], Distribution]] = {
    "uniform": _uniform,
    "normal": _normal,
    "lognormal": _log_normal,
    "empirical": _empirical,
}
