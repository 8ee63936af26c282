# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Makes `changed` true by construction when a call ends in an exception: no report came then."""

from __future__ import annotations

from typing import Any

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.base import Answer, Cluster
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.resources import (
    EVENTS,
    LEASES,
    Resource,
)

# Traces of the run itself, which change nothing for anybody else.
_TRACES = (EVENTS, LEASES)


class RecordingCluster:
    """A Cluster that notes whether any write was answered with success."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.written = False

    def __getattr__(self, name: str) -> Any:
        # Reads, watches and close() pass as they are.
        return getattr(self._cluster, name)

    def create(self, resource: Resource[Any], *args: Any, **kwargs: Any) -> Any:
        return self._note(resource, self._cluster.create(resource, *args, **kwargs))

    def replace(self, resource: Resource[Any], *args: Any, **kwargs: Any) -> Any:
        return self._note(resource, self._cluster.replace(resource, *args, **kwargs))

    def patch(self, resource: Resource[Any], *args: Any, **kwargs: Any) -> Any:
        return self._note(resource, self._cluster.patch(resource, *args, **kwargs))

    def delete(self, resource: Resource[Any], *args: Any, **kwargs: Any) -> None:
        self._cluster.delete(resource, *args, **kwargs)
        self._note(resource, None)

    def evict(self, *args: Any, **kwargs: Any) -> Answer:
        answer = self._cluster.evict(*args, **kwargs)
        self.written = self.written or answer.status < 300
        return answer

    def _note(self, resource: Resource[Any], answer: Any) -> Any:
        self.written = self.written or resource not in _TRACES
        return answer
