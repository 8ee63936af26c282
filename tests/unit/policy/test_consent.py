# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""policy/consent: scope, mirror, DaemonSet, terminating, finished, machines, unmanaged, emptyDir,
fragile - C01, C04, C05, C06, C34, C35."""

from __future__ import annotations

import itertools

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.codes import CODES
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.objects import Owner
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.selector import (
    parse_selector_text,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.consent import (
    AWAIT,
    DECISIONS,
    EVICT,
    FRAGILE_POLICIES,
    LEAVE,
    REFUSE,
    Consent,
    judge,
)
from tests.unit import builders
from tests.unit.builders import NOW, budget, controller, fleet, pod

WEB = controller("web", replicas=3)
WEB_SET = controller("web-6b", kind="ReplicaSet", owner=WEB)
PROXY = controller("proxy", kind="DaemonSet", namespace="kube-system")
DB = controller("db", kind="StatefulSet", replicas=3)
CLONES = Owner("apps.kruise.io/v1alpha1", "CloneSet", "web", "clones")
GUARD = budget(selector={}, max_unavailable=1, allowed=1)
OTHERS = (pod("web-8", owner=WEB_SET, node="n2"), pod("web-9", owner=WEB_SET, node="n3"))
ORDINALS = (pod("db-1", owner=DB, node="n2"), pod("db-2", owner=DB, node="n3"))
WORLD = (WEB, WEB_SET, PROXY, DB, GUARD, *OTHERS, *ORDINALS)
NO_CONSENT = Consent()
ALL_CONSENTS = Consent(delete_emptydir_data=True, ignore_daemonsets=True, force=True)


def verdict_on(subject, consent=NO_CONSENT, world=WORLD):
    """(decision, codes of all reasons)."""
    verdict = judge(subject, fleet(subject, *world), consent)
    return verdict.decision, tuple(reason.code for reason in verdict.reasons)


def ours(name="web-1", **kwargs):
    return pod(name, owner=WEB_SET, **kwargs)


def daemon(**kwargs):
    return pod("proxy-1", namespace="kube-system", owner=PROXY, **kwargs)


WITHOUT_CONSENT = [
    pytest.param(ours(), EVICT, (), id="a-guarded-replica-of-a-deployment-is-evicted"),
    pytest.param(pod(owner=CLONES), EVICT, ("single_replica",), id="unknown-owner-kind-is-managed"),
    pytest.param(
        ours(deleted_at=NOW), AWAIT, ("terminating",), id="C01-a-terminating-pod-is-awaited"
    ),
    pytest.param(
        pod(deleted_at=NOW, empty_dir=True), AWAIT, ("terminating",), id="no-consent-for-what-goes"
    ),
    pytest.param(pod(phase="Succeeded"), EVICT, ("finished",), id="C04-finished-bare-pod-no-force"),
    pytest.param(
        ours(phase="Failed", empty_dir=True), EVICT, ("finished",), id="C04-finished-with-emptydir"
    ),
    pytest.param(daemon(phase="Failed"), EVICT, ("finished",), id="C04-finished-daemonset-pod"),
    pytest.param(
        pod(mirror=True, owner=Owner("v1", "Node", "n1", "node")),
        LEAVE,
        ("mirror_pod",),
        id="C05-a-mirror-pod-is-left",
    ),
    pytest.param(daemon(), REFUSE, ("daemonset_pod",), id="C05-a-daemonset-pod-needs-consent"),
    pytest.param(ours(empty_dir=True), REFUSE, ("empty_dir",), id="C05-an-emptydir-needs-consent"),
    pytest.param(
        pod(empty_dir=True), REFUSE, ("unmanaged", "empty_dir"), id="C06-both-reasons-are-told"
    ),
    pytest.param(
        ours(labels={"kubevirt.io": "virt-launcher"}, empty_dir=True),
        REFUSE,
        ("machine_pod",),
        id="a-launcher-pod-is-a-machine",
    ),
    pytest.param(
        ours(labels={"kubevirt.io": "hotplug-disk"}),
        REFUSE,
        ("hotplug_pod",),
        id="a-hotplug-pod-belongs-to-a-machine",
    ),
]


@pytest.mark.parametrize(("subject", "decision", "codes"), WITHOUT_CONSENT)
def test_without_consent(subject, decision, codes):
    assert verdict_on(subject) == (decision, codes)


ORPHANED = pod("proxy-1", owner=Owner("apps/v1", "DaemonSet", "gone", "gone"), empty_dir=True)
WITH_CONSENT = [
    pytest.param(
        pod(empty_dir=True),
        Consent(delete_emptydir_data=True),
        REFUSE,
        ("unmanaged", "empty_dir"),
        id="C06-emptydir-consent-alone-does-not-move-a-bare-pod",
    ),
    pytest.param(
        pod(empty_dir=True),
        Consent(force=True),
        REFUSE,
        ("empty_dir", "unmanaged"),
        id="C06-force-alone-does-not-lose-an-emptydir",
    ),
    pytest.param(
        pod(empty_dir=True),
        Consent(force=True, delete_emptydir_data=True),
        EVICT,
        ("unmanaged", "empty_dir"),
        id="C06-both-consents-move-it",
    ),
    pytest.param(
        daemon(empty_dir=True),
        Consent(ignore_daemonsets=True),
        LEAVE,
        ("daemonset_pod",),
        id="C05-an-ignored-daemonset-pod-needs-no-emptydir-consent",
    ),
    pytest.param(
        daemon(deleted_at=NOW),
        Consent(ignore_daemonsets=True),
        LEAVE,
        ("daemonset_pod",),
        id="an-ignored-terminating-daemonset-pod-is-not-waited-for",
    ),
    pytest.param(
        ORPHANED,
        Consent(ignore_daemonsets=True),
        REFUSE,
        ("daemonset_gone", "empty_dir", "single_replica"),
        id="a-daemonset-that-is-gone-counts-as-unmanaged",
    ),
    pytest.param(
        ORPHANED,
        Consent(force=True, delete_emptydir_data=True),
        EVICT,
        ("daemonset_gone", "empty_dir", "single_replica"),
        id="its-pod-goes-with-force",
    ),
    pytest.param(
        ours(labels={"kubevirt.io": "virt-launcher"}),
        ALL_CONSENTS,
        REFUSE,
        ("machine_pod",),
        id="no-consent-evicts-a-machine-as-a-pod",
    ),
    pytest.param(
        ours(labels={"app": "web"}),
        Consent(pod_selector=parse_selector_text("app!=web")),
        LEAVE,
        ("out_of_scope",),
        id="a-pod-outside-the-selector-is-left",
    ),
    pytest.param(
        pod(empty_dir=True),
        Consent(namespaces=("bank",)),
        LEAVE,
        ("out_of_scope",),
        id="what-is-not-meant-is-never-refused",
    ),
    pytest.param(
        ours(labels={"app": "web"}),
        Consent(pod_selector=parse_selector_text("app=web"), namespaces=("bank", "shop")),
        EVICT,
        (),
        id="a-pod-inside-both-is-judged",
    ),
]


@pytest.mark.parametrize(("subject", "consent", "decision", "codes"), WITH_CONSENT)
def test_with_consent(subject, consent, decision, codes):
    assert verdict_on(subject, consent) == (decision, codes)


@pytest.mark.parametrize(
    ("policy", "decision", "codes"),
    [
        ("evict", EVICT, ("ordered_stateful_set",)),
        ("defer", LEAVE, ("ordered_stateful_set",)),
        ("refuse", REFUSE, ("ordered_stateful_set",)),
        ("surge", REFUSE, ("surge_needs_deployment", "ordered_stateful_set")),
    ],
)
def test_the_policy_for_fragile_pods(policy, decision, codes):
    subject = pod("db-0", owner=DB)
    assert verdict_on(subject, Consent(fragile=policy)) == (decision, codes)


def test_a_missing_consent_outranks_a_deferred_fragile_pod():
    subject = pod("db-0", owner=DB, empty_dir=True)
    assert verdict_on(subject, Consent(fragile="defer")) == (
        REFUSE,
        ("empty_dir", "ordered_stateful_set"),
    )


def test_surge_evicts_where_the_rollout_leaves_no_gap():
    lone = controller("lone", replicas=1, max_surge=1, max_unavailable=0)
    subject = pod("lone-1", owner=lone)
    verdict = judge(subject, fleet(subject, lone, GUARD), Consent(fragile="surge"))
    assert (verdict.decision, verdict.code, verdict.fragile) == (EVICT, "single_replica", True)


def test_c05_only_the_deployments_pod_is_evicted():
    consent = Consent(delete_emptydir_data=True, ignore_daemonsets=True)
    subjects = (
        pod("static", mirror=True, empty_dir=True),
        daemon(empty_dir=True),
        ours(empty_dir=True),
    )
    decisions = [verdict_on(subject, consent)[0] for subject in subjects]
    assert decisions == [LEAVE, LEAVE, EVICT]


def test_a_refusal_names_the_pod_the_rule_and_the_option_that_allows_it():
    verdict = judge(ours(empty_dir=True), fleet(*WORLD), Consent())
    assert verdict.detail == (
        "shop/web-1 has an emptyDir volume, whose data is lost with the pod."
        " Set delete_emptydir_data: true to accept that."
    )


def test_a_refusal_does_not_speak_of_what_refuses_nothing():
    subject = ours(empty_dir=True)
    unguarded = fleet(subject, *(one for one in WORLD if one is not GUARD))
    verdict = judge(subject, unguarded, Consent())
    assert [reason.code for reason in verdict.further] == ["no_budget"]
    assert "PodDisruptionBudget" not in verdict.detail


def test_every_combination_gives_a_decision_and_catalogued_codes():
    known = {code.name for code in CODES}
    owners = (None, WEB_SET, PROXY, DB, CLONES, ORPHANED.meta.owner)
    phases = ("Running", "Pending", "Succeeded", "Failed")
    consents = [
        Consent(delete_emptydir_data=a, ignore_daemonsets=b, force=c, fragile=policy)
        for a, b, c in itertools.product((False, True), repeat=3)
        for policy in FRAGILE_POLICIES
    ]
    for owner, phase, empty_dir, mirror in itertools.product(
        owners, phases, (False, True), (False, True)
    ):
        subject = builders.pod(owner=owner, phase=phase, empty_dir=empty_dir, mirror=mirror)
        world = fleet(subject, *WORLD)
        for consent in consents:
            verdict = judge(subject, world, consent)
            assert verdict.decision in DECISIONS
            assert {reason.code for reason in verdict.reasons} <= known
            assert verdict.reasons or verdict.decision == EVICT
