# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a plan may do beyond the Eviction API and beyond what objects ask for themselves.

All of it is off unless the user says otherwise. A plan keeps the settings that it was made with: a
run reads them there, not in its own options.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.duration import parse_duration
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import InvalidOption

# Seconds: a drain's deadline when aggressive_eviction names none, and what it may be.
DRAIN_TIMEOUT = 600
SHORTEST_DRAIN, LONGEST_DRAIN = 60, 3600
# Before a pod is deleted that its budget blocks, or that is marked.
PATIENCE = 600.0


@dataclass(frozen=True)
class AggressiveModeConfig:
    """The names are the reference's, in snake_case; docs/guides/plan.md tells what each does.

    drain_timeout_seconds: as text; "0" is no deadline. The two timeouts: durations as text, None is
    ten minutes. Each needs the switch that it belongs to.
    """

    ignore_local_persistent_volumes: bool = False
    ignore_problem_job_pods: bool = False
    ignore_problem_removal_disabled_pods: bool = False
    ignore_problem_pods_without_controller: bool = False
    ignore_instance_criteria: bool = False
    aggressive_eviction: bool = False
    drain_timeout_seconds: Optional[str] = None
    ignore_blocking_pdb: bool = False
    ignore_zero_node_pool_disruption_budgets: bool = False
    ignore_problem_removal_disabled_nodes: bool = False
    ignore_consolidatable: bool = False
    ignore_blocking_pdb_timeout: Optional[str] = None
    ignore_problem_removal_disabled_pods_timeout: Optional[str] = None

    @property
    def drain_timeout(self) -> Optional[float]:
        """Seconds after which what is left on a node is deleted; None is never."""
        if not self.aggressive_eviction:
            return None
        seconds = (
            DRAIN_TIMEOUT if self.drain_timeout_seconds is None else int(self.drain_timeout_seconds)
        )
        return float(seconds) if seconds else None

    @property
    def blocking_pdb_timeout(self) -> float:
        """Seconds; of use only under ignore_blocking_pdb."""
        return _patience(self.ignore_blocking_pdb_timeout)

    @property
    def removal_disabled_pods_timeout(self) -> float:
        """Seconds; of use only under ignore_problem_removal_disabled_pods."""
        return _patience(self.ignore_problem_removal_disabled_pods_timeout)


def check_settings(settings: AggressiveModeConfig) -> None:
    """Raises InvalidOption, which names the setting, for a value or a switch that is wrong."""
    _check_drain_timeout(settings)
    for name, value, switch in (
        (
            "ignore_blocking_pdb_timeout",
            settings.ignore_blocking_pdb_timeout,
            settings.ignore_blocking_pdb,
        ),
        (
            "ignore_problem_removal_disabled_pods_timeout",
            settings.ignore_problem_removal_disabled_pods_timeout,
            settings.ignore_problem_removal_disabled_pods,
        ),
    ):
        if value is not None:
            _check_patience(name, value, switch)


def _check_drain_timeout(settings: AggressiveModeConfig) -> None:
    name, value = "drain_timeout_seconds", settings.drain_timeout_seconds
    if value is None:
        return
    if not settings.aggressive_eviction:
        raise _without_switch(name, "aggressive_eviction")
    whole = value.isascii() and value.isdigit()
    if not whole or not (int(value) == 0 or SHORTEST_DRAIN <= int(value) <= LONGEST_DRAIN):
        raise InvalidOption(
            name,
            f"{value!r} is out of range.",
            f"Give {SHORTEST_DRAIN} to {LONGEST_DRAIN} seconds, or 0 for no deadline.",
        )


def _check_patience(name: str, value: str, switch: bool) -> None:
    if not switch:
        raise _without_switch(name, name[: -len("_timeout")])
    try:
        seconds = parse_duration(value)
    except ValueError as error:
        raise InvalidOption(name, f"{error}.", "Write 90, 90s or 10m.") from error
    if seconds <= 0:
        raise InvalidOption(name, f"{value!r} is not positive.", "Write 90, 90s or 10m.")


def _without_switch(name: str, switch: str) -> InvalidOption:
    return InvalidOption(
        name, f"it says nothing without {switch}.", f"Set {switch}, or leave it out."
    )


def _patience(value: Optional[str]) -> float:
    return PATIENCE if value is None else parse_duration(value)
