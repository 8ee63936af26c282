# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A snapshot file, as fleet_info writes it with `dest`, read for a twin."""

from __future__ import annotations

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.spec import Made


def read(path: str) -> tuple[Made, ...]:
    """Returns the objects of the file, with names, UIDs and status; in an order in which they can
    be put into a twin.

    Raises InvalidOption (snapshot), one sentence and a remedy: no such file, no JSON or cut off,
    another version, an unknown kind, a pod on a node that is not in it.
    """
    raise NotImplementedError
