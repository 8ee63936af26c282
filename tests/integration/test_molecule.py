# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The molecule scenarios, on a node of the control plane."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.control_plane.space import Space

from .playing import Stage

EXTENSIONS = Path(__file__).parents[2] / "extensions"
PROGRAMS = Path(sys.executable).parent


@pytest.mark.skipif(not (PROGRAMS / "molecule").exists(), reason="molecule is not installed here")
@pytest.mark.parametrize("scenario", ["maintenance"])
def test_scenario(space: Space, tmp_path: Path, scenario: str) -> None:
    first, _second = space.nodes(2)
    space.deployment("web", 2, node=first)
    space.budget("web", max_unavailable=1)
    space.wait_running()
    environment = Stage(tmp_path, space.kubeconfig()).environment(
        {
            "EVENKEEL_NODE": first,
            "MOLECULE_EPHEMERAL_DIRECTORY": str(tmp_path / "molecule"),
            "PATH": os.pathsep.join([str(PROGRAMS), os.environ["PATH"]]),
        }
    )
    ran = subprocess.run(
        [str(PROGRAMS / "molecule"), "test", "-s", scenario],
        cwd=EXTENSIONS,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout
    assert space.node(first)["spec"].get("unschedulable") is None
