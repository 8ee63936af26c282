# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The filter `evenkeel.fleet.obstacles`; documented in obstacles.yml."""

from __future__ import annotations

from typing import Any, Callable, Mapping, Sequence

# Lines for a person, and for an annotation that is read in a terminal.
_LINES = 20
_LINES_OF_NODE = 5
# Pods that a line names when they wait for the same.
_PODS = 3

_Entry = Mapping[str, str]


def obstacles(evicted: Mapping[str, Any], node: str = "") -> list[str]:
    """Returns what evict met, the whole in one sentence first, then a line for each obstacle.

    `node`: only what concerns this node, without its name, in a single line.
    """
    left = _left(evicted, node)
    if not left:
        told = evicted.get("problem") or evicted.get("msg", "evict ended without a result.")
        return [str(told)]
    lines = _lines(left, named=not node)
    if node:
        return [f"{_opening(evicted, left, node)} {'; '.join(_shortened(lines, _LINES_OF_NODE))}"]
    return [_opening(evicted, left, node), *_shortened(lines, _LINES)]


def _shortened(lines: Sequence[str], limit: int) -> list[str]:
    more = [f"and {len(lines) - limit} more"] if len(lines) > limit else []
    return [*lines[:limit], *more]


def _left(evicted: Mapping[str, Any], node: str) -> list[_Entry]:
    """What did not leave: refused, not gone yet, or put off as `fragile: defer` asks."""
    result = evicted.get("result") or {}
    skipped = [entry for entry in result.get("skipped", []) if entry["code"] == "deferred"]
    entries = [*result.get("failed", []), *result.get("pending", []), *skipped]
    return [entry for entry in entries if node in ("", entry["node"])]


def _opening(evicted: Mapping[str, Any], left: Sequence[_Entry], node: str) -> str:
    if node:
        return f"{_pods(_count(left))} still on this node:"
    if evicted.get("code") == "refused":
        return f"Refused, nothing was changed: {_pods(_count(left))} may not be evicted."
    nodes = ", ".join(sorted({entry["node"] for entry in left}))
    # Without evict's own remedy: how a drain is undone is not how a maintenance is.
    problem = f"{evicted['problem']} " if evicted.get("problem") else ""
    return f"{problem}{_pods(_count(left))} still on {nodes}:"


def _lines(left: Sequence[_Entry], named: bool) -> list[str]:
    """One line for all pods of a node that wait for the same."""
    pods: dict[tuple[str, str], list[str]] = {}
    for entry in left:
        detail = entry["detail"].rstrip(".") or entry["code"]
        pods.setdefault((entry["node"], detail), []).append(entry["workload"])
    return [
        f"{f'{node}  ' if named else ''}{_sentence(workloads, detail)}"
        for (node, detail), workloads in pods.items()
    ]


def _sentence(workloads: Sequence[str], detail: str) -> str:
    if detail.startswith(f"{workloads[0]} "):
        return detail
    return f"{_names(workloads)}: {detail}"


def _names(workloads: Sequence[str]) -> str:
    names = ", ".join(name or "disks" for name in workloads[:_PODS])
    more = len(workloads) - _PODS
    return f"{names} and {more} more" if more > 0 else names


def _count(left: Sequence[_Entry]) -> int:
    return len({entry["workload"] for entry in left})


def _pods(number: int) -> str:
    return f"{number} pod" if number == 1 else f"{number} pods"


class FilterModule:
    """Tells Ansible the names of the filters."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        return {"obstacles": obstacles}
