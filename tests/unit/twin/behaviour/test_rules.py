# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""twin/behaviour/rules: where a pod fits, kept up to date, and why it fits nowhere in its words."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.base import Key
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.rules import RuleFits
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.store import Store

HOSTNAME = "kubernetes.io/hostname"
CORDON = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}


def node(name, cordoned=False, taint="", cpu="2", **labels):
    taints = [CORDON] if cordoned else []
    taints += [{"key": taint, "effect": "NoSchedule"}] if taint else []
    return {
        "metadata": {"name": name, "uid": name, "labels": {HOSTNAME: name, **labels}},
        "spec": {"unschedulable": cordoned, "taints": taints},
        "status": {"allocatable": {"cpu": cpu, "memory": "4Gi", "pods": "3"}},
    }


def pod(name, where="", cpu="500m", app="web", alone=False, **spec):
    term = {"topologyKey": HOSTNAME, "labelSelector": {"matchLabels": {"app": app}}}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    affinity = {"affinity": {"podAntiAffinity": required}} if alone else {}
    resources = {"requests": {"cpu": cpu}}
    return {
        "metadata": {"name": name, "namespace": "a", "uid": name, "labels": {"app": app}},
        "spec": {
            "containers": [{"name": "c", "resources": resources}],
            **({"nodeName": where} if where else {}),
            **affinity,
            **spec,
        },
        "status": {"phase": "Running" if where else "Pending"},
    }


class World:
    def __init__(self, *objects):
        self.store = Store()
        self.fits = RuleFits()
        self.store.listen(lambda write: self.fits.hear(write.change))
        for one in objects:
            self.put(one)

    def put(self, raw):
        resource = "pods" if "containers" in raw["spec"] else "nodes"
        self.store.put(resource, raw)

    def find(self, one):
        return self.fits.find(one, self.store)


REASONS = [
    pytest.param([node("n1", cordoned=True)], {}, "node(s) were unschedulable", id="cordon"),
    pytest.param([node("n1", taint="x")], {}, "node(s) had untolerated taint(s)", id="taint"),
    pytest.param(
        [node("n1")],
        {"nodeSelector": {"disk": "fast"}},
        "node(s) didn't match Pod's node affinity/selector",
        id="selector",
    ),
    pytest.param([node("n1", cpu="100m")], {}, "Insufficient cpu", id="cpu"),
    pytest.param(
        [node("n1"), *(pod(f"p{i}", "n1", "1m") for i in range(3))], {}, "Too many pods", id="pods"
    ),
    pytest.param(
        [node("n1"), pod("p", "n1")],
        {"alone": True},
        "node(s) didn't match pod anti-affinity rules",
        id="anti-affinity",
    ),
    pytest.param(
        [node("n1"), pod("p", "n1", alone=True)],
        {},
        "node(s) didn't satisfy existing pods anti-affinity rules",
        id="anti-affinity-of-others",
    ),
]


@pytest.mark.parametrize(("objects", "asked", "words"), REASONS)
def test_why_a_pod_fits_nowhere_is_told_in_the_schedulers_words(objects, asked, words):
    found = World(*objects).find(pod("new", **asked))
    assert (found.nodes, dict(found.reasons)) == ((), {words: 1})


def test_a_node_is_counted_for_the_first_rule_that_it_fails():
    full = node("n2", cordoned=True, taint="x", cpu="100m")
    found = World(node("n1", taint="x"), full).find(pod("new"))
    assert dict(found.reasons) == {
        "node(s) were unschedulable": 1,
        "node(s) had untolerated taint(s)": 1,
    }


changes = st.lists(
    st.tuples(
        st.sampled_from(["bind", "delete", "leave", "finish", "cordon", "taint", "resize", "gone"]),
        st.integers(0, 5),
        st.integers(0, 2),
    ),
    max_size=15,
)
ASKED = [pod("x"), pod("x", alone=True), pod("x", cpu="1500m"), pod("x", app="db")]


@settings(max_examples=60, deadline=None)
@given(changes)
def test_what_is_kept_up_to_date_says_the_same_as_what_is_made_anew(history):
    world = World(*(node(f"n{number}") for number in range(3)))
    for what, number, where in history:
        change(world, what, f"p{number}", f"n{where}", number)
        anew = World(*world.store.objects("nodes"), *world.store.objects("pods"))
        for one in ASKED:
            assert world.find(one) == anew.find(one)


def change(world, what, name, where, number):
    found = world.store.get(Key("pods", "a", name))
    there = world.store.get(Key("nodes", "", where))
    if what == "bind" and found is None:
        world.put(pod(name, where, alone=number % 2 == 0))
    elif what == "delete" and found is not None:
        world.store.remove(Key("pods", "a", name))
    elif what == "leave" and found is not None:
        leaving = {**found["metadata"], "deletionTimestamp": "2027-01-15T08:00:00Z"}
        world.put({**found, "metadata": leaving})
    elif what == "finish" and found is not None:
        world.put({**found, "status": {"phase": "Succeeded"}})
    elif what == "cordon" and there is not None:
        world.put(node(where, cordoned=not there["spec"]["unschedulable"]))
    elif what == "taint" and there is not None:
        world.put(node(where, taint="" if len(there["spec"]["taints"]) else "x"))
    elif what == "resize" and there is not None:
        world.put(node(where, cpu=str(1 + number)))
    elif what == "gone" and there is not None and number == 0:
        world.store.remove(Key("nodes", "", where))
