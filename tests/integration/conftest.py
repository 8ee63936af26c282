# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Integration tests run against a real control plane; see tests/control_plane/README.md."""

from __future__ import annotations

from tests.control_plane.fixtures import own_plane, plane, space

__all__ = ["own_plane", "plane", "space"]
