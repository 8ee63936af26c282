# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""policy/eligibility/spread: topology spread constraints with DoNotSchedule."""

from __future__ import annotations

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.scheduling import (
    parse_scheduling,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility import verdict as v
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.verdict import (
    Failing,
)
from tests.unit.policy.eligibility.worlds import (
    HOSTNAME,
    ZONE,
    cluster,
    fitting,
    node,
    pod,
    spread,
    verdict,
)

TAINT = {"key": "a", "value": "1", "effect": "NoSchedule"}
NODES = (
    node("n1", "z1"),
    node("n2", "z1"),
    node("n3", "z2"),
    node("n4", "z3", taints=[TAINT]),
    node("n5"),
)
WEB = {"app": "web", "v": "1"}
NOTHING_THERE = {"matchLabels": {"app": "none"}}

# Two web pods are in z1 and one in z2; z3 is tainted, so that it is empty.
CASES = [
    pytest.param([spread(ZONE)], {}, [], id="an-empty-domain-nobody-may-use-counts"),
    pytest.param([spread(ZONE, 2)], {}, ["n3"], id="skew-two"),
    pytest.param([spread(ZONE, 3)], {}, ["n1", "n2", "n3"], id="skew-three"),
    pytest.param([spread(ZONE, nodeTaintsPolicy="Honor")], {}, ["n3"], id="taints-honoured"),
    pytest.param(
        [spread(ZONE, minDomains=3, nodeTaintsPolicy="Honor")], {}, [], id="too-few-domains"
    ),
    pytest.param(
        [spread(ZONE, 2, minDomains=3, nodeTaintsPolicy="Honor")],
        {},
        ["n3"],
        id="too-few-domains-count-from-zero",
    ),
    pytest.param([spread(ZONE)], {"nodeSelector": {ZONE: "z1"}}, ["n1", "n2"], id="own-selector"),
    pytest.param(
        [spread(ZONE, nodeAffinityPolicy="Ignore")],
        {"nodeSelector": {ZONE: "z1"}},
        [],
        id="own-selector-ignored",
    ),
    pytest.param(
        [spread(ZONE, labelSelector=NOTHING_THERE)], {}, ["n1", "n2", "n3"], id="others-only"
    ),
    pytest.param([spread(ZONE, labelSelector={})], {}, ["n1", "n2", "n3"], id="empty-counts-none"),
    pytest.param([spread(ZONE, matchLabelKeys=["v"])], {}, ["n1", "n2", "n3"], id="label-keys"),
    pytest.param([spread("rack")], {}, [], id="no-node-has-the-label"),
    pytest.param([spread(HOSTNAME)], {}, ["n2", "n5"], id="hosts"),
    pytest.param([spread(ZONE, 3), spread(HOSTNAME, 1)], {}, ["n2"], id="all-must-hold"),
    pytest.param(
        [spread(ZONE, whenUnsatisfiable="ScheduleAnyway")],
        {},
        ["n1", "n2", "n3", "n5"],
        id="advice",
    ),
]


@pytest.mark.parametrize(("constraints", "spec", "expected"), CASES)
def test_a_pod_keeps_the_skew(constraints, spec, expected):
    old = pod(labels={"app": "web", "v": "0"})
    state = cluster(NODES, [("n1", old), ("n1", old), ("n3", old)])
    new = pod({"topologySpreadConstraints": constraints, **spec}, WEB)

    assert fitting(state, new) == expected


def test_the_detail_tells_the_arithmetic():
    state = cluster(NODES[:3], [("n1", pod(labels=WEB))])
    new = pod({"topologySpreadConstraints": [spread(ZONE)]}, WEB)

    assert verdict(state, new, "n2").failing == (
        Failing(
            v.TOPOLOGY_SPREAD,
            f"{ZONE}=z1 holds 1 of its kind, the emptiest 0; maxSkew is 1",
        ),
    )


def test_a_pod_that_does_not_count_itself_may_fill_a_domain_up_to_the_skew():
    state = cluster(NODES[:3], [("n1", pod(labels=WEB))])
    stranger = pod({"topologySpreadConstraints": [spread(ZONE)]}, {"app": "other"})

    assert fitting(state, stranger) == ["n1", "n2", "n3"]


def test_terminating_pods_and_other_namespaces_are_not_counted():
    state = cluster(NODES[:3], [("n1", pod(labels=WEB, namespace="other"))])
    going = state.pod_class(parse_scheduling(pod(labels=WEB)))
    state.place("going", going, "n1", terminating=True)

    new = pod({"topologySpreadConstraints": [spread(ZONE)]}, WEB)

    assert fitting(state, new) == ["n1", "n2", "n3"]


def test_counts_follow_planned_moves():
    new = pod({"topologySpreadConstraints": [spread(ZONE)]}, WEB)
    state = cluster(NODES[:3])
    judged = state.pod_class(parse_scheduling(new))
    seen = []
    for key, target in (("a", "n1"), ("b", "n3"), ("c", "n2")):
        seen.append(fitting(state, new))
        state.place(key, judged, target)
    state.remove("a")
    seen.append(fitting(state, new))

    assert seen == [["n1", "n2", "n3"], ["n3"], ["n1", "n2", "n3"], ["n1", "n2", "n3"]]
