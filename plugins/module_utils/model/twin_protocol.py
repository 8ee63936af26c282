# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a twin and the runs that follow its clock call the same; neither knows the other."""

from __future__ import annotations

# The extension of a kubeconfig's cluster by which a twin asks its clients to follow its clock.
VIRTUAL_TIME = "fleet.evenkeel.dev/virtual-time"
# Headers of a watch request: which run it is of, and which of its watches.
RUNNER_HEADER = "Evenkeel-Runner"
WATCH_HEADER = "Evenkeel-Watch"
# Where a twin answers about time, beside the API.
TIME_PATH = "/twin/v1/"
