# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""policy/eligibility/neighbours: pod affinity and anti-affinity, both ways round."""

from __future__ import annotations

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.scheduling import (
    parse_scheduling,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility import verdict as v
from tests.unit.policy.eligibility.worlds import (
    HOSTNAME,
    ZONE,
    affinity,
    cluster,
    fitting,
    node,
    pod,
    term,
    verdict,
)

NODES = (node("n1", "z1"), node("n2", "z1"), node("n3", "z2"), node("n4"))
WEB, DB = {"app": "web"}, {"app": "db"}
TERMS = [
    pytest.param([term(ZONE, WEB)], ["n1", "n2"], ["n3", "n4"], id="zone"),
    pytest.param([term(HOSTNAME, WEB)], ["n1"], ["n2", "n3", "n4"], id="host"),
    pytest.param([term(ZONE, {"app": "no"})], [], ["n1", "n2", "n3", "n4"], id="no-such-pod"),
    pytest.param([term(ZONE, {})], ["n1", "n2"], ["n3", "n4"], id="every-pod"),
    pytest.param([{"topologyKey": ZONE}], [], ["n1", "n2", "n3", "n4"], id="no-selector-no-pod"),
    pytest.param(
        [term(ZONE, WEB, namespaces=["other"])], ["n3"], ["n1", "n2", "n4"], id="namespaces"
    ),
    pytest.param(
        [term(ZONE, WEB, namespaceSelector={})], ["n1", "n2", "n3"], ["n4"], id="all-namespaces"
    ),
    pytest.param(
        [term(ZONE, WEB, namespaceSelector={"matchLabels": {"team": "b"}})],
        ["n3"],
        ["n1", "n2", "n4"],
        id="namespace-labels",
    ),
    pytest.param(
        [term(ZONE, WEB, namespaces=["default"], namespaceSelector={"matchLabels": {"team": "b"}})],
        ["n1", "n2", "n3"],
        ["n4"],
        id="either-namespaces",
    ),
    pytest.param(
        [term(ZONE, WEB, matchLabelKeys=["v"])], [], ["n1", "n2", "n3", "n4"], id="match-label-keys"
    ),
    pytest.param(
        [term(ZONE, WEB, mismatchLabelKeys=["v"])], ["n1", "n2"], ["n3", "n4"], id="mismatch"
    ),
    pytest.param([term(ZONE, WEB), term(HOSTNAME, WEB)], ["n1"], ["n3", "n4"], id="two-terms"),
]


@pytest.mark.parametrize(("terms", "near", "far"), TERMS)
def test_a_pod_goes_near_or_away_from_others(terms, near, far):
    placed = [("n1", pod(labels=WEB)), ("n3", pod(labels=WEB, namespace="other"))]
    state = cluster(NODES, placed)
    labels = {"app": "new", "v": "1"}

    assert fitting(state, pod(affinity("podAffinity", *terms), labels)) == near
    assert fitting(state, pod(affinity("podAntiAffinity", *terms), labels)) == far


def test_one_pod_must_match_all_terms_of_an_affinity_at_once():
    state = cluster(NODES, [("n1", pod(labels=WEB)), ("n2", pod(labels=DB))])
    both = affinity("podAffinity", term(ZONE, WEB), term(ZONE, DB))

    assert fitting(state, pod(both)) == []


def test_the_first_of_a_group_goes_anywhere_that_has_the_label():
    together = pod(affinity("podAffinity", term(ZONE, WEB)), WEB)
    state = cluster(NODES)

    assert fitting(state, together) == ["n1", "n2", "n3"]


def test_the_second_of_a_group_goes_where_the_first_is():
    together = pod(affinity("podAffinity", term(ZONE, WEB)), WEB)
    state = cluster(NODES, [("n3", together)])

    assert fitting(state, together) == ["n3"]


def test_a_pod_outside_every_domain_does_not_keep_the_first_of_a_group_waiting():
    together = pod(affinity("podAffinity", term(ZONE, WEB)), WEB)
    state = cluster(NODES, [("n4", together)])

    assert fitting(state, together) == ["n1", "n2", "n3"]


def test_the_anti_affinity_of_others_keeps_a_pod_off_their_domain():
    lonely = pod(affinity("podAntiAffinity", term(ZONE, WEB)), DB)
    state = cluster(NODES, [("n1", lonely)])

    assert fitting(state, pod(labels=WEB)) == ["n3", "n4"]
    assert fitting(state, pod(labels=DB)) == ["n1", "n2", "n3", "n4"]
    assert fitting(state, pod(labels=WEB, namespace="other")) == ["n1", "n2", "n3", "n4"]
    assert verdict(state, pod(labels=WEB), "n2").rules == (v.ANTI_AFFINITY_OF_OTHERS,)


def test_anti_affinity_that_comes_later_is_seen():
    state = cluster(NODES)
    assert fitting(state, pod(labels=WEB)) == ["n1", "n2", "n3", "n4"]
    lonely = pod(affinity("podAntiAffinity", term(ZONE, WEB, namespaceSelector={})), DB)

    state.place("lonely", state.pod_class(parse_scheduling(lonely)), "n3")
    assert fitting(state, pod(labels=WEB)) == ["n1", "n2", "n4"]

    state.remove("lonely")
    assert fitting(state, pod(labels=WEB)) == ["n1", "n2", "n3", "n4"]


def test_a_terminating_pod_still_counts():
    state = cluster(NODES)

    state.place("going", state.pod_class(parse_scheduling(pod(labels=WEB))), "n1", terminating=True)

    assert fitting(state, pod(affinity("podAntiAffinity", term(ZONE, WEB)))) == ["n3", "n4"]
