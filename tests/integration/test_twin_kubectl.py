# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""kubectl works with a twin as it is."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.credentials import write_private
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.twin import Settings, Twin
from tests.control_plane.tools import kubectl

OWNER = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "u"}


@pytest.fixture
def config(tmp_path: Path) -> Iterator[Path]:
    """Of a twin with a Ready node, two pods on it and their ReplicaSet."""
    twin = Twin(Settings(time.time()))
    twin.start()
    ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    create(twin, "nodes", "", {"metadata": {"name": "n1"}, "status": ready})
    spec = {"nodeName": "n1", "terminationGracePeriodSeconds": 0, "containers": []}
    for name in ("web-1", "web-2"):
        metadata = {"name": name, "ownerReferences": [{**OWNER, "controller": True}]}
        create(twin, "pods", "default", {"metadata": metadata, "spec": spec})
    sets = {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": []}}
    body = {"metadata": {"name": "web"}, "spec": {**sets, "template": template}}
    create(twin, "replicasets.apps", "default", body)
    path = tmp_path / "kubeconfig"
    write_private(str(path), twin.kubeconfig())
    yield path
    twin.stop()


def create(twin: Twin, resource: str, namespace: str, body: dict[str, object]) -> None:
    twin.api.lifecycle.create(twin.api.kinds.named(resource), body, namespace)


def run(config: Path, *words: str) -> str:
    command = [str(kubectl()), "--kubeconfig", str(config), *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_kubectl_gets_waits_scales_and_deletes(config: Path) -> None:
    assert run(config, "get", "nodes", "--no-headers").split()[:2] == ["n1", "Ready"]
    assert run(config, "wait", "--for=condition=Ready", "node/n1", "--timeout=20s") == (
        "node/n1 condition met"
    )
    assert run(config, "scale", "rs/web", "--replicas=5") == "replicaset.apps/web scaled"
    assert run(config, "get", "rs", "--no-headers").split()[:2] == ["web", "5"]
    assert run(config, "delete", "rs", "web").startswith('replicaset.apps "web" deleted')
    assert run(config, "get", "rs", "-o", "name") == ""


def test_kubectl_cordons_and_drains(config: Path) -> None:
    assert run(config, "cordon", "n1") == "node/n1 cordoned"
    path = "jsonpath={.spec.unschedulable}"
    assert run(config, "get", "node", "n1", "-o", path) == "true"
    assert run(config, "uncordon", "n1") == "node/n1 uncordoned"
    said = run(config, "drain", "n1", "--timeout=30s").splitlines()
    assert sorted(said) == [
        "evicting pod default/web-1",
        "evicting pod default/web-2",
        "node/n1 cordoned",
        "node/n1 drained",
        "pod/web-1 evicted",
        "pod/web-2 evicted",
    ]
    assert run(config, "get", "pods", "-o", "name") == ""
