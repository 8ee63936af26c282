# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a thread does with an error that nobody foresaw: it tells whoever waits for its work.

A thread that dies in silence leaves the run waiting for it until wait_timeout.
"""

from __future__ import annotations

import os
import traceback

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import FleetError


def as_fleet_error(error: Exception) -> FleetError:
    """Returns a FleetError as it is; any other is a fault of ours, told with the line it is from.

    So the run that is ended by it still reports what it did.
    """
    if isinstance(error, FleetError):
        return error
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({os.path.basename(frames[-1].filename)}:{frames[-1].lineno})" if frames else ""
    return FleetError(f"This is a fault of evenkeel.fleet: {error!r}{where}.")
