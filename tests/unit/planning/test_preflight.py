# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""planning/preflight: what a drain would meet - C07, C08, C10, C11, C22, C35, C39."""

from __future__ import annotations

from datetime import timedelta

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.codes import CODES
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.preflight import (
    PreflightQuestion,
    assess,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.consent import Consent
from tests.unit.builders import NOW, budget, controller, fleet, node, pod, scheduling_facts

APP = {"app": "web"}
WEB = controller("web", kind="ReplicaSet", replicas=3)
PROXY = controller("proxy", kind="DaemonSet", namespace="kube-system")
NODES = (node("n1"), node("n2"), node("n3"))
GUARD = budget("web", selects=APP, max_unavailable=1, allowed=1, healthy=3, desired=2, expected=3)


def web(index, where, **kwargs):
    return pod(f"web-{index}", owner=WEB, node=where, labels=APP, **kwargs)


SPREAD = (WEB, web(1, "n1"), web(2, "n2"), web(3, "n3"))


def assessed(*members, chosen=("n1",), batches=None, **question):
    world = fleet(*members)
    names = [chosen] if batches is None else batches
    nodes = tuple(tuple(world.node_by_name[name] for name in batch) for batch in names)
    facts = scheduling_facts(world)
    return assess(world, PreflightQuestion(batches=nodes, now=NOW, facts=facts, **question))


def told(*members, **kwargs):
    """(level, code, subject) of every finding."""
    found = assessed(*members, **kwargs).findings
    return [(one.level, one.code, one.subject) for one in found]


def guarded_by(**spec):
    return budget("web", selects=APP, **spec)


BUDGETS = [
    pytest.param((GUARD,), [], id="a-budget-with-room-is-no-finding"),
    pytest.param(
        (guarded_by(max_unavailable=1, healthy=3, desired=2, expected=3, allowed=0),),
        [("warning", "budget_exhausted", "PodDisruptionBudget shop/web")],
        id="an-exhausted-budget-waits",
    ),
    pytest.param(
        (guarded_by(max_unavailable=0, healthy=3, desired=3, expected=3),),
        [("error", "budget_allows_none", "PodDisruptionBudget shop/web")],
        id="C08-max-unavailable-0-never-passes",
    ),
    pytest.param(
        (GUARD, budget("other", selects=APP, max_unavailable=1, allowed=1, expected=3)),
        [("error", "several_budgets", "PodDisruptionBudgets shop/other, shop/web")],
        id="C07-two-budgets-over-one-pod",
    ),
    pytest.param(
        (GUARD, budget("typo", selects={"app": "wbe"}, max_unavailable=1)),
        [("warning", "budget_selects_nothing", "PodDisruptionBudget shop/typo")],
        id="C11-a-budget-over-nothing-blocks-nothing",
    ),
    pytest.param(
        (GUARD, budget("later", namespace="bank", selects=APP, max_unavailable=1)),
        [("info", "budget_selects_nothing", "PodDisruptionBudget bank/later")],
        id="a-budget-in-an-empty-namespace",
    ),
]


@pytest.mark.parametrize(("budgets", "expected"), BUDGETS)
def test_budgets_over_the_pods_that_move(budgets, expected):
    assert told(*NODES, *SPREAD, *budgets) == expected


def test_c07_budgets_that_overlap_elsewhere_are_only_worth_knowing():
    other = budget("other", selects=APP, max_unavailable=1, allowed=1, expected=3)
    elsewhere = (WEB, web(1, "n2"), web(2, "n3"))
    assert told(*NODES, *elsewhere, GUARD, other) == [
        ("info", "several_budgets", "PodDisruptionBudgets shop/other, shop/web")
    ]


def test_c11_a_budget_over_nothing_where_no_pod_moves_is_only_worth_knowing():
    idle = budget("typo", namespace="bank", selects={"app": "wbe"}, max_unavailable=1)
    teller = pod("teller", namespace="bank", labels=APP, node="n2")
    assert ("info", "budget_selects_nothing", "PodDisruptionBudget bank/typo") in told(
        *NODES, *SPREAD, GUARD, teller, idle
    )


def test_c08_an_exhausted_budget_names_the_unhealthy_pods_and_their_nodes():
    exhausted = guarded_by(max_unavailable=1, healthy=2, desired=2, expected=3)
    sick = web(2, "n2", waiting="CrashLoopBackOff")
    (finding,) = assessed(*NODES, WEB, web(1, "n1"), sick, web(3, "n3"), exhausted).findings
    assert finding.sentence == (
        "Budget shop/web needs 2 healthy pods and has 2. shop/web-1 on n1 would wait."
        " Not healthy: shop/web-2 on n2 (CrashLoopBackOff)."
    )


CONSENT = [
    pytest.param(
        pod("bare", labels=APP, empty_dir=True),
        Consent(),
        [("error", "empty_dir", "Pod shop/bare"), ("error", "unmanaged", "Pod shop/bare")],
        id="C06-every-missing-consent-is-told",
    ),
    pytest.param(
        pod("bare", labels=APP, empty_dir=True),
        Consent(force=True, delete_emptydir_data=True),
        [("warning", "unmanaged", "Pod shop/bare"), ("info", "empty_dir", "Pod shop/bare")],
        id="what-a-consent-costs-is-told",
    ),
    pytest.param(
        pod("proxy-1", namespace="kube-system", owner=PROXY),
        Consent(),
        [("error", "daemonset_pod", "DaemonSet kube-system/proxy")],
        id="C05-a-daemonset-pod-without-consent",
    ),
    pytest.param(
        pod("proxy-1", namespace="kube-system", owner=PROXY),
        Consent(ignore_daemonsets=True),
        [],
        id="C05-with-consent-it-is-no-finding",
    ),
    pytest.param(pod("done", phase="Succeeded"), Consent(), [], id="C04-a-finished-pod"),
    pytest.param(
        pod("far", namespace="bank"), Consent(namespaces=("shop",)), [], id="a-pod-out-of-scope"
    ),
]


@pytest.mark.parametrize(("subject", "consent", "expected"), CONSENT)
def test_consent(subject, consent, expected):
    assert told(*NODES, *SPREAD, PROXY, GUARD, subject, consent=consent) == expected


def test_one_finding_per_owner_not_per_pod():
    pods = [
        pod(f"proxy-{name}", namespace="kube-system", owner=PROXY, node=name)
        for name in ("n1", "n2", "n3")
    ]
    (finding,) = assessed(*NODES, PROXY, *pods, batches=[("n1",), ("n2",), ("n3",)]).at_least(
        "error"
    )[:1]
    assert finding.sentence == (
        "kube-system/proxy-n1 is managed by DaemonSet kube-system/proxy, which would recreate it at"
        " once. So it is with 2 more of its pods on these nodes."
    )


LONE = controller("lone", replicas=1)
FRAGILE = (LONE, pod("lone-1", owner=LONE, labels={"app": "lone"}))
LONE_GUARD = budget("lone", selects={"app": "lone"}, max_unavailable=1, allowed=1, expected=1)


@pytest.mark.parametrize(
    ("policy", "level", "codes"),
    [
        ("evict", "warning", ["single_replica"]),
        ("defer", "warning", ["single_replica"]),
        ("refuse", "error", ["single_replica"]),
        ("surge", "warning", ["single_replica"]),
    ],
)
def test_fragile_pods_by_policy(policy, level, codes):
    found = told(*NODES, *FRAGILE, LONE_GUARD, consent=Consent(fragile=policy))
    assert found == [(level, code, "Deployment shop/lone") for code in codes]


def test_c35_all_ready_replicas_on_the_chosen_node_leave_one_by_one():
    landed = (WEB, web(1, "n2"), web(2, "n2"), web(3, "n2"))
    assert told(*NODES, *landed, chosen=("n2",)) == [
        ("warning", "all_ready_replicas", "ReplicaSet shop/web"),
        ("info", "no_budget", "ReplicaSet shop/web"),
    ]


def test_c35_counts_only_nodes_that_are_drained_together():
    assert ("warning", "all_ready_replicas", "ReplicaSet shop/web") not in told(
        *NODES, *SPREAD, batches=[("n1",), ("n2",), ("n3",)]
    )


NODE_CASES = [
    pytest.param(
        (node("n1"), node("n2")),
        web(1, "n1", deleted_at=NOW - timedelta(seconds=90)),
        [("warning", "terminating_past_grace", "Pod shop/web-1")],
        id="terminating-past-its-grace",
    ),
    pytest.param(
        (node("n1"), node("n2")),
        web(1, "n1", deleted_at=NOW - timedelta(seconds=20)),
        [],
        id="terminating-within-its-grace",
    ),
    pytest.param(
        (node("n1", ready="Unknown"), node("n2")),
        web(1, "n1", deleted_at=NOW - timedelta(seconds=900)),
        [("warning", "node_dead", "Node n1"), ("warning", "node_dead", "Pod shop/web-1")],
        id="C22-on-a-dead-node",
    ),
    pytest.param(
        (node("n1"),),
        web(1, "n1"),
        [
            ("error", "last_schedulable_node", "Node n1"),
            ("error", "no_room", "Pod shop/web-1"),
        ],
        id="the-last-node",
    ),
    pytest.param(
        (node("n1"), node("n2", cpu=100), node("n3", cpu=0)),
        web(1, "n1", requests={"cpu": 300}),
        [("error", "no_room", "Pod shop/web-1"), ("info", "node_left_out", "Node n3")],
        id="C39-no-room-and-a-node-left-out",
    ),
]


@pytest.mark.parametrize(("nodes", "subject", "expected"), NODE_CASES)
def test_nodes(nodes, subject, expected):
    assert told(*nodes, WEB, subject, GUARD, web(2, "n9"), web(3, "n9")) == expected


def test_c22_says_that_the_node_must_be_fenced():
    late = web(1, "n1", deleted_at=NOW - timedelta(seconds=900))
    found = assessed(node("n1", ready="Unknown"), node("n2"), WEB, late, GUARD).findings
    assert all("fenced: true" in one.remedy for one in found if one.code == "node_dead")


def test_the_last_node_is_only_worth_knowing_where_it_was_allowed():
    assert told(node("n1"), allow_last=True) == [("info", "last_schedulable_node", "Node n1")]


RULE = {
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "operations": ["CREATE"],
    "resources": ["pods/eviction"],
}


def hook(name="guard.example.com", **rule):
    return {
        "metadata": {"name": "guard"},
        "webhooks": [{"name": name, "failurePolicy": "Fail", "rules": [{**RULE, **rule}]}],
    }


@pytest.mark.parametrize(
    ("rule", "sees"),
    [
        pytest.param({}, True, id="pods-eviction"),
        pytest.param(
            {"resources": ["*/*"], "apiGroups": ["*"], "operations": ["*"]}, True, id="all"
        ),
        pytest.param({"resources": ["pods/*"]}, True, id="all-of-pods"),
        pytest.param({"resources": ["*"]}, False, id="a-star-has-no-subresources"),
        pytest.param({"resources": ["pods"]}, False, id="pods-alone"),
        pytest.param({"operations": ["DELETE"]}, False, id="another-operation"),
        pytest.param({"apiGroups": ["policy"]}, False, id="the-group-is-that-of-pods"),
        pytest.param({"scope": "Cluster"}, False, id="cluster-scoped-only"),
    ],
)
def test_webhooks_that_see_evictions(rule, sees):
    expected = [("info", "webhook_on_evictions", "ValidatingWebhookConfiguration guard")]
    assert told(*NODES, webhooks=[hook(**rule)]) == (expected if sees else [])


def test_kubevirts_webhook_is_known():
    raw = hook("virt-launcher-eviction-interceptor.kubevirt.io")
    (finding,) = assessed(*NODES, webhooks=[raw]).findings
    assert "is KubeVirt's" in finding.sentence


def test_unreadable_webhooks_are_a_finding():
    (finding,) = assessed(*NODES, webhooks=None, webhooks_problem="list is forbidden.").findings
    assert (finding.level, finding.code) == ("warning", "webhooks_unreadable")
    assert "list is forbidden." in finding.sentence


@pytest.mark.parametrize(("policy", "level"), [("evict", "info"), ("surge", "warning")])
def test_unreadable_autoscalers_matter_to_a_surge(policy, level):
    found = told(*NODES, unread=("list is forbidden.",), consent=Consent(fragile=policy))
    assert found == [(level, "autoscalers_unreadable", "HorizontalPodAutoscaler")]


def test_every_pod_has_a_forecast():
    exhausted = guarded_by(max_unavailable=1, healthy=2, desired=2, expected=3)
    found = assessed(
        *NODES,
        *SPREAD,
        exhausted,
        PROXY,
        pod("proxy-1", namespace="kube-system", owner=PROXY),
        pod("gone", namespace="bank", deleted_at=NOW),
        consent=Consent(ignore_daemonsets=True),
    )
    assert [(one.workload, one.node, one.answer, one.action, one.code) for one in found.pods] == [
        ("bank/gone", "n1", "passes", "await", "terminating"),
        ("kube-system/proxy-1", "n1", "passes", "leave", "daemonset_pod"),
        ("shop/web-1", "n1", "waits", "evict", "budget_exhausted"),
    ]
    assert {
        key: value for key, value in found.summary().items() if value
    } == {
        "nodes": 1, "pods": 3, "warning": 1, "passes": 2, "waits": 1,
        "evict": 1, "await": 1, "leave": 1,
    }  # fmt: skip


def test_every_code_is_in_the_catalogue():
    known = {code.name for code in CODES}
    members = (
        node("n1", ready="False"),
        node("n2", cpu=0),
        *SPREAD,
        *FRAGILE,
        pod("bare", empty_dir=True),
        web(9, "n1", deleted_at=NOW - timedelta(hours=1)),
        budget("none"),
        budget("one", selects=APP, max_unavailable=0),
    )
    found = assessed(*members, webhooks=[hook()])
    codes = {one.code for one in found.findings} | {one.code for one in found.pods if one.code}
    assert codes <= known
