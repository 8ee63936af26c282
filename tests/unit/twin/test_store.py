# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The objects of a twin and their indices, which must tell the same as a look at all of them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.base import Key
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.store import Store

NODES, LABELS, OWNERS, SPACES = ["", "n1", "n2"], ["a", "b"], ["", "u1", "u2"], ["s1", "s2"]
POD = st.fixed_dictionaries(
    {
        "name": st.sampled_from(["p1", "p2", "p3"]),
        "namespace": st.sampled_from(SPACES),
        "node": st.sampled_from(NODES),
        "label": st.sampled_from(LABELS),
        "owner": st.sampled_from(OWNERS),
        "there": st.booleans(),
    }
)


def pod(name, namespace, node, label, owner, **_unused):
    metadata = {"name": name, "namespace": namespace, "labels": {"app": label}}
    if owner:
        metadata["ownerReferences"] = [{"uid": owner, "controller": True}]
    return {"metadata": metadata, "spec": {"nodeName": node} if node else {}}


@given(st.lists(POD, max_size=30))
def test_each_index_tells_what_a_look_at_all_objects_tells(writes):
    store = Store()
    for write in writes:
        if write["there"]:
            store.put("pods", pod(**write))
        else:
            store.remove(Key("pods", write["namespace"], write["name"]))
    everything = store.objects("pods")
    for node in NODES:
        expected = [raw for raw in everything if raw["spec"].get("nodeName", "") == node]
        assert by_name(store.pods_on(node)) == by_name(expected)
    assert by_name(store.unscheduled()) == by_name(store.pods_on(""))
    for namespace in SPACES:
        here = [raw for raw in everything if raw["metadata"]["namespace"] == namespace]
        assert by_name(store.objects("pods", namespace)) == by_name(here)
        for label in LABELS:
            expected = [raw for raw in here if raw["metadata"]["labels"]["app"] == label]
            found = store.labelled("pods", namespace, "app", label)
            assert by_name(found) == by_name(expected)
    for owner in OWNERS[1:]:
        expected = [raw for raw in everything if owner in str(raw["metadata"])]
        assert by_name(store.owned("pods", owner)) == by_name(expected)


def by_name(objects):
    return sorted((raw["metadata"]["namespace"], raw["metadata"]["name"]) for raw in objects)


def test_an_object_is_never_changed_under_somebody_who_has_it():
    store = Store()
    first = store.put("pods", pod("p1", "s1", "n1", "a", ""))
    second = store.put("pods", pod("p1", "s1", "n2", "a", ""))
    assert (first["spec"]["nodeName"], second["spec"]["nodeName"]) == ("n1", "n2")
    versions = [int(raw["metadata"]["resourceVersion"]) for raw in (first, second)]
    assert versions[0] < versions[1]
