# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The filter `evenkeel.fleet.batches`; documented in batches.yml."""

from __future__ import annotations

from typing import Any, Callable, Sequence

from ansible.errors import AnsibleFilterError


def batches(items: Sequence[Any], batch: Any = "") -> list[list[Any]]:
    """Returns consecutive batches of at most `batch` items ("2", 2), or that share ("25%")."""
    if not items:
        return []
    size = _size(str(batch).strip(), len(items))
    return [list(items[start : start + size]) for start in range(0, len(items), size)]


def _size(batch: str, total: int) -> int:
    if not batch:
        return total
    number = batch[:-1] if batch.endswith("%") else batch
    # int() would also take "1_0" and other scripts' digits.
    if not (number.isascii() and number.isdigit()) or int(number) == 0:
        raise AnsibleFilterError(
            f"batch: {batch!r} is neither a count of at least 1 nor a share such as 25%."
        )
    if not batch.endswith("%"):
        return int(number)
    if int(number) > 100:
        raise AnsibleFilterError(f"batch: {batch} is more than all of the nodes.")
    return max(1, total * int(number) // 100)


class FilterModule:
    """Tells Ansible the names of the filters."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        return {"batches": batches}
