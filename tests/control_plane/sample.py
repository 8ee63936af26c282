# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Nodes and workloads for a plane that is used by hand: 10 nodes in 3 zones."""

from __future__ import annotations

from typing import Any

from . import objects
from .api import Api
from .objects import PodShape

SPACE = "sample"
NAMESPACE = "shop"
ZONES = ("z1", "z2", "z3")
NODES = 10


def create(api: Api) -> None:
    """Once per plane; does not wait for the pods."""
    for number in range(1, NODES + 1):
        zone = {"topology.kubernetes.io/zone": ZONES[number % len(ZONES)]}
        document = objects.node(
            f"worker-{number}",
            SPACE,
            labels=zone,
            cpu="8",
            memory="32Gi",
            pods=110,
            control_plane=False,
            kubelet_version="v1.37.2",
        )
        api.create("/api/v1/nodes", document)
    api.create("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
    _workloads(api)


def _workloads(api: Api) -> None:
    slow: dict[str, Any] = {"start_seconds": 2, "stop_seconds": 5, "cpu": "250m"}
    web = objects.deployment("web", SPACE, 12, None, PodShape(**slow))
    search = objects.deployment("search", SPACE, 3, None, PodShape(**slow, empty_dir=True))
    reports = objects.deployment("reports", SPACE, 1, None, PodShape(**slow))
    database = objects.stateful_set("database", SPACE, 3, False, PodShape(**slow))
    logs = objects.daemon_set("logs", SPACE, PodShape(cpu="50m"))
    for plural, document in (
        ("deployments", web),
        ("deployments", search),
        ("deployments", reports),
        ("statefulsets", database),
        ("daemonsets", logs),
    ):
        api.create(f"/apis/apps/v1/namespaces/{NAMESPACE}/{plural}", document)
    for budget in (
        objects.budget("web", _app("web"), None, "25%", None),
        objects.budget("search", _app("search"), 2, None, None),
        objects.budget("database", _app("database"), None, 1, "AlwaysAllow"),
    ):
        api.create(f"/apis/policy/v1/namespaces/{NAMESPACE}/poddisruptionbudgets", budget)


def _app(name: str) -> dict[str, Any]:
    return {"matchLabels": {"app": name}}
