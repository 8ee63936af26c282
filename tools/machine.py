# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What this machine has, and what a stage says when it has not."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import Callable, Optional

from tools import tree
from tools.environments import Environment
from tools.interpreters import Interpreter, find_interpreters


@dataclass(frozen=True)
class Missing:
    """Why a stage cannot run here, and the command that would enable it."""

    reason: str
    enable: str

    def __str__(self) -> str:
        return f"{self.reason}; to enable: {self.enable}"


class Machine:
    """Asked by the needs; each question is answered once per process."""

    @cached_property
    def interpreters(self) -> list[Interpreter]:
        return find_interpreters()


Need = Callable[[Machine], Optional[Missing]]


def python_for(environment: Environment) -> Need:
    """An interpreter that carries the environment."""

    def check(machine: Machine) -> Missing | None:
        if environment.interpreter(machine.interpreters):
            return None
        low, high = (".".join(map(str, one)) for one in (environment.lowest, environment.highest))
        wanted = low if low == high else f"{low} to {high}"
        return Missing(
            f"no usable Python {wanted} on PATH or under pyenv's or uv's versions",
            f"pyenv install {high}   (or: uv python install {high})",
        )

    return check


def files_like(pattern: str) -> Need:
    """At least one such file, so that an empty directory is never taken for a pass."""

    def check(_machine: Machine) -> Missing | None:
        if any(tree.CHECKOUT.glob(pattern)):
            return None
        return Missing(f"there is no {pattern}", "write one")

    return check


def not_left_out(name: str) -> Need:
    """Whether the user asked for less: EVENKEEL_SKIP is a list of stages, separated by blanks."""

    def check(_machine: Machine) -> Missing | None:
        if name in os.environ.get("EVENKEEL_SKIP", "").split():
            return Missing("EVENKEEL_SKIP names it", "unset EVENKEEL_SKIP")
        return None

    return check
