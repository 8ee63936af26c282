# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A program: one job of ansible-runner, in a process of its own, as it forks and the tests have
threads.

    job.py PRIVATE_DIRECTORY CANCEL_FILE PROGRAM [ARGUMENT...]

The job is cancelled once CANCEL_FILE exists. Ends with the job's exit status.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import ansible_runner


def main() -> int:
    private, cancel, program, *arguments = sys.argv[1:]
    _output, _errors, status = ansible_runner.run_command(
        program,
        cmdline_args=arguments,
        private_data_dir=private,
        host_cwd=os.getcwd(),
        # Seconds between two questions whether the job was cancelled.
        settings={"pexpect_timeout": 1, "pexpect_use_poll": True},
        cancel_callback=Path(cancel).exists,
    )
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
