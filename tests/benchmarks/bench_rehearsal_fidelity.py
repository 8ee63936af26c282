# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How far rehearsals agree with what then really happens, over 50 random maintenances.

Each is made on the control plane, rehearsed from there, and then really run. EVENKEEL_SCENARIOS
sets another number, EVENKEEL_FIRST_SEED where they begin (1). The value is the share of predicted
durations within 25 % or 2 s of the real one; all else must agree every time.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from tests.control_plane.plane import Plane
from tests.control_plane.space import Space
from tests.integration.fidelity import Comparison, compare, random_scenario

from .worlds import one_plane

SCENARIOS, TARGET = 50, 0.9


def main() -> int:
    first = int(os.environ.get("EVENKEEL_FIRST_SEED", "1"))
    seeds = range(first, first + int(os.environ.get("EVENKEEL_SCENARIOS", SCENARIOS)))
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch, one_plane(Path(scratch)) as plane:
        found = [compared(plane, seed, Path(scratch, str(seed))) for seed in seeds]
    shares = {
        name: sum(getattr(one, name) for one in found) / len(found)
        for name in ("same_left", "same_evicted", "same_violations", "same_duration")
    }
    print("  ".join(f"{name} {share:.0%}" for name, share in shares.items()), flush=True)
    value = shares.pop("same_duration")
    ratio = value / TARGET
    print(f"bench rehearsal_fidelity value={value:.2f} ratio={ratio:.2f} target={TARGET:.2f}")
    return 0 if value >= TARGET and min(shares.values()) == 1.0 else 1


def compared(plane: Plane, seed: int, directory: Path) -> Comparison:
    directory.mkdir()
    space = Space(plane, directory)
    try:
        space.stand_by()
        found = compare(space, random_scenario(seed), directory)
    finally:
        space.close()
    took = f"{found.rehearsed.seconds:.1f} s rehearsed, {found.real.seconds:.1f} s real"
    evicted = sum(found.real.evicted.values())
    print(f"{seed}: {evicted} evicted, {took} {found.differences() or ''}", flush=True)
    return found


if __name__ == "__main__":
    sys.exit(main())
