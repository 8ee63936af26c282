# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Settings of every test run."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# The stages of `make test` share the cores: how long an example takes says nothing about the code.
settings.register_profile(
    "fleet", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("fleet")
