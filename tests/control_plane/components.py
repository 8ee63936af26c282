# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The command line of each component, and the order in which they start. Pure: no I/O."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ORDER = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok")


@dataclass(frozen=True)
class Ports:
    """Loopback ports of one plane."""

    etcd: int
    etcd_peer: int
    api: int


@dataclass(frozen=True)
class Layout:
    """Where one plane keeps its files; everything lies under its state directory."""

    state: Path

    @property
    def description(self) -> Path:
        """What a client must know, as JSON; written once the plane serves."""
        return self.state / "plane.json"

    @property
    def processes(self) -> Path:
        """Process ids by component name, as JSON; written while the plane starts."""
        return self.state / "processes.json"

    @property
    def kubeconfig(self) -> Path:
        return self.state / "kubeconfig"

    @property
    def tokens(self) -> Path:
        return self.state / "tokens.csv"

    @property
    def signing_key(self) -> Path:
        """Signs ServiceAccount tokens: the API server's, and those that tests make themselves."""
        return self.state / "service-accounts.key"

    @property
    def certificate(self) -> Path:
        """The API server's own; it is its own authority."""
        return self.state / "certificates" / "apiserver.crt"

    @property
    def audit_policy(self) -> Path:
        return self.state / "audit-policy.json"

    @property
    def audit_log(self) -> Path:
        return self.state / "audit.log"

    def component_kubeconfig(self, name: str) -> Path:
        return self.state / f"{name}.kubeconfig"

    def log(self, name: str) -> Path:
        return self.state / "logs" / f"{name}.log"


SERVICE_ACCOUNT_ISSUER = "https://kubernetes.default.svc"

# Nodes are alive as long as KWOK renews their Lease, every 10 s: shorter periods would make nodes
# of a busy machine go NotReady by themselves.
LEASE_SECONDS = 40


def command(name: str, program: Path, layout: Layout, ports: Ports, stages: Path) -> list[str]:
    """The arguments that start component `name` from `program`."""
    arguments = {
        "etcd": _etcd,
        "kube-apiserver": _apiserver,
        "kube-controller-manager": _controller_manager,
        "kube-scheduler": _scheduler,
        "kwok": _kwok,
    }[name](layout, ports, stages)
    return [str(program), *arguments]


def _etcd(layout: Layout, ports: Ports, stages: Path) -> list[str]:
    client = f"http://127.0.0.1:{ports.etcd}"
    return [
        f"--data-dir={layout.state / 'etcd'}",
        "--unsafe-no-fsync",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls=http://127.0.0.1:{ports.etcd_peer}",
        "--log-level=error",
    ]


def _apiserver(layout: Layout, ports: Ports, stages: Path) -> list[str]:
    return [
        f"--etcd-servers=http://127.0.0.1:{ports.etcd}",
        "--bind-address=127.0.0.1",
        f"--secure-port={ports.api}",
        f"--cert-dir={layout.certificate.parent}",
        f"--token-auth-file={layout.tokens}",
        f"--service-account-key-file={layout.signing_key}",
        f"--service-account-signing-key-file={layout.signing_key}",
        f"--service-account-issuer={SERVICE_ACCOUNT_ISSUER}",
        "--authorization-mode=RBAC",
        "--service-cluster-ip-range=10.96.0.0/16",
        # Pods of tests need no token of their own.
        "--disable-admission-plugins=ServiceAccount",
        "--allow-privileged",
        "--endpoint-reconciler-type=none",
        "--max-requests-inflight=2000",
        "--max-mutating-requests-inflight=1000",
        f"--audit-policy-file={layout.audit_policy}",
        f"--audit-log-path={layout.audit_log}",
        # One file: helpers read it from the place where their test began.
        "--audit-log-maxsize=0",
    ]


def _controller_manager(layout: Layout, ports: Ports, stages: Path) -> list[str]:
    return [
        f"--kubeconfig={layout.component_kubeconfig('kube-controller-manager')}",
        f"--service-account-private-key-file={layout.signing_key}",
        "--use-service-account-credentials=false",
        "--leader-elect=false",
        "--secure-port=0",
        "--kube-api-qps=1000",
        "--kube-api-burst=2000",
        # How soon a node that stopped is tainted; the Lease's grace period stays as it is.
        "--node-monitor-period=1s",
        "--horizontal-pod-autoscaler-sync-period=2s",
    ]


def _scheduler(layout: Layout, ports: Ports, stages: Path) -> list[str]:
    return [
        f"--kubeconfig={layout.component_kubeconfig('kube-scheduler')}",
        "--leader-elect=false",
        "--secure-port=0",
        "--kube-api-qps=1000",
        "--kube-api-burst=2000",
    ]


def _kwok(layout: Layout, ports: Ports, stages: Path) -> list[str]:
    return [
        f"--kubeconfig={layout.component_kubeconfig('kwok')}",
        "--manage-nodes-with-label-selector=kubelet!=stopped",
        f"--node-lease-duration-seconds={LEASE_SECONDS}",
        *(f"--config={path}" for path in sorted(stages.glob("*.yaml"))),
    ]
