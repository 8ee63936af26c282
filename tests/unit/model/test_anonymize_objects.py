# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Objects of an anonymised snapshot name nobody, and still belong together."""

from __future__ import annotations

import json

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.anonymize import (
    Names,
    anonymized,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.anonymize_objects import (
    anonymized_objects,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.fleet import Fleet
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.limited_objects import (
    limited_objects,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.pod import parse_pod
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.twin_objects import COLLECTIONS
from tests.unit.builders import node

SECRETS = ("acme", "payroll", "salary")
OWNER = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "payroll", "controller": True}
ZONES = {"key": "acme.com/rack", "operator": "In", "values": ["salary"]}
TERMS = {"nodeSelectorTerms": [{"matchExpressions": [ZONES]}]}
POD = {
    "metadata": {
        "name": "payroll-0",
        "namespace": "acme",
        "uid": "u1",
        "labels": {"acme.com/app": "payroll", "pod-template-hash": "5d8f"},
        "annotations": {
            "deployment.kubernetes.io/revision": "3",
            "volume.kubernetes.io/selected-node": "acme-1",
            "fleet.evenkeel.dev/note": "ask salary",
        },
        "ownerReferences": [{**OWNER, "uid": "u0"}],
        "creationTimestamp": "2026-11-30T22:00:00Z",
    },
    "spec": {
        "nodeName": "acme-1",
        "nodeSelector": {"acme.com/rack": "salary"},
        "tolerations": [{"key": "acme.com/only", "operator": "Equal", "value": "payroll"}],
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": TERMS}},
        "containers": [
            {"name": "payroll", "resources": {"requests": {"cpu": "1", "acme.com/fpga": "2"}}}
        ],
        "volumes": [
            {"name": "data", "persistentVolumeClaim": {"claimName": "salary-payroll-0"}},
        ],
    },
    "status": {
        "phase": "Running",
        "conditions": [{"type": "Ready", "status": "True", "message": "salary"}],
    },
}
CLAIM = {
    "metadata": {"name": "salary-payroll-0", "namespace": "acme", "uid": "u2"},
    "spec": {"storageClassName": "acme-disk", "resources": {"requests": {"storage": "1Gi"}}},
}
CLASS = {
    "metadata": {"name": "acme-disk", "uid": "u3"},
    "provisioner": "kubernetes.io/no-provisioner",
    "volumeBindingMode": "WaitForFirstConsumer",
}
OBJECTS = {
    "pods": [POD],
    "persistentvolumeclaims": [CLAIM],
    "storageclasses.storage.k8s.io": [CLASS],
}
FLEET = Fleet(nodes=(node("acme-1"),), pods=(parse_pod(POD),))


@pytest.fixture
def found():
    names = Names()
    anonymized(FLEET, names)
    return anonymized_objects(OBJECTS, names)


def test_no_name_is_left(found):
    text = json.dumps(found)
    assert [secret for secret in SECRETS if secret in json.dumps(OBJECTS)] == list(SECRETS)
    assert [secret for secret in SECRETS if secret in text] == []


def test_what_belongs_together_still_does(found):
    (pod,), (claim,), (one_class,) = found.values()
    owner = pod["metadata"]["ownerReferences"][0]
    assert pod["metadata"]["name"] == f"{owner['name']}-0"
    volume = pod["spec"]["volumes"][0]["persistentVolumeClaim"]["claimName"]
    assert volume == claim["metadata"]["name"]
    assert volume.endswith(f"-{pod['metadata']['name']}")
    assert claim["spec"]["storageClassName"] == one_class["metadata"]["name"]
    assert pod["spec"]["nodeName"] == "node-1"
    ((key, value),) = pod["spec"]["nodeSelector"].items()
    affinity = pod["spec"]["affinity"]["nodeAffinity"]
    (term,) = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert term["matchExpressions"] == [{"key": key, "operator": "In", "values": [value]}]


def test_words_of_kubernetes_amounts_and_times_are_kept(found):
    (pod,), (claim,), (one_class,) = found.values()
    assert pod["status"] == {
        "phase": "Running",
        "conditions": [{"type": "Ready", "status": "True"}],
    }
    requests = pod["spec"]["containers"][0]["resources"]["requests"]
    assert requests["cpu"] == "1"
    assert "2" in requests.values()
    assert "pod-template-hash" in pod["metadata"]["labels"]
    assert pod["metadata"]["creationTimestamp"] == "2026-11-30T22:00:00Z"
    assert claim["spec"]["resources"] == {"requests": {"storage": "1Gi"}}
    assert one_class["provisioner"] == "kubernetes.io/no-provisioner"
    assert one_class["volumeBindingMode"] == "WaitForFirstConsumer"


def test_of_annotations_numbers_are_kept_and_names_and_texts_renamed(found):
    annotations = found["pods"][0]["metadata"]["annotations"]
    assert annotations.pop("fleet.evenkeel.dev/note").startswith("value-")
    assert annotations == {
        "deployment.kubernetes.io/revision": "3",
        "volume.kubernetes.io/selected-node": "node-1",
    }


def test_objects_of_a_part_are_its_own_and_what_it_uses():
    other = {"metadata": {"name": "x", "namespace": "acme", "uid": "u9"}, "spec": {}}
    given = {
        **{resource.key: [other] for resource in COLLECTIONS},
        "pods": [POD, other],
        "persistentvolumeclaims": [CLAIM, other],
    }
    part = limited_objects(given, FLEET)
    kept = {key: [raw["metadata"]["name"] for raw in raws] for key, raws in part.items() if raws}
    assert kept == {
        "pods": ["payroll-0"],
        "persistentvolumeclaims": ["salary-payroll-0"],
        "storageclasses.storage.k8s.io": ["x"],
        "csidrivers.storage.k8s.io": ["x"],
    }
