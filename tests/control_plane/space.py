# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What one test has of a shared plane: its own nodes, namespaces and users."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .api import ApiError
from .audit import Audit, Request
from .plane import Plane
from .space_base import NODES, is_ready
from .space_nodes import SpaceNodes
from .space_workloads import SpaceWorkloads
from .users import Users
from .webhooks import Decide, Webhook, configuration

__all__ = ["Space", "is_ready"]

LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"


class Space(SpaceNodes, SpaceWorkloads):
    """See README.md for what it offers."""

    def __init__(self, plane: Plane, scratch: Path) -> None:
        """`scratch` is a directory for kubeconfigs and the like."""
        super().__init__(plane, scratch)
        self.audit = Audit(plane)
        self._users = Users(plane, self.id, self.namespace, scratch)
        self._webhooks: list[Webhook] = []

    @property
    def node_names(self) -> list[str]:
        """Of all nodes that were made here, in order."""
        return list(self._nodes)

    def webhook(
        self,
        decide: Decide,
        *,
        resources: Sequence[str] = ("pods/eviction",),
        failure_policy: str = "Fail",
    ) -> Webhook:
        """A validating webhook of the space's namespaces, in force when this returns."""
        webhook = Webhook(decide, self._scratch)
        self._webhooks.append(webhook)
        name = f"{self.id}-{len(self._webhooks)}"
        document = configuration(name, self._namespaces, list(resources), webhook, failure_policy)
        path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
        self.add(path, document)
        probe = {"metadata": {"name": "probe"}}
        maps = self.path("v1", "configmaps")
        self.wait(
            lambda: webhook.was_probed or not self.api.create(f"{maps}?dryRun=All", probe),
            "the webhook is in force",
        )
        return webhook

    def kubeconfig(
        self,
        user: str = "runner",
        *,
        roles: Path | None = None,
        token_seconds: int | None = None,
        server: str | None = None,
    ) -> Path:
        """A kubeconfig for a user of this test only; `user` is the test's name for it.

        May do everything, or, with `roles` (a manifest with ClusterRoles and Roles), only what
        they say. `token_seconds`: its token comes from an exec plugin, lives so long, and its
        user is a ServiceAccount. `server` replaces the API server's URL, for a proxy.
        """
        return self._users.kubeconfig(user, roles, token_seconds, server)

    def token(self, user: str = "runner") -> str:
        """The token of a user that `kubeconfig` has made, for `api_key`."""
        return self._users.token(user)

    def token_requests(self, user: str) -> int:
        """How often the exec plugin of a user with `token_seconds` was run."""
        return self._users.token_requests(user)

    def requests(
        self, user: str = "runner", since: int | None = None, agent: str = ""
    ) -> list[Request]:
        """What the user of `kubeconfig(user)` asked for; see Audit.requests."""
        return self.audit.requests(self._users.name(user), since, agent)

    def writes(
        self, user: str = "runner", since: int | None = None, agent: str = ""
    ) -> list[Request]:
        """What it asked to change; see Audit.writes."""
        return self.audit.writes(self._users.name(user), since, agent)

    def close(self) -> None:
        """Takes everything away without waiting for it: the next test has names of its own."""
        for webhook in self._webhooks:
            webhook.close()
        for path in [*self._users.created, *self._added]:
            self.api.delete(path)
        for namespace in self._namespaces:
            self.api.delete(f"/api/v1/namespaces/{namespace}")
            self._force_pods_away(namespace)
        for name in self._nodes:
            self.api.delete(f"{NODES}/{name}")
            self.api.delete(f"{LEASES}/fleet-node-{name}")
        self.api.close()

    def _force_pods_away(self, namespace: str) -> None:
        path = self.path("v1", "pods", namespace=namespace)
        self.api.delete(path, {"gracePeriodSeconds": 0})
        for pod in self.api.list(path):
            if pod["metadata"].get("finalizers"):
                try:
                    self.api.patch(
                        f"{path}/{pod['metadata']['name']}", {"metadata": {"finalizers": None}}
                    )
                except ApiError as error:
                    if error.status != 404:
                        raise
