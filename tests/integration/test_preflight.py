# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Preflight's predictions against what the real Eviction API then answers - C07 to C11.

Each world is built on the control plane and judged; then an eviction of every pod is asked for as
a dry run, which changes nothing, so that every pod is answered in the state that was judged.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.base import Cluster
from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.kubernetes.connection import (
    Connection,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.registry import find
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.preflight import (
    PreflightOptions,
    preflight,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.run import Run
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import (
    InvalidOption,
    Refused,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.report import Report
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.node_selection import (
    NodeSelection,
)
from tests.control_plane.space import Space

ACCEPTED, REFUSED, BROKEN = 201, 429, 500
DOCTOR = Path(__file__).parents[2] / "docs" / "rbac" / "doctor.yml"
WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"


@dataclass(frozen=True)
class World:
    """build makes the workloads and budgets. healthy: what each budget counts when all is settled.

    pods: how many there are. unready: do some of them never become Ready?
    expected: workload name to preflight's (answer, code) and the Eviction API's status.
    """

    build: Callable[[Space, list[str]], object]
    pods: int
    healthy: dict[str, int]
    expected: dict[str, tuple[str, str, int]]
    unready: bool = False


def _guarded(name: str, replicas: int, **budget: Any) -> Callable[[Space, list[str]], None]:
    def build(space: Space, nodes: list[str]) -> None:
        space.deployment(name, replicas)
        space.budget(name, **budget)

    return build


def _overlapping(space: Space, nodes: list[str]) -> None:
    space.deployment("both", 2, labels={"a": "1", "b": "1"})
    space.deployment("free", 1)
    # Only then the budgets: the disruption controller tells one of the two when a pod gets Ready.
    space.wait_running()
    space.budget("p1", {"a": "1"}, max_unavailable=1)
    space.budget("p2", {"b": "1"}, max_unavailable=1)


def _one_crashing_one_pending(policy: str | None) -> Callable[[Space, list[str]], None]:
    def build(space: Space, nodes: list[str]) -> None:
        # Kept off the node that goes off: it would never start there.
        running = {"node": nodes[0], "pinned": True, "behaviour": "crash-loop"}
        space.deployment("a", 1, labels={"group": "c10"}, **running)
        # Bound past the scheduler to a node that is off: it stays Pending there.
        space.power_off(nodes[1])
        space.deployment("b", 1, labels={"group": "c10"}, spec={"nodeName": nodes[1]})
        space.budget("c10", {"group": "c10"}, max_unavailable=1, policy=policy)

    return build


def _two_healthy_one_crashing(space: Space, nodes: list[str]) -> None:
    space.deployment("good", 2, labels={"group": "c10"})
    space.deployment("bad", 1, labels={"group": "c10"}, behaviour="crash-loop")
    space.budget("c10", {"group": "c10"}, min_available=2)


def _without_scale(space: Space, nodes: list[str]) -> None:
    space.job("work", completions=3)
    space.budget("work", max_unavailable=1)


def _over_nothing(space: Space, nodes: list[str]) -> None:
    space.deployment("web", 1)
    space.budget("typo", "wbe", max_unavailable=1)


def _ownerless(space: Space, nodes: list[str]) -> None:
    space.bare_pod("bare")
    space.budget("bare", max_unavailable=1)


PASSES = ("passes", "", ACCEPTED)
NEVER = ("never", "budget_allows_none", REFUSED)

WORLDS = [
    pytest.param(
        World(
            _overlapping,
            3,
            {"p1": 2, "p2": 2},
            {"both": ("never", "several_budgets", BROKEN), "free": ("passes", "", ACCEPTED)},
        ),
        id="C07-two-budgets-over-one-pod",
    ),
    pytest.param(
        World(_guarded("one", 1, min_available=1), 1, {"one": 1}, {"one": NEVER}),
        id="C08-min-available-1-of-1",
    ),
    pytest.param(
        World(_guarded("three", 3, max_unavailable=0), 3, {"three": 3}, {"three": NEVER}),
        id="C08-max-unavailable-0",
    ),
    pytest.param(
        World(_guarded("seven", 7, min_available="50%"), 7, {"seven": 7}, {"seven": PASSES}),
        id="C09-7-pods-min-available-50-percent",
    ),
    pytest.param(
        World(_guarded("three", 3, max_unavailable="40%"), 3, {"three": 3}, {"three": PASSES}),
        id="C09-3-pods-max-unavailable-40-percent",
    ),
    pytest.param(
        World(_guarded("one", 1, max_unavailable="20%"), 1, {"one": 1}, {"one": PASSES}),
        id="C09-1-pod-max-unavailable-20-percent",
    ),
    pytest.param(
        World(_guarded("one", 1, min_available="80%"), 1, {"one": 1}, {"one": NEVER}),
        id="C09-1-pod-min-available-80-percent",
    ),
    pytest.param(
        World(_guarded("eight", 8, min_available="80%"), 8, {"eight": 8}, {"eight": PASSES}),
        id="C09-8-pods-min-available-80-percent",
    ),
    pytest.param(
        World(
            _one_crashing_one_pending(None),
            2,
            {"c10": 0},
            {"a": ("waits", "budget_exhausted", REFUSED), "b": PASSES},
            unready=True,
        ),
        id="C10-default-policy-holds-the-crashing-pod",
    ),
    pytest.param(
        World(
            _one_crashing_one_pending("AlwaysAllow"),
            2,
            {"c10": 0},
            {"a": PASSES, "b": PASSES},
            unready=True,
        ),
        id="C10-always-allow-lets-both-go",
    ),
    pytest.param(
        World(
            _two_healthy_one_crashing,
            3,
            {"c10": 2},
            {"good": ("waits", "budget_exhausted", REFUSED), "bad": PASSES},
            unready=True,
        ),
        id="C10-the-crashing-pod-may-go-at-0-allowed",
    ),
    pytest.param(
        World(
            _without_scale,
            3,
            {"work": 0},
            {"work": ("never", "budget_without_scale", REFUSED)},
            unready=True,
        ),
        id="C11-an-owner-without-scale",
    ),
    pytest.param(
        World(
            _ownerless,
            1,
            {"bare": 1},
            {"bare": ("never", "budget_without_scale", REFUSED)},
        ),
        id="C11-pods-without-an-owner",
    ),
    pytest.param(
        World(_over_nothing, 1, {"typo": 0}, {"web": PASSES}),
        id="C11-a-budget-over-nothing-blocks-nothing",
    ),
]


@pytest.fixture
def cluster(space: Space) -> Iterator[Cluster]:
    """As a user that may do exactly what docs/rbac/doctor.yml says."""
    opened = find(Connection(kubeconfig=str(space.kubeconfig(roles=DOCTOR)))).cluster()
    yield opened
    opened.close()


@pytest.mark.parametrize("world", WORLDS)
def test_the_eviction_api_answers_as_predicted(
    space: Space, cluster: Cluster, world: World
) -> None:
    names = space.nodes(2)
    world.build(space, names)
    _settle(space, world)

    report = _preflight(cluster, nodes=tuple(names))
    predicted = {row["workload"].split("/")[1]: row for row in report.extra["pods"]}
    seen: dict[str, set[tuple[str, str, int]]] = defaultdict(set)
    for pod in space.pods():
        name = pod["metadata"]["name"]
        row = predicted[name]
        # A pod that passes may still be fragile, and says so; that is not the API's affair.
        code = "" if row["answer"] == "passes" else row["code"]
        seen[pod["metadata"]["labels"]["app"]].add((row["answer"], code, _dry_run(space, name)))

    assert seen == {name: {answer} for name, answer in world.expected.items()}
    assert space.writes() == []


def test_c11_a_budget_over_nothing_is_a_warning_that_names_its_selector(
    space: Space, cluster: Cluster
) -> None:
    names = space.nodes(2)
    _over_nothing(space, names)
    space.wait_running()
    (finding,) = _findings(space, _preflight(cluster, nodes=tuple(names)), "budget_selects_nothing")
    assert finding["level"] == "warning"
    assert "app=wbe" in finding["sentence"]


def test_c07_the_finding_is_an_error_that_names_both_budgets(
    space: Space, cluster: Cluster
) -> None:
    names = space.nodes(2)
    _overlapping(space, names)
    _settle(space, World(_overlapping, 3, {"p1": 2, "p2": 2}, {}))
    report = _preflight(cluster, nodes=tuple(names), fail_on="error")
    (finding,) = _findings(space, report, "several_budgets")
    assert finding["level"] == "error"
    assert f"{space.namespace}/p1, {space.namespace}/p2" in finding["subject"]
    assert report.failure == "findings"


@pytest.mark.parametrize(
    ("fail_on", "failure"), [("error", ""), ("warning", "findings"), ("never", "")]
)
def test_fail_on(space: Space, cluster: Cluster, fail_on: str, failure: str) -> None:
    first, *_unused = space.nodes(2)
    space.deployment("lone", 1, node=first)
    space.budget("lone", max_unavailable=1)
    space.wait_running()
    report = _preflight(cluster, nodes=(first,), fail_on=fail_on)
    assert (report.failure, report.changed) == (failure, False)
    assert report.extra["summary"]["warning"] >= 1
    assert "has one replica" in report.msg


def test_c39_capacity_names_the_first_pod_that_fits_nowhere_and_the_node_without_cpu(
    space: Space, cluster: Cluster
) -> None:
    # Larger than whatever nodes other tests have on the shared plane.
    first, second = space.nodes(2, cpu="4000")
    (useless,) = space.nodes(1, cpu="0")
    space.deployment("big", 2, cpu="2500")
    space.wait_running()
    report = _preflight(cluster, nodes=(first,))
    (misfit,) = report.extra["capacity"]["misfits"]
    assert misfit["nearest"] == second
    assert misfit["short"] == {"cpu": 1_000_000}
    assert "1000000m CPU" in misfit["detail"]
    assert "no_room" in [one["code"] for one in report.extra["findings"]]
    assert f"Node {useless}" in _subjects(report, "node_left_out")


def test_webhooks_on_evictions_are_named(space: Space, cluster: Cluster) -> None:
    (only,) = space.nodes(1)
    space.add(WEBHOOKS, _webhook(f"{space.id}-guard"))
    subjects = _subjects(_preflight(cluster, nodes=(only,)), "webhook_on_evictions")
    assert f"ValidatingWebhookConfiguration {space.id}-guard" in subjects


def test_webhooks_that_may_not_be_read_are_a_finding(space: Space, tmp_path: Path) -> None:
    (only,) = space.nodes(1)
    roles = tmp_path / "roles.yml"
    role = yaml.safe_load(DOCTOR.read_text())
    role["rules"] = [rule for rule in role["rules"] if "admission" not in rule["apiGroups"][0]]
    roles.write_text(yaml.safe_dump(role))
    limited = find(Connection(kubeconfig=str(space.kubeconfig("limited", roles=roles)))).cluster()
    try:
        report = _preflight(limited, nodes=(only,))
    finally:
        limited.close()
    assert _subjects(report, "webhooks_unreadable") == ["ValidatingWebhookConfiguration"]


def test_c22_a_pod_past_its_grace_on_a_dead_node(space: Space, cluster: Cluster) -> None:
    first, *_unused = space.nodes(2)
    space.statefulset("db", 1, node=first, grace_seconds=1)
    space.wait_running()
    space.power_off(first)
    space.api.delete(space.path("v1", "pods", "db-0"))
    findings = _preflight(cluster, nodes=(first,)).extra["findings"]
    (dead,) = [one for one in findings if one["code"] == "node_dead"]
    assert dead["subject"] == f"Node {first}"
    assert "fenced: true" in dead["remedy"]


def test_what_is_wrong_with_the_options_is_told_before_anything_is_read(
    space: Space, cluster: Cluster
) -> None:
    for options in (
        PreflightOptions(selection=NodeSelection(where="zone ==")),
        PreflightOptions(selection=NodeSelection()),
        PreflightOptions(pod_selector="a in b"),
        PreflightOptions(fail_on="errors"),
    ):
        with pytest.raises(InvalidOption):
            preflight(options, cluster, Run(holder="test"))
    assert space.requests() == []


def test_an_unknown_node_is_refused(space: Space, cluster: Cluster) -> None:
    with pytest.raises(Refused, match="no-such-node"):
        _preflight(cluster, nodes=("no-such-node",))


def test_the_whole_cluster_is_judged_node_by_node(space: Space, cluster: Cluster) -> None:
    names = space.nodes(2)
    space.deployment("web", 2)
    space.wait_running()
    report = preflight(PreflightOptions(fail_on="never"), cluster, Run(holder="test"))
    mine = [row for row in report.extra["pods"] if row["node"] in names]
    assert len(mine) == 2
    assert not [
        one
        for one in report.extra["findings"]
        if one["code"] in ("last_schedulable_node", "all_ready_replicas")
        and any(name in one["sentence"] for name in names)
    ]


def _preflight(cluster: Cluster, *, nodes: tuple[str, ...], fail_on: str = "never") -> Report:
    options = PreflightOptions(
        selection=NodeSelection(nodes=nodes), force=True, ignore_daemonsets=True, fail_on=fail_on
    )
    return preflight(options, cluster, Run(holder="test"))


def _findings(space: Space, report: Report, code: str) -> list[dict[str, str]]:
    """Those of this space: budgets are judged in the whole cluster."""
    found = [one for one in report.extra["findings"] if one["code"] == code]
    return [one for one in found if f"{space.namespace}/" in one["subject"]]


def _subjects(report: Report, code: str) -> list[str]:
    return [one["subject"] for one in report.extra["findings"] if one["code"] == code]


def _settle(space: Space, world: World) -> None:
    """Waits for what the world will stay like; `wait_running` waits for all that gets Ready."""
    if not world.unready:
        space.wait_running()
    space.wait(lambda: len(_bound(space)) == world.pods, "all pods are bound")
    space.wait(lambda: all(_started(pod) for pod in space.pods()), "phases are as they stay")
    for name, healthy in world.healthy.items():
        space.wait(lambda n=name, h=healthy: _counts(space, n, h), f"budget {name} is worked out")


def _bound(space: Space) -> list[Any]:
    return [pod for pod in space.pods() if pod["spec"].get("nodeName")]


def _started(pod: Any) -> bool:
    """Running, but for the one that world C10 wants Pending."""
    phase = pod["status"].get("phase")
    return bool(phase == ("Pending" if pod["metadata"]["labels"]["app"] == "b" else "Running"))


def _counts(space: Space, name: str, healthy: int) -> bool:
    budget = space.api.get(space.path("policy/v1", "poddisruptionbudgets", name))
    status = budget.get("status", {})
    failed = any(one["reason"] == "SyncFailed" for one in status.get("conditions", ()))
    seen = status.get("observedGeneration") == budget["metadata"]["generation"]
    return failed or (seen and status.get("currentHealthy") == healthy)


def _dry_run(space: Space, pod: str) -> int:
    body = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": pod, "namespace": space.namespace},
        "deleteOptions": {"dryRun": ["All"]},
    }
    path = space.path("v1", "pods", pod) + "/eviction"
    return space.api.request("POST", path, body).status


def _webhook(name: str) -> dict[str, Any]:
    """Sees evictions in no namespace: the selector matches none."""
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": ["pods/eviction"],
        "scope": "*",
    }
    webhook = {
        "name": "guard.example.com",
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "failurePolicy": "Ignore",
        "namespaceSelector": {"matchLabels": {"evenkeel-test": "no-such-namespace"}},
        "clientConfig": {"url": "https://127.0.0.1:1/"},
        "rules": [rule],
    }
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [webhook],
    }
