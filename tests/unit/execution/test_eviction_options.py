# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What evict refuses of its options before it reads anything."""

from __future__ import annotations

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.options import (
    EvictOptions,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import InvalidOption
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.node_selection import (
    NodeSelection,
)


def test_a_negative_max_parallel_is_refused_because_nothing_would_ever_leave() -> None:
    with pytest.raises(InvalidOption) as refused:
        EvictOptions(NodeSelection(nodes=("n1",)), max_parallel=-5).consent("fleet.evenkeel.dev/")
    assert str(refused.value) == (
        "max_parallel: -5 is negative. "
        "Set a count of pods, or 0 for as many as their budgets allow."
    )
