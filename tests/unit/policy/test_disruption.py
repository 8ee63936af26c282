# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""policy/disruption: what budgets allow, and what the API will answer - C07, C08, C09, C10, C11."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.budget import ALWAYS_ALLOW
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.codes import CODES
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.objects import Owner
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.disruption import (
    MAX_DISRUPTED_PODS,
    Kind,
    Prediction,
    UnhealthyPod,
    allowed,
    attainable_pods,
    desired_healthy,
    expected_pods,
    of_total,
    predict,
    predict_all,
    unhealthy_pods,
    wanted_pods,
)
from tests.unit.builders import NOW, budget, controller, fleet, pod

WEB = {"app": "web"}
VMI = Owner("kubevirt.io/v1", "VirtualMachineInstance", "vm", "vmi-uid")
NO_SCALE = "virtualmachineinstances.kubevirt.io does not implement the scale subresource"


def web(name="web-1", **kwargs):
    return pod(name, labels=WEB, **kwargs)


def guard(**kwargs):
    return budget("web", selects=WEB, **kwargs)


def answer(one, *budgets, **kwargs):
    prediction = predict(one, budgets, **kwargs)
    return prediction.kind, prediction.code


# --- arithmetic ----------------------------------------------------------------------------

C09 = [
    pytest.param("50%", None, 7, 3, id="7 pods minAvailable 50%"),
    pytest.param(None, "40%", 3, 2, id="3 pods maxUnavailable 40%"),
    pytest.param(None, "20%", 1, 1, id="1 pod maxUnavailable 20%"),
    pytest.param("80%", None, 1, 0, id="1 pod minAvailable 80%"),
    pytest.param("80%", None, 8, 1, id="8 pods minAvailable 80%"),
]
ALLOWED = [
    pytest.param(2, None, 3, 3, 1, id="one to spare"),
    pytest.param(2, None, 3, 2, 0, id="none to spare"),
    pytest.param(2, None, 3, 1, 0, id="never below zero"),
    pytest.param(None, 1, 3, 3, 1, id="maxUnavailable"),
    pytest.param(None, 5, 3, 2, 2, id="maxUnavailable beyond the pods"),
    pytest.param(None, 1, 0, 3, 0, id="a budget that expects no pods allows none"),
    pytest.param(None, None, 3, 2, 2, id="a budget that asks for nothing"),
    pytest.param("100%", None, 3, 4, 1, id="a surge pod is one to spare"),
]


@pytest.mark.parametrize(("minimum", "maximum", "pods", "answer"), C09)
def test_c09_percentages_round_up(minimum, maximum, pods, answer):
    assert allowed(minimum, maximum, expected=pods, healthy=pods) == answer


@pytest.mark.parametrize(("minimum", "maximum", "expected", "healthy", "answer"), ALLOWED)
def test_what_a_budget_allows(minimum, maximum, expected, healthy, answer):
    assert allowed(minimum, maximum, expected, healthy) == answer


@pytest.mark.parametrize("value", ["", "%", "5", "-5%", "5.5%", " 5%", "\u0665%"])
def test_a_text_that_is_not_a_percentage_is_a_value_error(value):
    with pytest.raises(ValueError, match="neither an integer nor a percentage"):
        of_total(value, 10)


@given(st.integers(0, 200), st.integers(1, 500), st.integers(0, 500))
def test_a_percentage_never_asks_for_less_than_its_share(percent, expected, healthy):
    text = f"{percent}%"
    assert 0 <= of_total(text, expected) * 100 - percent * expected < 100
    spare = allowed(text, None, expected, healthy)
    assert spare == 0 or healthy - spare >= desired_healthy(text, None, expected)


deployment = controller("web", replicas=3)
replica_set = controller("web-abc", kind="ReplicaSet", owner=deployment, replicas=2)
loose_set = controller("web-def", kind="ReplicaSet", replicas=4)
rollout_set = controller(
    "web-ghi", kind="ReplicaSet", replicas=5, owner=controller("r", kind="Rollout")
)
stateful = controller("db", kind="StatefulSet", replicas=6)
replication = controller("old", kind="ReplicationController", replicas=7)
daemons = controller("agent", kind="DaemonSet", replicas=8)
BY_UID = {
    one.meta.uid: one
    for one in (deployment, replica_set, loose_set, rollout_set, stateful, replication, daemons)
}

SCALES = [
    pytest.param([replica_set], 3, 3, id="a Deployment's scale, not its ReplicaSet's"),
    pytest.param([replica_set, replica_set], 3, 3, id="each controller once"),
    pytest.param([loose_set], 4, 4, id="a ReplicaSet without an owner"),
    pytest.param([rollout_set], 5, 5, id="a ReplicaSet of another owner than a Deployment"),
    pytest.param([stateful, replication], 13, 13, id="controllers add up"),
    pytest.param([replica_set, None], 3, 4, id="an unmanaged pod"),
    pytest.param([daemons], None, 8, id="a DaemonSet has no scale subresource"),
    pytest.param([VMI, replica_set], None, 4, id="an owner of another kind"),
    pytest.param([], 0, 0, id="no pods"),
]


@pytest.mark.parametrize(("owners", "scale", "attainable"), SCALES)
def test_expected_pods_are_the_scale_of_the_controllers_or_the_pods_there_are(
    owners, scale, attainable
):
    pods = [web(f"web-{index}", owner=owner) for index, owner in enumerate(owners)]
    assert wanted_pods(pods, BY_UID) == scale
    assert attainable_pods(pods, BY_UID) == attainable
    assert expected_pods(guard(max_unavailable=1), pods, BY_UID) == scale
    assert expected_pods(guard(min_available="50%"), pods, BY_UID) == scale
    assert expected_pods(guard(min_available=1), pods, BY_UID) == len(owners)


def test_finished_pods_are_expected_by_an_integer_min_available_but_cannot_be_attained():
    pods = [web("web-1"), web("web-2", phase="Failed")]
    assert expected_pods(guard(min_available=1), pods, {}) == 2
    assert attainable_pods(pods, {}) == 1


# --- predictions ---------------------------------------------------------------------------

UNGUARDED = [
    pytest.param(web(phase="Succeeded"), id="succeeded"),
    pytest.param(web(phase="Failed"), id="failed"),
    pytest.param(web(phase="Pending"), id="pending"),
    pytest.param(web(deleted_at=NOW), id="terminating"),
]
HEALTHY = web()
SICK = web("web-2", waiting="CrashLoopBackOff")
FULL = {f"web-{index}": NOW for index in range(MAX_DISRUPTED_PODS + 1)}

NOW_CASES = [
    pytest.param(
        HEALTHY, guard(allowed=1, expected=3, max_unavailable=1), Kind.PASSES, "", id="room"
    ),
    pytest.param(
        HEALTHY,
        guard(max_unavailable=1, expected=3, healthy=2, desired=2),
        Kind.WAITS,
        "budget_exhausted",
        id="exhausted",
    ),
    pytest.param(
        HEALTHY,
        guard(max_unavailable=1, expected=3, allowed=1, observed=False),
        Kind.WAITS,
        "budget_stale",
        id="stale, whatever its status allows",
    ),
    pytest.param(
        HEALTHY,
        guard(max_unavailable=1, expected=3, allowed=1, disrupted=FULL),
        Kind.WAITS,
        "budget_unconfirmed",
        id="list of disrupted pods is full",
    ),
    pytest.param(
        HEALTHY,
        guard(
            max_unavailable=1,
            expected=3,
            allowed=1,
            disrupted=dict(list(FULL.items())[:MAX_DISRUPTED_PODS]),
        ),
        Kind.PASSES,
        "",
        id="list of disrupted pods is as long as it may be",
    ),
    pytest.param(
        HEALTHY,
        guard(max_unavailable=1, expected=3, sync_failure="etcdserver: request timed out"),
        Kind.WAITS,
        "budget_sync_failed",
        id="sync failed for now",
    ),
    pytest.param(
        web(owner=replica_set),
        guard(max_unavailable=1, healthy=1),
        Kind.WAITS,
        "budget_exhausted",
        id="scaled to zero: its owner deletes the pod soon",
    ),
]


@pytest.mark.parametrize("one", UNGUARDED)
def test_budgets_do_not_guard_finished_pending_and_terminating_pods(one):
    several = (guard(max_unavailable=0), budget("other", selects=WEB, max_unavailable=0))
    assert answer(one, *several) == (Kind.UNGUARDED, "")


@pytest.mark.parametrize(("one", "guarding", "kind", "code"), NOW_CASES)
def test_what_passes_and_what_waits(one, guarding, kind, code):
    assert answer(one, guarding) == (kind, code)


def test_c07_two_budgets_never_pass_and_both_are_named():
    one = pod(labels={"a": "1", "b": "1"})
    budgets = [
        budget(name, selects={key: "1"}, allowed=1) for name, key in (("p2", "b"), ("p1", "a"))
    ]
    assert predict(one, budgets) == Prediction(
        Kind.NEVER,
        ("shop/p1", "shop/p2"),
        "several_budgets",
        "2 budgets select the pod (shop/p1, shop/p2); the Eviction API refuses that.",
        "Change the selectors so that one budget selects the pod.",
    )


C08 = [
    pytest.param(guard(min_available=1, expected=1, healthy=1), id="1 replica minAvailable 1"),
    pytest.param(guard(max_unavailable=0, expected=3, healthy=3), id="3 replicas maxUnavailable 0"),
    pytest.param(guard(max_unavailable="0%", expected=3, healthy=3), id="maxUnavailable 0%"),
    pytest.param(guard(min_available="100%", expected=3, healthy=3), id="minAvailable 100%"),
    pytest.param(guard(min_available="80%", expected=1, healthy=1), id="80% of 1"),
    pytest.param(guard(min_available="99%", expected=3, healthy=3), id="99% of 3"),
    pytest.param(guard(min_available=5, expected=3, healthy=3), id="minAvailable above the pods"),
    pytest.param(guard(max_unavailable=0, expected=3, healthy=1), id="also when pods are missing"),
    pytest.param(guard(max_unavailable=0, observed=False), id="also before it was ever looked at"),
    pytest.param(guard(min_available="100%", observed=False), id="so does 100%"),
]
C08_FOR_NOW = [
    pytest.param(guard(min_available=1, expected=3, healthy=1, desired=1), id="1 of 3 is healthy"),
    pytest.param(guard(min_available=2, expected=3, healthy=2, desired=2), id="2 of 3 are healthy"),
    pytest.param(guard(max_unavailable=1, expected=1, healthy=0), id="1 of 1, unhealthy now"),
    pytest.param(guard(min_available="50%", expected=2, healthy=1, desired=1), id="50% of 2"),
    pytest.param(guard(min_available="80%", observed=False), id="80% of a number not known yet"),
    pytest.param(guard(min_available=1, observed=False), id="an integer of a number not known yet"),
]


@pytest.mark.parametrize("guarding", C08)
def test_c08_a_budget_that_can_spare_no_pod_never_passes(guarding):
    assert answer(HEALTHY, guarding) == (Kind.NEVER, "budget_allows_none")


@pytest.mark.parametrize("guarding", C08_FOR_NOW)
def test_c08_a_budget_whose_pods_are_missing_waits(guarding):
    kind, _unused = answer(HEALTHY, guarding)
    assert kind is Kind.WAITS


def test_c08_says_what_leaves_none_and_what_to_change():
    assert predict(HEALTHY, [guard(min_available=1, expected=1, healthy=1)]) == Prediction(
        Kind.NEVER,
        ("shop/web",),
        "budget_allows_none",
        "Budget shop/web can never allow an eviction: minAvailable 1 of 1 pods spares none.",
        "Lower minAvailable, or run more replicas than it asks for.",
    )


def test_a_budget_that_allows_none_passes_while_a_surge_pod_is_there():
    guarding = guard(min_available=1, expected=2, healthy=2, desired=1, allowed=1)
    assert answer(HEALTHY, guarding, attainable=1) == (Kind.PASSES, "")


@pytest.mark.parametrize(
    ("expected", "attainable", "kind"),
    [
        pytest.param(2, 3, Kind.WAITS, id="a pod is missing: two are there, three are wanted"),
        pytest.param(3, 2, Kind.NEVER, id="a pod too many is leaving: only two are wanted"),
        pytest.param(2, None, Kind.NEVER, id="what is wanted is not known"),
    ],
)
def test_an_integer_min_available_is_held_against_the_pods_that_are_wanted(
    expected, attainable, kind
):
    guarding = guard(min_available=2, expected=expected, healthy=2, desired=2)
    assert answer(HEALTHY, guarding, attainable=attainable)[0] is kind


def test_c10_crash_looping_pod_is_refused_and_pending_pod_accepted():
    crashing, pending = web("a", waiting="CrashLoopBackOff"), web("b", phase="Pending")
    default = guard(max_unavailable=1, expected=2, healthy=0, desired=1)
    always = guard(
        max_unavailable=1, expected=2, healthy=0, desired=1, unhealthy_policy=ALWAYS_ALLOW
    )
    assert answer(crashing, default) == (Kind.WAITS, "budget_exhausted")
    assert answer(pending, default) == (Kind.UNGUARDED, "")
    assert answer(crashing, always) == (Kind.PASSES, "")
    assert answer(pending, always) == (Kind.UNGUARDED, "")


def test_c10_crash_looping_pod_goes_when_the_budget_has_its_healthy_pods_without_it():
    exhausted = guard(min_available=2, expected=3, healthy=2, desired=2, allowed=0)
    assert answer(SICK, exhausted) == (Kind.PASSES, "")
    assert answer(HEALTHY, exhausted) == (Kind.WAITS, "budget_exhausted")


@pytest.mark.parametrize(
    "guarding",
    [
        pytest.param(guard(min_available=0, expected=1, desired=0), id="no healthy pod is desired"),
        pytest.param(guard(min_available=2, expected=3, healthy=1, desired=2), id="one is missing"),
    ],
)
def test_c10_an_unhealthy_pod_stays_where_its_application_is_disrupted_or_unknown(guarding):
    assert answer(SICK, guarding)[0] is Kind.WAITS


def test_c10_who_waits_with_an_unhealthy_pod_is_told_of_the_policy():
    guarding = guard(max_unavailable=1, expected=2, healthy=0, desired=1)
    assert predict(SICK, [guarding]) == Prediction(
        Kind.WAITS,
        ("shop/web",),
        "budget_exhausted",
        "Budget shop/web needs 1 healthy pods and has 0, and keeps a pod that is not Ready until "
        "it has them.",
        "Cure its pods, or set its unhealthyPodEvictionPolicy to AlwaysAllow.",
    )


def test_c10_an_unhealthy_pod_goes_past_a_stale_budget():
    stale = guard(min_available=2, expected=3, healthy=2, desired=2, observed=False)
    assert answer(SICK, stale) == (Kind.PASSES, "")


C11 = [
    pytest.param(web(owner=VMI), guard(max_unavailable=1, sync_failure=NO_SCALE), id="sync failed"),
    pytest.param(
        web(owner=VMI),
        guard(max_unavailable=1, sync_failure=NO_SCALE, observed=False),
        id="sync never succeeded: the API says that it is still processing",
    ),
    pytest.param(
        web(owner=VMI), guard(max_unavailable=1, healthy=3), id="expects none of its pods"
    ),
    pytest.param(web(), guard(min_available="50%", healthy=1), id="unmanaged pods"),
    pytest.param(
        web(),
        guard(max_unavailable=1, sync_failure='found no controllers for pod "web-1"'),
        id="owner is gone",
    ),
]


@pytest.mark.parametrize(("one", "guarding"), C11)
def test_c11_a_budget_on_an_owner_without_scale_always_refuses(one, guarding):
    prediction = predict(one, [guarding])
    assert (prediction.kind, prediction.code) == (Kind.NEVER, "budget_without_scale")
    assert "integer minAvailable" in prediction.remedy


def test_c11_a_selector_that_matches_no_pod_blocks_nothing():
    nothing = budget("typo", selects={"app": "wbe"}, max_unavailable=1)
    elsewhere = budget("web", namespace="other", selects=WEB, max_unavailable=0)
    assert answer(HEALTHY, nothing, elsewhere) == (Kind.UNGUARDED, "")


def test_a_fleet_knows_that_a_missing_replica_comes_back():
    waiting = guard(min_available=2, expected=2, healthy=2, desired=2)
    pods = [web(f"web-{index}", owner=replica_set) for index in (1, 2)]
    world = fleet(deployment, replica_set, waiting, *pods)
    assert predict(pods[0], [waiting]).kind is Kind.NEVER
    assert [(one.key, found.kind) for one, found in predict_all(world, world.pods)] == [
        ("shop/web-1", Kind.WAITS),
        ("shop/web-2", Kind.WAITS),
    ]


def test_every_code_is_in_the_catalogue_and_has_a_remedy():
    known = {code.name for code in CODES}
    cases = [*NOW_CASES, *C11]
    predictions = [predict(case.values[0], [case.values[1]]) for case in cases]
    predictions += [predict(HEALTHY, [case.values[0]]) for case in C08]
    for prediction in predictions:
        assert (prediction.code == "") is (prediction.kind is Kind.PASSES)
        assert prediction.code == "" or (prediction.code in known and prediction.remedy)


integers_or_percents = st.one_of(st.integers(0, 12), st.integers(0, 100).map(lambda n: f"{n}%"))


@given(st.booleans(), integers_or_percents, st.integers(1, 10), st.integers(0, 10))
def test_never_is_said_exactly_when_all_pods_healthy_would_not_be_enough(
    maximum, value, expected, healthy
):
    healthy = min(healthy, expected)
    rule = {"max_unavailable" if maximum else "min_available": value}
    limits = (rule.get("min_available"), rule.get("max_unavailable"))
    guarding = guard(
        **rule,
        expected=expected,
        healthy=healthy,
        desired=desired_healthy(*limits, expected),
        allowed=allowed(*limits, expected, healthy),
    )
    kind = predict(HEALTHY, [guarding]).kind
    if allowed(*limits, expected, healthy) > 0:
        assert kind is Kind.PASSES
    elif allowed(*limits, expected, expected) > 0:
        assert kind is Kind.WAITS
    else:
        assert kind is Kind.NEVER


# --- who keeps a budget low ----------------------------------------------------------------


def test_unhealthy_pods_are_named_with_their_node_and_why():
    guarding = guard(disrupted={"web-5": NOW})
    pods = [
        web("web-6", phase="Pending", node=""),
        web("web-5", node="n5"),
        web("web-4", ready=False, node="n4"),
        web("web-3", waiting="CrashLoopBackOff", node="n3"),
        web("web-2", deleted_at=NOW, node="n2"),
        web("web-1"),
        web("web-0", phase="Failed"),
        pod("db-1", labels={"app": "db"}, ready=False),
    ]
    found = unhealthy_pods(guarding, pods)
    assert found == (
        UnhealthyPod("shop/web-2", "n2", "terminating"),
        UnhealthyPod("shop/web-3", "n3", "CrashLoopBackOff"),
        UnhealthyPod("shop/web-4", "n4", "not Ready"),
        UnhealthyPod("shop/web-5", "n5", "its eviction was admitted"),
        UnhealthyPod("shop/web-6", "", "Pending"),
    )
    assert [str(one) for one in found][3:] == [
        "shop/web-5 on n5 (its eviction was admitted)",
        "shop/web-6 (Pending)",
    ]
