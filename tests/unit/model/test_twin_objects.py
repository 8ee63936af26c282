# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""model/twin_objects: what of an object a twin keeps, and what nobody else is to see."""

from __future__ import annotations

import json

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.resources import (
    DEPLOYMENTS,
    NODES,
    PERSISTENT_VOLUMES,
    PODS,
    REPLICA_SETS,
    STORAGE_CLASSES,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.twin_objects import (
    reduced,
)

CONTAINER = {
    "name": "main",
    "image": "registry.example.com/secret-project:1",
    "command": ["run"],
    "env": [{"name": "PASSWORD", "value": "hunter2"}],
    "resources": {"requests": {"cpu": "1"}},
    "ports": [{"containerPort": 80}, {"containerPort": 81, "hostPort": 81}],
    "livenessProbe": {"httpGet": {"path": "/"}},
}
SPEC = {
    "nodeName": "n1",
    "containers": [CONTAINER],
    "tolerations": [{"operator": "Exists"}],
    "imagePullSecrets": [{"name": "hunter2"}],
    "volumes": [
        {"name": "tmp", "emptyDir": {}},
        {"name": "data", "persistentVolumeClaim": {"claimName": "db-0"}},
        {"name": "token", "secret": {"secretName": "hunter2"}},
        {"name": "disk", "cinder": {"volumeID": "hunter2"}},
    ],
}
META = {"name": "a", "namespace": "shop", "uid": "1", "managedFields": [{"manager": "x"}]}
KEPT_SPEC = {
    "nodeName": "n1",
    "containers": [
        {
            "name": "main",
            "resources": {"requests": {"cpu": "1"}},
            "ports": [{"containerPort": 81, "hostPort": 81}],
        }
    ],
    "tolerations": [{"operator": "Exists"}],
    "volumes": [*SPEC["volumes"][:2], {"name": "disk", "cinder": {}}],
}


def test_of_a_pod_what_decides_where_it_runs_and_how_it_is():
    status = {
        "phase": "Running",
        "podIP": "10.0.0.1",
        "containerStatuses": [{"name": "main", "ready": True, "imageID": "sha256:1"}],
    }
    raw = {"apiVersion": "v1", "kind": "Pod", "metadata": META, "spec": SPEC, "status": status}
    assert reduced(PODS, raw) == {
        "metadata": {"name": "a", "namespace": "shop", "uid": "1"},
        "spec": KEPT_SPEC,
        "status": {"phase": "Running", "containerStatuses": [{"name": "main", "ready": True}]},
    }


@pytest.mark.parametrize("resource", [DEPLOYMENTS, REPLICA_SETS])
def test_a_template_is_reduced_as_its_pods_are(resource):
    template = {"metadata": {"labels": {"app": "web"}, "creationTimestamp": None}, "spec": SPEC}
    found = reduced(resource, {"metadata": META, "spec": {"replicas": 2, "template": template}})
    kept = {"metadata": {"labels": {"app": "web"}}, "spec": KEPT_SPEC}
    assert found["spec"] == {"replicas": 2, "template": kept}


def test_long_annotations_are_copies_of_the_object_and_left_out():
    annotations = {"short": "x", "kubectl.kubernetes.io/last-applied-configuration": "x" * 2000}
    found = reduced(NODES, {"metadata": {"name": "n1", "annotations": annotations}})
    assert found["metadata"] == {"name": "n1", "annotations": {"short": "x"}}


def test_of_other_annotations_only_those_that_somebody_of_us_reads():
    annotations = {
        "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
        "fleet.evenkeel.dev/fragile": "true",
        "checksum/config": "hunter2",
        "contact": "hunter2",
    }
    found = reduced(PODS, {"metadata": {"name": "a", "annotations": annotations}})
    assert found["metadata"]["annotations"] == dict(list(annotations.items())[:2])


def test_the_time_of_a_heartbeat_makes_no_other_object():
    def beaten(when):
        status = {"type": "Ready", "status": "True", "lastHeartbeatTime": when}
        return {"metadata": {"name": "n1"}, "status": {"conditions": [status]}}

    assert reduced(NODES, beaten("1")) == reduced(NODES, beaten("2"))


SECRET = {"password": "hunter2"}
CSI = {"driver": "d", "volumeHandle": "v", "volumeAttributes": SECRET}


@pytest.mark.parametrize(
    ("resource", "raw"),
    [
        pytest.param(PODS, {"spec": SPEC}, id="pod"),
        pytest.param(DEPLOYMENTS, {"spec": {"template": {"spec": SPEC}}}, id="template"),
        pytest.param(PERSISTENT_VOLUMES, {"spec": {"csi": CSI}}, id="volume"),
        pytest.param(STORAGE_CLASSES, {"provisioner": "d", "parameters": SECRET}, id="class"),
        pytest.param(
            PODS,
            {"status": {"containerStatuses": [{"state": {"waiting": {"message": "hunter2"}}}]}},
            id="what-a-container-says",
        ),
        pytest.param(NODES, {"data": SECRET}, id="data-of-any-kind"),
    ],
)
def test_nothing_secret_is_kept(resource, raw):
    assert "hunter2" in json.dumps(raw)
    assert "hunter2" not in json.dumps(reduced(resource, {"metadata": META, **raw}))
