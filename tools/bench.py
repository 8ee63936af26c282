# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""`make bench`: run tests/benchmarks/bench_NAME.py, all or one, and repeat their result lines."""

from __future__ import annotations

import subprocess
import sys

from tools import tree

PREFIX = "bench_"
BENCHMARKS = tree.CHECKOUT / "tests" / "benchmarks"


def main(arguments: list[str]) -> int:
    known = sorted(path.stem[len(PREFIX) :] for path in BENCHMARKS.glob(f"{PREFIX}*.py"))
    chosen = arguments or known
    unknown = sorted(set(chosen) - set(known))
    if unknown:
        print(f"no benchmark {', '.join(unknown)}; there are: {', '.join(known)}", file=sys.stderr)
        return 2
    results = {name: _run(name) for name in chosen}
    print()
    for name, line in results.items():
        print(line or f"bench {name} FAILED")
    return 0 if all(results.values()) else 1


def _run(name: str) -> str:
    """Run one, showing what it prints; returns its result line, or "" when it failed."""
    print(f"===== {name} =====", flush=True)
    process = subprocess.Popen(
        [sys.executable, "-m", f"tests.benchmarks.{PREFIX}{name}"],
        cwd=tree.CHECKOUT,
        stdout=subprocess.PIPE,
        text=True,
    )
    result = ""
    assert process.stdout is not None
    for line in process.stdout:
        print(line, end="", flush=True)
        if line.startswith(f"bench {name} "):
            result = line.rstrip()
    return result if process.wait() == 0 else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
