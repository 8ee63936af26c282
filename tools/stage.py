# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""`python -m tools.stage NAME`: run one stage of `make test`, here and now."""

from __future__ import annotations

import subprocess
import sys

from tools.bootstrap import NoPip
from tools.machine import Machine
from tools.stages import CATALOGUE
from tools.workspace import Workspace


def main(arguments: list[str]) -> int:
    stages = {stage.name: stage for stage in CATALOGUE}
    if len(arguments) != 1 or arguments[0] not in stages:
        print(f"usage: python -m tools.stage NAME, one of {', '.join(stages)}", file=sys.stderr)
        return 2
    try:
        stages[arguments[0]].run(Workspace(Machine()))
    except subprocess.CalledProcessError as error:
        print(f"ended with status {error.returncode}", file=sys.stderr)
        return 1
    except (NoPip, LookupError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
