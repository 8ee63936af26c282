# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The objects of a cluster that runs, put into a twin as they are."""

from __future__ import annotations

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.base import Cluster
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.spec import Made


def live(cluster: Cluster) -> tuple[Made, ...]:
    """Returns what snapshot.read() would of a snapshot of this cluster. Reads only.

    Collections that this user may not read, or that the cluster does not have, are left out, but
    for nodes and pods. Raises Forbidden for those, Unreachable and the other FleetErrors.
    """
    raise NotImplementedError
