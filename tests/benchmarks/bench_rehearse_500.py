# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How many seconds it takes to rehearse the maintenance of 50 of 500 nodes with 10,000 pods.

In batches of five, from a snapshot's file, with one seed, as `ansible-playbook rehearse` in a
process: from its start until its end. EVENKEEL_NODES sets another size: so many nodes, a tenth of
which is emptied, with 20 pods each.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from tests.integration.playbooks import ENTER, REHEARSE, Playbooks

from .snapshots import write_fleet
from .worlds import seconds

NODES, PODS_PER_NODE, BATCH = 500, 20, 5
TARGET = 30.0


def main() -> int:
    nodes = int(os.environ.get("EVENKEEL_NODES", NODES))
    drained = [f"w-{number}" for number in range(1, nodes // 10 + 1)]
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
        path = Path(scratch, "fleet.json.gz")
        write_fleet(path, nodes, nodes * PODS_PER_NODE, start=5, stop=3)
        books = Playbooks(Path(scratch), Path(scratch, "none"))
        options = {"playbook": ENTER, "nodes": drained, "batch": BATCH}
        given = {**options, "snapshot": str(path), "seeds": [1]}
        ran = []
        value = seconds(
            lambda: ran.append(books.run(REHEARSE, given, as_json=True, limit=900).good())
        )
    prediction = ran[0].named("Rehearse")[-1].result["prediction"]
    left = {move["node"] for move in prediction["moved"]}
    assert left == set(drained), left
    minutes = prediction["duration"]["median"] / 60
    print(f"{len(prediction['moved'])} pods would move within {minutes:.1f} minutes")
    print(f"bench rehearse_500 value={value:.1f} ratio={value / TARGET:.2f} target={TARGET:.0f}")
    return 0 if value <= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
