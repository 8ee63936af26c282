# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The parts of execution's Clock and Attention that this backend needs."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol


class Attention(Protocol):
    @property
    def headers(self) -> tuple[tuple[str, str], ...]: ...

    def waiting(self) -> AbstractContextManager[None]: ...

    def close(self) -> None: ...


class Time(Protocol):
    def monotonic(self) -> float: ...

    def sleep(self, seconds: float) -> None: ...

    def attention(self) -> Attention: ...
