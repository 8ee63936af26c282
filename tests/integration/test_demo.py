# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""`make demo` shows what it says: a refusal with its remedy, a budget that is waited for, the way
back."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_demo_tells_its_story_and_leaves_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.demo.run"],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told = [
        "Budget shop/ledger can never allow an eviction",
        "Refused, nothing was changed: 1 pod may not be evicted.",
        "waits for PDB shop/web",
        "all pods gone",
        "in maintenance",
        "worker-2 is exactly as it was",
    ]
    places = [done.stdout.find(words) for words in told]
    assert -1 not in places
    assert places == sorted(places)
    assert list(tmp_path.glob("evenkeel-demo-*")) == []
