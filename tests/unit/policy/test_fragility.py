# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""policy/fragility and policy/surge: who is fragile, who may go now, who may surge - C34, C35."""

from __future__ import annotations

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.objects import Owner
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.fragility import (
    Hold,
    fragile_reasons,
    may_leave,
    owner_key,
    owner_replicas,
    owner_state,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.surge import (
    rolling_bounds,
    surge_refusal,
)
from tests.unit.builders import NOW, autoscaler, budget, controller, fleet, pod

PREFIX = "fleet.evenkeel.dev/"
GUARD = budget(selector={}, max_unavailable=1, allowed=1)
WEB = controller("web", replicas=3)
WEB_SET = controller("web-6b", kind="ReplicaSet", owner=WEB)
DB = controller("db", kind="StatefulSet", replicas=3)
JOB = Owner("batch/v1", "Job", "import", "job")
CLONES = Owner("apps.kruise.io/v1alpha1", "CloneSet", "web", "clones")


def replicas(count, *, owner=WEB_SET, name="web", **kwargs):
    return tuple(pod(f"{name}-{index}", owner=owner, **kwargs) for index in range(count))


def codes(subject, *world):
    found = fragile_reasons(subject, fleet(subject, *world), PREFIX)
    return [reason.code for reason in found]


@pytest.mark.parametrize(
    ("subject", "world", "expected"),
    [
        pytest.param(
            pod("web-9", owner=WEB_SET), (GUARD, *replicas(2)), [], id="one-of-three-guarded"
        ),
        pytest.param(
            pod("web-9", owner=WEB_SET), replicas(2), ["no_budget"], id="no-budget-covers-it"
        ),
        pytest.param(
            pod("one", owner=controller("one", replicas=1)),
            (GUARD, controller("one", replicas=1)),
            ["single_replica"],
            id="C09-the-only-replica",
        ),
        pytest.param(
            pod(owner=CLONES), (GUARD,), ["single_replica"], id="the-only-pod-of-an-unknown-kind"
        ),
        pytest.param(
            pod("web-9", owner=CLONES),
            (GUARD, *replicas(2, owner=CLONES)),
            [],
            id="one-of-three-of-an-unknown-kind",
        ),
        pytest.param(
            pod("db-0", owner=DB),
            (GUARD, DB, pod("db-1", owner=DB)),
            ["ordered_stateful_set"],
            id="C34-ordered",
        ),
        pytest.param(
            pod("web-9", owner=WEB_SET),
            (GUARD, *replicas(2, phase="Pending")),
            ["last_ready_replica"],
            id="C35-last-ready",
        ),
        pytest.param(
            pod("web-9", owner=WEB_SET),
            (GUARD, *replicas(2, deleted_at=NOW)),
            ["last_ready_replica"],
            id="C35-terminating-ones-do-not-count",
        ),
        pytest.param(
            pod("web-9", owner=WEB_SET, phase="Pending"),
            (GUARD, *replicas(2, phase="Pending")),
            [],
            id="not-ready-itself",
        ),
    ],
)
def test_who_is_fragile(subject, world, expected):
    assert codes(subject, WEB, WEB_SET, *world) == expected


@pytest.mark.parametrize(
    ("key", "value", "fragile"),
    [
        ("cluster-autoscaler.kubernetes.io/safe-to-evict", "false", True),
        ("cluster-autoscaler.kubernetes.io/safe-to-evict", "true", False),
        ("karpenter.sh/do-not-disrupt", "true", True),
        ("karpenter.sh/do-not-disrupt", "1h30m", True),
        ("karpenter.sh/do-not-disrupt", "false", False),
        ("fleet.evenkeel.dev/fragile", "true", True),
        ("fleet.evenkeel.dev/fragile", "false", False),
        ("kairon.zyvor.dev/fragile", "true", False),
    ],
)
def test_marks(key, value, fragile):
    subject = pod("web-9", owner=WEB_SET, annotations={key: value})
    expected = ["marked_fragile"] if fragile else []
    assert codes(subject, WEB, WEB_SET, GUARD, *replicas(2)) == expected


def test_the_owner_is_the_deployment_and_its_replicas_are_of_all_its_replica_sets():
    old = controller("web-5a", kind="ReplicaSet", owner=WEB)
    pods = (pod("web-1", owner=WEB_SET), pod("web-2", owner=old))
    world = fleet(WEB, WEB_SET, old, *pods)
    assert owner_key(pods[0], world) == "Deployment shop/web"
    assert {found.key for found in owner_replicas(pods[0], world)} == {"shop/web-1", "shop/web-2"}


def hold(subject, owner, baseline, pods, leaving=()):
    key = owner.key if owner is not None else "CloneSet shop/web"
    found = may_leave(subject, owner_state(key, owner, baseline, pods, leaving))
    return found.code if isinstance(found, Hold) else None


READY = replicas(3)
SICK = pod("web-s", owner=WEB_SET, waiting="CrashLoopBackOff")
TWO = controller("two", replicas=2)
ONE = controller("one", replicas=1)
ORDINALS = replicas(3, owner=DB, name="db")
SICK_DB = pod("db-1", owner=DB, waiting="CrashLoopBackOff")


@pytest.mark.parametrize(
    ("subject", "owner", "baseline", "pods", "leaving", "expected"),
    [
        pytest.param(READY[0], WEB, 3, READY, (), None, id="all-ready"),
        pytest.param(
            READY[0], WEB, 3, READY, (READY[1].meta.uid,), "one_at_a_time", id="another-is-leaving"
        ),
        pytest.param(
            READY[0], WEB, 3, (*READY[:2], SICK), (), "replicas_missing", id="replacement-not-ready"
        ),
        pytest.param(
            READY[0], WEB, 2, (*READY[:2], SICK), (), None, id="it-was-two-of-three-at-the-start"
        ),
        pytest.param(SICK, WEB, 3, (*READY[:2], SICK), (), None, id="a-sick-one-takes-nothing"),
        pytest.param(
            READY[0], TWO, 3, READY[:2], (), None, id="scaled-down-meanwhile-is-not-waited-for"
        ),
        pytest.param(
            READY[0], WEB, 1, (READY[0], SICK), (), "last_ready_replica", id="C35-last-ready"
        ),
        pytest.param(READY[0], ONE, 1, READY[:1], (), None, id="a-single-replica-would-wait-ever"),
        pytest.param(
            READY[0], None, 3, READY[:2], (), "replicas_missing", id="an-unknown-kind-by-baseline"
        ),
        pytest.param(ORDINALS[0], DB, 3, ORDINALS, (), None, id="C34-all-ordinals-ready"),
        pytest.param(
            ORDINALS[0],
            DB,
            2,
            (ORDINALS[0], SICK_DB, ORDINALS[2]),
            (),
            "ordinal_not_ready",
            id="C34-an-ordinal-is-not-ready",
        ),
        pytest.param(
            SICK_DB,
            DB,
            2,
            (ORDINALS[0], SICK_DB, ORDINALS[2]),
            (),
            None,
            id="the-sick-one-may-move",
        ),
    ],
)
def test_who_may_leave(subject, owner, baseline, pods, leaving, expected):
    assert hold(subject, owner, baseline, pods, leaving) == expected


def test_a_jobs_ready_pods_need_not_come_back():
    subject = pod("import-1", owner=JOB)
    assert may_leave(subject, owner_state("Job shop/import", None, 5, (subject,), ())) is None


def test_a_hold_says_how_many_are_missing():
    assert may_leave(READY[0], owner_state(WEB.key, WEB, 3, READY[:2], ())) == Hold(
        "replicas_missing",
        "Deployment shop/web: 2 of 3 replicas are Ready; waits for 1 more",
    )


@pytest.mark.parametrize(
    ("replicas_", "surge", "unavailable", "bounds"),
    [
        pytest.param(3, None, None, (1, 0), id="the-defaults-of-25-percent-of-3"),
        pytest.param(4, None, None, (1, 1), id="the-defaults-of-25-percent-of-4"),
        pytest.param(1, "10%", "99%", (1, 0), id="surge-rounds-up-unavailable-down"),
        pytest.param(5, 0, "10%", (0, 1), id="both-0-means-one-unavailable"),
        pytest.param(5, 2, 0, (2, 0), id="integers-as-they-are"),
    ],
)
def test_bounds_of_a_rolling_update(replicas_, surge, unavailable, bounds):
    subject = controller(replicas=replicas_, max_surge=surge, max_unavailable=unavailable)
    assert rolling_bounds(subject) == bounds


@pytest.mark.parametrize(
    ("subject", "scalers", "code"),
    [
        pytest.param(controller(max_surge=1, max_unavailable=0), (), None, id="no-gap"),
        pytest.param(controller(replicas=4), (), "surge_gap", id="defaults-of-4-leave-a-gap"),
        pytest.param(controller(strategy="Recreate"), (), "surge_strategy", id="recreate"),
        pytest.param(controller(paused=True), (), "surge_paused", id="paused"),
        pytest.param(controller(replicas=0), (), "surge_no_replicas", id="scaled-to-0"),
        pytest.param(DB, (), "surge_needs_deployment", id="statefulset"),
        pytest.param(
            controller(kind="StatefulSet", strategy="OnDelete"),
            (),
            "surge_needs_deployment",
            id="on-delete",
        ),
        pytest.param(None, (), "surge_needs_deployment", id="unknown-owner"),
        pytest.param(
            controller(), (autoscaler(maximum=3),), "surge_autoscaler_at_maximum", id="hpa-at-max"
        ),
        pytest.param(
            controller(),
            (autoscaler(maximum=3, target="Deployment shop/api"),),
            None,
            id="other-hpa",
        ),
        pytest.param(controller(), (autoscaler(maximum=4),), None, id="hpa-with-room"),
    ],
)
def test_who_may_surge(subject, scalers, code):
    refusal = surge_refusal("" if subject is None else subject.key, subject, scalers)
    assert (refusal.code if refusal else None) == code
