# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""One version of the collection."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.version import VERSION

GALAXY = Path(__file__).resolve().parents[3] / "galaxy.yml"


def test_the_version_is_the_one_of_galaxy_yml() -> None:
    assert f"version: {VERSION}" in GALAXY.read_text(encoding="utf-8").splitlines()
