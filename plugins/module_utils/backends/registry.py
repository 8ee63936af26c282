# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Opens the cluster that the connection options name."""

from __future__ import annotations

import os
from typing import Callable, Mapping, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.base import Cluster
from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.kubernetes.auth import (
    Credentials,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.kubernetes.cluster import (
    KubernetesCluster,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.kubernetes.connection import (
    Connection,
    with_environment,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.kubernetes.rest import Rest
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.clock import (
    Clock,
    SystemClock,
)


def open_cluster(
    connection: Connection,
    *,
    clock: Optional[Clock] = None,
    interruption: Callable[[], str] = lambda: "",
    environment: Optional[Mapping[str, str]] = None,
) -> Cluster:
    """Returns a Cluster; nothing has been sent to it yet.

    Raises FleetError (client library missing), InvalidOption (no such kubeconfig or context),
    Unauthorized (exec plugin failed), Refused (another cluster than `connection.cluster`).
    """
    clock = clock or SystemClock()
    full = with_environment(connection, os.environ if environment is None else environment)
    credentials = Credentials(full, clock)
    rest = Rest(
        credentials,
        clock,
        stopping=lambda: bool(interruption()),
        headers=_impersonation(full),
    )
    return KubernetesCluster(credentials, rest)


def _impersonation(connection: Connection) -> tuple[tuple[str, str], ...]:
    user = (("Impersonate-User", connection.impersonate_user),)
    groups = tuple(("Impersonate-Group", group) for group in connection.impersonate_groups)
    return (user if connection.impersonate_user else ()) + groups
