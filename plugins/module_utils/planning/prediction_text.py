# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A prediction as data, and as the short table that a person reads first."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Iterator, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.prediction import (
    Prediction,
    Spread,
)

# Lines of one part of the table; the data has the rest.
_MOST = 10


def document(prediction: Prediction) -> dict[str, Any]:
    """Durations in seconds, to the tenth."""
    return {
        "succeeds": prediction.succeeds,
        "problem": prediction.problem,
        "seeds": list(prediction.seeds),
        "duration": _rounded(asdict(prediction.duration)),
        "timeline": [_rounded(asdict(one)) for one in prediction.timeline],
        "moved": [_rounded(asdict(one)) for one in prediction.moved],
        "moved_by_owner": dict(prediction.moved_by_owner()),
        "waits": [_rounded(asdict(one)) for one in prediction.waits],
        "violated": list(prediction.violated),
        "refused": [asdict(one) for one in prediction.refused],
        "unfinished": [asdict(one) for one in prediction.unfinished],
        "unplaced": [asdict(one) for one in prediction.unplaced],
        "change_first": [asdict(one) for one in prediction.first],
    }


def table(prediction: Prediction) -> list[str]:
    """The lines of a short table."""
    return [
        _row("result", "it succeeds" if prediction.succeeds else "it fails"),
        _row("duration", _spread(prediction.duration)),
        _row("moved", _moved(prediction)),
        *_part("violated", prediction.violated),
        *_part("refused", [f"{one.workload}  {one.code}" for one in prediction.refused]),
        *_part("unfinished", [f"{one.workload}  {one.code}" for one in prediction.unfinished]),
        *_part("unplaced", [one.workload for one in prediction.unplaced]),
        *_part(
            "budget waits",
            [
                f"{one.budget}  {_pods(one.pods)}, the longest {span(one.longest)}"
                for one in prediction.waits
            ],
        ),
        *_part(
            "change first",
            [
                " ".join(filter(None, (f"{one.subject}: {one.sentence}", one.remedy)))
                for one in prediction.first
            ],
        ),
    ]


def span(seconds: float) -> str:
    """0s, 42s, 3m05s, 1h02m."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02d}s"
    return f"{whole // 3600}h{whole % 3600 // 60:02d}m"


def _rounded(fields: dict[str, Any]) -> dict[str, Any]:
    return {
        name: round(value, 1) if isinstance(value, float) else value
        for name, value in fields.items()
    }


def _row(name: str, text: str) -> str:
    return f"{name:<13} {text}"


def _part(name: str, texts: Sequence[str]) -> Iterator[str]:
    for number, text in enumerate(texts[:_MOST]):
        yield _row("" if number else name, text)
    if len(texts) > _MOST:
        yield _row("", f"and {len(texts) - _MOST} more")


def _spread(duration: Spread) -> str:
    if span(duration.least) == span(duration.most):
        return span(duration.median)
    return f"{span(duration.median)} ({span(duration.least)} to {span(duration.most)})"


def _moved(prediction: Prediction) -> str:
    owners = prediction.moved_by_owner()
    named = [
        f"{owner} ({count})"
        for owner, count in sorted(owners.items(), key=lambda item: (-item[1], item[0]))
    ]
    more = f" and {len(named) - 3} more" if len(named) > 3 else ""
    of_whom = f": {', '.join(named[:3])}{more}" if named else ""
    return f"{_pods(len(prediction.moved))}{of_whom}"


def _pods(number: int) -> str:
    return "1 pod" if number == 1 else f"{number} pods"
