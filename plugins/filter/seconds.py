# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The filter `evenkeel.fleet.seconds`; documented in seconds.yml."""

from __future__ import annotations

from typing import Any, Callable

from ansible.errors import AnsibleFilterError

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.duration import parse_duration


def seconds(duration: Any, option: str = "duration") -> float:
    """Returns how many seconds a duration is; `option` is how an error calls it."""
    try:
        return parse_duration(duration)
    except ValueError as problem:
        raise AnsibleFilterError(f"{option}: {problem}") from problem


class FilterModule:
    """Tells Ansible the names of the filters."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        return {"seconds": seconds}
