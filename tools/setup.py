# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""`make setup`: a .venv in which `ansible-playbook evenkeel.fleet.PLAYBOOK` finds this checkout."""

from __future__ import annotations

import subprocess
import sys

from tools import environments, tree
from tools.bootstrap import NoPip
from tools.interpreters import find_interpreters

NO_PYTHON = (
    "No usable Python 3.11 to 3.14 was found on PATH or under pyenv's or uv's versions. "
    "Install one, or name it: EVENKEEL_PYTHON=/path/to/python3.13 make setup"
)


def main() -> int:
    try:
        environments.prepare(environments.DEV, find_interpreters(), say)
    except LookupError:
        return _fail(NO_PYTHON)
    except NoPip as error:
        return _fail(str(error))
    except subprocess.CalledProcessError as error:
        return _fail(f"setup stopped: {' '.join(error.cmd)} ended with status {error.returncode}")
    warn_of_installed_copies()
    return 0


def warn_of_installed_copies() -> None:
    """An installed collection is found before the checkout: whoever tries a change must know."""
    for path in tree.installed_copies():
        say("=" * 78)
        say(f"{path} is installed and HIDES this checkout: Ansible will run that copy.")
        say(f"To run the checkout: export ANSIBLE_COLLECTIONS_PATH={tree.link_tree()}")
        say("=" * 78)


def say(text: str) -> None:
    print(f"setup: {text}", file=sys.stderr, flush=True)


def _fail(text: str) -> int:
    print(f"setup: {text}", file=sys.stderr, flush=True)
    return 1


if __name__ == "__main__":
    sys.exit(main())
