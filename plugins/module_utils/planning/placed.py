# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Pods where they are, and where a plan has them go."""

from __future__ import annotations

from dataclasses import dataclass

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.scheduling import SchedulingSpec


@dataclass(frozen=True)
class Placed:
    """A pod that runs. key: namespace/name. moves: false for what goes with its node (DaemonSet and
    mirror pods), and for what must stay."""

    key: str
    spec: SchedulingSpec
    node: str
    moves: bool = True


@dataclass(frozen=True)
class Move:
    pod: str
    source: str
    target: str
