# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Where the components' programs are; builds what is missing."""

from __future__ import annotations

import os
from pathlib import Path

from .components import ORDER


class BuildError(Exception):
    """A program is missing and cannot be built; the message names the command that would help."""


def programs() -> dict[str, Path]:
    """Component name to program."""
    assets = Path(os.environ["KUBEBUILDER_ASSETS"])
    return {name: assets / name for name in ORDER}
