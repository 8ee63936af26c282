# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Opens the cluster that the connection options name, with the clock that it asks for."""

from __future__ import annotations

import os
import uuid
from dataclasses import dataclass
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
from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.kubernetes.twin_clock import (
    TwinClock,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.kubernetes.twin_link import (
    HttpLink,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.clock import (
    Clock,
    SystemClock,
)


@dataclass(frozen=True)
class Destination:
    """Where the options lead. clock: the machine's own, or of a twin in virtual time the twin's."""

    connection: Connection
    credentials: Credentials
    clock: Clock

    def cluster(self, interruption: Callable[[], str] = lambda: "") -> Cluster:
        """Returns a Cluster; nothing has been sent to it yet."""
        rest = Rest(
            self.credentials,
            self.clock,
            stopping=lambda: bool(interruption()),
            headers=_impersonation(self.connection),
        )
        return KubernetesCluster(self.credentials, rest)


def find(
    connection: Connection,
    *,
    clock: Optional[Clock] = None,
    environment: Optional[Mapping[str, str]] = None,
) -> Destination:
    """Reads the credentials; nothing is sent, but for a twin's clock.

    Raises FleetError (client library missing), InvalidOption (no such kubeconfig or context),
    Unauthorized (exec plugin failed), Refused (another cluster than `connection.cluster`).
    """
    full = with_environment(connection, os.environ if environment is None else environment)
    # Tokens expire in real time, whatever the run's clock says.
    credentials = Credentials(full, clock or SystemClock())
    return Destination(full, credentials, clock or _clock_of(credentials))


def _clock_of(credentials: Credentials) -> Clock:
    access = credentials.current()
    if not access.virtual_time:
        return SystemClock()
    runner = uuid.uuid4().hex
    return TwinClock(runner, HttpLink(access, runner))


def _impersonation(connection: Connection) -> tuple[tuple[str, str], ...]:
    user = (("Impersonate-User", connection.impersonate_user),)
    groups = tuple(("Impersonate-Group", group) for group in connection.impersonate_groups)
    return (user if connection.impersonate_user else ()) + groups
