# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""policy/eligibility/room: requests, places for pods, host ports - C36, C37, C39."""

from __future__ import annotations

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility import verdict as v
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.verdict import (
    Failing,
)
from tests.unit.policy.eligibility.worlds import cluster, fitting, node, pod, verdict

GPU = "example.com/gpu"
RESOURCES = [
    pytest.param({}, {}, [], id="a-node-without-capacity-takes-no-pod"),
    pytest.param({"pods": "1"}, {}, ["n1"], id="a-place-is-enough-for-a-pod-that-asks-for-nothing"),
    pytest.param({"pods": "1", "cpu": "0"}, {"cpu": "0"}, ["n1"], id="nothing-of-nothing"),
    pytest.param({"pods": "1", "cpu": "0"}, {"cpu": "1m"}, [], id="C39-no-cpu"),
    pytest.param({"pods": "1"}, {GPU: "1"}, [], id="C39-no-gpu-key"),
    pytest.param({"pods": "1", GPU: "1"}, {GPU: "1"}, ["n1"], id="extended"),
    pytest.param({"pods": "1", GPU: "1"}, {GPU: "2"}, [], id="too-few-extended"),
    pytest.param(
        {"pods": "1", "ephemeral-storage": "1Gi"},
        {"ephemeral-storage": "2Gi"},
        [],
        id="ephemeral-storage",
    ),
    pytest.param({"pods": "1", "memory": "1Gi"}, {"memory": "1Gi"}, ["n1"], id="exactly-full"),
]


@pytest.mark.parametrize(("allocatable", "requests", "expected"), RESOURCES)
def test_room_is_asked_for_every_resource(allocatable, requests, expected):
    assert (
        fitting(cluster([node("n1", allocatable=allocatable)]), pod(requests=requests)) == expected
    )


def test_c37_a_pod_takes_what_it_needs_while_it_starts():
    state = cluster([node("n1", allocatable={"cpu": "800m", "pods": "1"})])
    init = [{"name": "i", "resources": {"requests": {"cpu": "900m"}}}]

    failing = verdict(state, pod({"initContainers": init}, requests={"cpu": "100m"}), "n1").failing

    assert [one.short for one in failing] == [(("cpu", 100),)]


def test_places_for_pods_are_counted():
    full = cluster([node("n1", allocatable={"pods": "1"})], [("n1", pod())])

    assert verdict(full, pod(), "n1").failing == (
        Failing(v.RESOURCES, "the node takes no more than 1 pods", (("pods", 1),)),
    )


def port(number, address="", protocol="TCP"):
    return {"hostPort": number, "hostIP": address, "protocol": protocol}


def with_ports(*ports):
    return pod({"containers": [{"name": "c", "ports": list(ports)}]})


PORTS = [
    pytest.param([port(80)], [port(80)], [], id="same"),
    pytest.param([port(80)], [port(81)], ["n1"], id="another-port"),
    pytest.param([port(80)], [port(80, protocol="UDP")], ["n1"], id="another-protocol"),
    pytest.param([port(80, "10.0.0.1")], [port(80, "10.0.0.2")], ["n1"], id="another-address"),
    pytest.param([port(80, "10.0.0.1")], [port(80)], [], id="all-addresses-conflict"),
    pytest.param([port(80)], [port(80, "10.0.0.1")], [], id="with-all-addresses-as-well"),
    pytest.param([port(80)], [{"containerPort": 80}], ["n1"], id="no-host-port"),
]


@pytest.mark.parametrize(("taken", "wanted", "expected"), PORTS)
def test_a_host_port_conflicts(taken, wanted, expected):
    assert (
        fitting(cluster([node("n1")], [("n1", with_ports(*taken))]), with_ports(*wanted))
        == expected
    )


def test_c36_a_fourth_pod_with_the_same_host_port_fits_nowhere():
    names = ("n1", "n2", "n3")
    taken = with_ports(port(5473))
    state = cluster(map(node, names), [(name, taken) for name in names])

    assert fitting(state, taken) == []
    assert {verdict(state, taken, name).rules for name in names} == {(v.HOST_PORTS,)}


def test_an_init_container_that_ends_takes_no_host_port_and_a_sidecar_does():
    init = {"name": "i", "ports": [port(80)]}
    state = cluster(
        [node("n1"), node("n2")],
        [
            ("n1", pod({"initContainers": [init]})),
            ("n2", pod({"initContainers": [{**init, "restartPolicy": "Always"}]})),
        ],
    )

    assert fitting(state, with_ports(port(80))) == ["n1"]


def test_removing_a_pod_gives_its_room_and_ports_back():
    wishes = pod({"containers": [{"name": "c", "ports": [port(80)]}]}, requests={})
    state = cluster([node("n1", allocatable={"pods": "1"})], [("n1", wishes)])
    assert fitting(state, wishes) == []

    state.remove("placed-1")

    assert fitting(state, wishes) == ["n1"]
