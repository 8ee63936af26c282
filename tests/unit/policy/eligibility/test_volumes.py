# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""policy/eligibility/binding and disks: places of volumes, attach limits, their one user - C33."""

from __future__ import annotations

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.volumes import (
    parse_scheduling_storage,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility import verdict as v
from tests.unit.policy.eligibility.worlds import (
    HOSTNAME,
    ZONE,
    cluster,
    fitting,
    node,
    pod,
    verdict,
)

OLD_ZONE = "failure-domain.beta.kubernetes.io/zone"
DRIVER = "disk.example.com"
NODES = (node("n1", "z1"), node("n2", "z2"), node("n3", "z3"), node("n4"))
EVERYWHERE = ["n1", "n2", "n3", "n4"]


def claim(name="c", volume="", modes=("ReadWriteOnce",), kind="disk", size="1Gi", **annotations):
    bound = {"pv.kubernetes.io/bind-completed": "yes"} if volume else {}
    return {
        "metadata": {"name": name, "namespace": "default", "annotations": {**bound, **annotations}},
        "spec": {
            "volumeName": volume,
            "accessModes": list(modes),
            "storageClassName": kind,
            "resources": {"requests": {"storage": size}},
        },
    }


def volume(name="pv", key="", values=(), labels=None, claimed="", kind="disk", size="1Gi", **spec):
    source = spec or {"csi": {"driver": DRIVER, "volumeHandle": f"handle-{name}"}}
    found = {
        "metadata": {"name": name, "labels": labels or {}},
        "spec": {
            **source,
            "storageClassName": kind,
            "capacity": {"storage": size},
            "accessModes": ["ReadWriteOnce"],
        },
        "status": {"phase": "Available"},
    }
    if key:
        expression = {"key": key, "operator": "In", "values": list(values)}
        terms = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
        found["spec"]["nodeAffinity"] = {"required": terms}
    if claimed:
        found["spec"]["claimRef"] = {"namespace": "default", "name": claimed}
    return found


def storage_class(name="disk", provisioner=DRIVER, mode="WaitForFirstConsumer", zones=()):
    terms = [{"matchLabelExpressions": [{"key": ZONE, "values": list(zones)}]}] if zones else []
    return {
        "metadata": {"name": name},
        "provisioner": provisioner,
        "volumeBindingMode": mode,
        "allowedTopologies": terms,
    }


def using(*claims):
    volumes = [{"name": c, "persistentVolumeClaim": {"claimName": c}} for c in claims]
    return pod({"volumes": volumes})


BOUND = [
    pytest.param(volume(), EVERYWHERE, id="anywhere"),
    pytest.param(volume(key=ZONE, values=["z1"]), ["n1"], id="C33-zone-of-its-affinity"),
    pytest.param(
        volume(key=HOSTNAME, values=["n1"], local={"path": "/d"}), ["n1"], id="C33-local-volume"
    ),
    pytest.param(volume(labels={ZONE: "z1"}), ["n1", "n4"], id="zone-label"),
    pytest.param(volume(labels={ZONE: "z1__z2"}), ["n1", "n2", "n4"], id="label-of-two-zones"),
    pytest.param(volume(labels={OLD_ZONE: "z3"}), ["n3", "n4"], id="older-label"),
]


@pytest.mark.parametrize(("disk", "expected"), BOUND)
def test_a_pod_goes_where_its_volume_is(disk, expected):
    storage = parse_scheduling_storage([claim(volume="pv")], [disk])

    assert fitting(cluster(NODES, storage=storage), using("c")) == expected


def test_c33_the_detail_names_the_volume_and_its_place():
    storage = parse_scheduling_storage([claim(volume="pv")], [volume(key=ZONE, values=["z1"])])

    (failing,) = verdict(cluster(NODES, storage=storage), using("c"), "n2").failing

    assert (failing.rule, failing.detail) == (
        v.VOLUMES,
        f"volume pv of its claim default/c is on {ZONE} In (z1)",
    )


NOWHERE = [
    pytest.param([], [], [], id="no-such-claim"),
    pytest.param([claim(volume="pv")], [], [], id="no-such-volume"),
    pytest.param([claim()], [], [], id="no-such-class"),
    pytest.param([claim(kind="")], [], [], id="no-class"),
    pytest.param([claim()], [], [storage_class(mode="Immediate")], id="not-bound-yet"),
    pytest.param(
        [claim()], [], [storage_class(provisioner="kubernetes.io/no-provisioner")], id="none-free"
    ),
    pytest.param([{**claim(volume="pv"), "status": {"phase": "Lost"}}], [volume()], [], id="lost"),
]


@pytest.mark.parametrize(("claims", "volumes", "classes"), NOWHERE)
def test_a_claim_that_is_not_ready_keeps_its_pod_off_every_node(claims, volumes, classes):
    state = cluster(NODES, storage=parse_scheduling_storage(claims, volumes, classes))

    assert fitting(state, using("c")) == []
    assert verdict(state, using("c"), "n1").rules == (v.VOLUMES,)


LOCAL = storage_class("local", "kubernetes.io/no-provisioner")


def local(name, *names, size="1Gi", claimed=""):
    return volume(
        name, HOSTNAME, names, kind="local", size=size, claimed=claimed, local={"path": "/"}
    )


UNBOUND = [
    pytest.param([claim()], [], [storage_class()], EVERYWHERE, id="provisioned-anywhere"),
    pytest.param([claim()], [], [storage_class(zones=["z1", "z2"])], ["n1", "n2"], id="topologies"),
    pytest.param(
        [claim(**{"volume.kubernetes.io/selected-node": "n3"})],
        [],
        [storage_class()],
        ["n3"],
        id="being-provisioned-for-a-node",
    ),
    pytest.param(
        [claim(kind="local")],
        [local("a", "n1"), local("b", "n2")],
        [LOCAL],
        ["n1", "n2"],
        id="free",
    ),
    pytest.param(
        [claim(kind="local", size="2Gi")], [local("a", "n1")], [LOCAL], [], id="too-small"
    ),
    pytest.param(
        [claim(kind="local")], [local("a", "n1", claimed="other")], [LOCAL], [], id="of-another"
    ),
    pytest.param(
        [claim(kind="local")],
        [local("a", "n1", claimed="c"), local("b", "n2")],
        [LOCAL],
        ["n1"],
        id="reserved-for-it",
    ),
]


@pytest.mark.parametrize(("claims", "volumes", "classes", "expected"), UNBOUND)
def test_a_claim_that_waits_for_its_pod_goes_where_a_volume_can_be(
    claims, volumes, classes, expected
):
    state = cluster(NODES, storage=parse_scheduling_storage(claims, volumes, classes))

    assert fitting(state, using("c")) == expected


def test_two_claims_do_not_take_the_same_volume():
    claims = [claim("c", kind="local"), claim("d", kind="local", size="2Gi")]
    volumes = [local("a", "n1", "n2"), local("b", "n2", size="2Gi")]
    state = cluster(NODES, storage=parse_scheduling_storage(claims, volumes, [LOCAL]))

    assert fitting(state, using("c", "d")) == ["n2"]


def limited(count, *names):
    driver = {"name": DRIVER, "allocatable": {"count": count}}
    return [{"metadata": {"name": name}, "spec": {"drivers": [driver]}} for name in names]


def test_a_node_attaches_no_more_volumes_than_its_limit():
    names = ("a", "b", "c")
    storage = parse_scheduling_storage(
        [claim(name, volume=f"pv-{name}") for name in names],
        [volume(f"pv-{name}") for name in names],
        csi_nodes=limited(2, "n1", "n2"),
    )
    state = cluster(NODES, [("n1", using("a", "b"))], storage)

    assert fitting(state, using("c")) == ["n2", "n3", "n4"]
    assert fitting(state, using("a")) == EVERYWHERE  # it is there already
    assert verdict(state, using("c"), "n1").rules == (v.ATTACH_LIMITS,)


def test_volumes_that_are_attached_without_a_pod_count():
    attachment = {
        "metadata": {"name": "x"},
        "spec": {"attacher": DRIVER, "nodeName": "n1", "source": {"persistentVolumeName": "old"}},
    }
    storage = parse_scheduling_storage(
        [claim(volume="pv")],
        [volume(), volume("old")],
        csi_nodes=limited(1, "n1"),
        attachments=[attachment],
    )

    assert fitting(cluster(NODES, storage=storage), using("c")) == ["n2", "n3", "n4"]


@pytest.mark.parametrize(("required", "expected"), [(True, ["n1"]), (False, EVERYWHERE)])
def test_a_driver_may_insist_on_being_installed(required, expected):
    driver = {"metadata": {"name": DRIVER}, "spec": {"preventPodSchedulingIfMissing": required}}
    storage = parse_scheduling_storage(
        [claim(volume="pv")], [volume()], csi_nodes=limited(5, "n1"), csi_drivers=[driver]
    )

    assert fitting(cluster(NODES, storage=storage), using("c")) == expected


def test_c33_a_read_write_once_pod_claim_has_one_user_in_the_cluster():
    storage = parse_scheduling_storage([claim(volume="pv", modes=["ReadWriteOncePod"])], [volume()])
    state = cluster(NODES, [("n1", using("c"))], storage)
    assert fitting(state, using("c")) == []
    assert verdict(state, using("c"), "n1").rules == (v.READ_WRITE_ONCE_POD,)

    state.remove("placed-1")

    assert fitting(state, using("c")) == EVERYWHERE


def test_the_capacity_of_a_driver_and_in_tree_volumes_are_not_judged():
    tracked = {"metadata": {"name": DRIVER}, "spec": {"storageCapacity": True}}
    storage = parse_scheduling_storage(
        [claim(), claim("d", volume="ebs"), claim("e", kind="ebs")],
        [volume("ebs", awsElasticBlockStore={"volumeID": "x"})],
        [storage_class(), storage_class("ebs", "kubernetes.io/aws-ebs")],
        csi_drivers=[tracked],
    )
    state = cluster(NODES, storage=storage)

    assert [verdict(state, using(name), "n1").outcome for name in "cde"] == [v.UNKNOWN] * 3
