# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Five of the random maintenances of the benchmark rehearsal_fidelity, whenever tests are run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.control_plane.space import Space

from .fidelity import compare, random_scenario


@pytest.mark.parametrize("seed", range(1, 6))
def test_the_real_run_does_what_was_rehearsed(space: Space, tmp_path: Path, seed: int) -> None:
    found = compare(space, random_scenario(seed), tmp_path)
    assert found.differences() == {}, found.scenario
