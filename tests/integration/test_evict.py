# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Draining nodes of a real control plane: budgets, consents, order - C01 to C17."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.base import Cluster
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import (
    Forbidden,
    InvalidOption,
    Refused,
)
from tests.control_plane.space import Space
from tests.control_plane.webhooks import Denied

from .calling import Listener, cluster_of
from .draining import InBackground, by_code, drain, evictions


@pytest.fixture
def cluster(space: Space) -> Iterator[Cluster]:
    with cluster_of(space) as opened:
        yield opened


def one_of_two_nodes(space: Space) -> str:
    """The node that is emptied; another one takes what leaves it."""
    first: str = space.nodes(2)[0]
    return first


def test_a_batch_of_nodes_is_emptied_and_the_second_run_changes_nothing(
    space: Space, cluster: Cluster
) -> None:
    first, second = space.nodes(3)[:2]
    space.deployment("a", 4, node=first)
    space.deployment("b", 4, node=second)
    space.budget("a", max_unavailable=2)
    space.budget("b", max_unavailable=2)
    space.wait_running()
    space.cordon(first)
    space.cordon(second)

    report = drain(cluster, first, second)

    assert by_code(report) == {"done": ["evicted"] * 8}
    assert report.failure == ""
    assert report.changed is True
    assert space.pods(node=first) == space.pods(node=second) == []
    assert report.extra["owners"] == [
        {"kind": "Deployment", "namespace": space.namespace, "name": name, "ready": 4}
        for name in ("a", "b")
    ]
    again = drain(cluster, first, second)
    assert (again.changed, by_code(again)) == (False, {})


def test_c01_a_terminating_pod_is_not_evicted_but_waited_for(
    space: Space, cluster: Cluster
) -> None:
    first, second = space.nodes(2)
    space.statefulset("ss", 2, node=first, stop_seconds=3)
    space.budget("ss", min_available=1)
    space.wait_running()
    space.cordon(first)
    space.api.delete(space.path("v1", "pods", "ss-1"))

    report = drain(cluster, first)

    assert evictions(space) == ["ss-0"]
    assert by_code(report) == {"done": ["already_gone", "evicted"]}


def test_c03_one_pod_with_a_long_stop_is_waited_for(space: Space, cluster: Cluster) -> None:
    first, second = space.nodes(2)
    space.deployment("web", 1, node=first, stop_seconds=4, grace_seconds=60)
    space.wait_running()
    space.cordon(first)
    began = time.monotonic()

    report = drain(cluster, first)

    assert time.monotonic() - began >= 4
    assert by_code(report) == {"done": ["evicted"]}
    assert space.pods(node=first) == []


def test_c04_a_finished_bare_pod_never_blocks(space: Space, cluster: Cluster) -> None:
    first, second = space.nodes(2)
    space.bare_pod("once", node=first, finish_seconds=1)
    space.wait(lambda: space.pod("once")["status"]["phase"] == "Succeeded", "the pod to finish", 20)
    space.cordon(first)

    assert by_code(drain(cluster, first)) == {"done": ["evicted"]}


def test_c05_with_consents_only_the_deployments_pod_is_evicted(
    space: Space, cluster: Cluster
) -> None:
    first = one_of_two_nodes(space)
    space.mirror_pod("static", first)
    space.daemonset("agent", empty_dir=True)
    space.deployment("web", 1, node=first, empty_dir=True)
    space.wait_running()
    space.cordon(first)

    report = drain(cluster, first, delete_emptydir_data=True, ignore_daemonsets=True)

    assert by_code(report) == {
        "done": ["evicted"],
        "skipped": ["daemonset_pod", "mirror_pod"],
    }
    assert [name.partition("-")[0] for name in evictions(space)] == ["web"]


def test_c05_c06_without_consents_the_whole_call_is_refused_before_any_write(
    space: Space, cluster: Cluster
) -> None:
    first = one_of_two_nodes(space)
    space.deployment("web", 1, node=first, empty_dir=True)
    space.bare_pod("lone", node=first, empty_dir=True)
    space.deployment("fine", 1, node=first)
    space.wait_running()
    space.cordon(first)

    report = drain(cluster, first, delete_emptydir_data=True)

    assert report.failure == "refused"
    assert by_code(report) == {"failed": ["unmanaged"]}
    assert by_code(drain(cluster, first)) == {"failed": ["empty_dir", "unmanaged"]}
    assert space.writes("runner") == []


def test_c07_a_pod_of_two_budgets_is_refused_for_good_and_the_others_go_on(
    space: Space, cluster: Cluster
) -> None:
    first = one_of_two_nodes(space)
    space.deployment("both", 1, node=first, labels={"a": "1", "b": "1"})
    space.deployment("web", 2, node=first)
    # Before the budgets: what becomes Ready wakes only one of two budgets that select it.
    space.wait_running()
    space.budget("p1", {"a": "1"}, max_unavailable=1)
    space.budget("p2", {"b": "1"}, max_unavailable=1)
    space.budget("web", max_unavailable=1)
    space.wait_running()
    space.cordon(first)

    report = drain(cluster, first)

    assert by_code(report) == {"done": ["evicted"] * 2, "failed": ["several_budgets"]}
    assert report.failure == "several_budgets"
    assert f"{space.namespace}/p1, {space.namespace}/p2" in report.failed[0].detail


def test_c08_budgets_that_can_never_pass_are_refused_at_once(
    space: Space, cluster: Cluster
) -> None:
    first = one_of_two_nodes(space)
    space.deployment("one", 1, node=first)
    space.deployment("three", 3, node=first)
    space.budget("one", min_available=1)
    space.budget("three", max_unavailable=0)
    space.wait_running()
    space.cordon(first)
    began = time.monotonic()

    report = drain(cluster, first)

    assert time.monotonic() - began < 10
    assert by_code(report) == {"failed": ["budget_allows_none"] * 4}
    assert evictions(space) == []


def test_c10_an_unhealthy_pod_passes_a_budget_that_allows_nothing(
    space: Space, cluster: Cluster
) -> None:
    first, second = space.nodes(2)
    space.deployment("web", 2, node=second)
    space.budget("web", min_available=2)
    space.wait_running()
    space.bare_pod("sick", node=first, labels={"app": "web"}, behaviour="crash-loop")
    space.wait(lambda: bool(space.pod("sick")["status"].get("phase")), "the pod", 20)
    space.cordon(first)

    assert by_code(drain(cluster, first, force=True)) == {"done": ["evicted"]}


def test_c12_the_pod_whose_budget_opens_last_leaves_last(space: Space, cluster: Cluster) -> None:
    first = one_of_two_nodes(space)
    space.deployment("a-x", 1, node=first, labels={"group": "g"})
    space.deployment("b-y", 2, node=first, labels={"group": "g"}, behaviour="never-ready")
    space.budget("g", {"group": "g"}, min_available=1)
    space.wait(lambda: len(space.pods("b-y")) == 2, "the pods", 20)
    space.wait(
        lambda: (
            space.api.get(space.path("policy/v1", "poddisruptionbudgets", "g"))["status"].get(
                "currentHealthy"
            )
            == 1
        ),
        "the budget",
        20,
    )
    space.cordon(first)
    background = InBackground(lambda: drain(cluster, first))
    space.wait(lambda: space.pods("b-y", node=first) == [], "the unhealthy ones to leave", 30)
    # The replacements become Ready: the budget opens.
    for pod in space.pods("b-y"):
        space.api.patch(
            space.path("v1", "pods", pod["metadata"]["name"]),
            {"metadata": {"annotations": {"behaviour": None}}},
        )

    report = background.result()

    assert by_code(report) == {"done": ["evicted"] * 3}
    assert evictions(space)[-1].startswith("a-x")


def test_c16_check_mode_returns_at_once_writes_nothing_and_tells_the_first_acts(
    space: Space, cluster: Cluster
) -> None:
    first, second = space.nodes(2)
    space.deployment("web", 4, node=first, start_seconds=3)
    space.budget("web", max_unavailable=2)
    space.wait_running()
    space.cordon(first)
    began = time.monotonic()

    planned = drain(cluster, first, check_mode=True)

    assert time.monotonic() - began < 3
    assert space.writes("runner") == []
    assert by_code(planned) == {"done": ["evicted"] * 2, "pending": ["budget_exhausted"] * 2}
    assert by_code(drain(cluster, first)) == {"done": ["evicted"] * 4}
    first_two = set(evictions(space)[:2])
    assert {outcome.workload.partition("/")[2] for outcome in planned.done} == first_two


def test_c17_at_the_timeout_the_rest_is_listed_by_pod_budget_and_reason(
    space: Space, cluster: Cluster
) -> None:
    first, second = space.nodes(2)
    space.deployment("web", 4, node=first)
    space.budget("web", max_unavailable=2)
    space.deployment("shy", 2, node=first, labels={"group": "shy"})
    space.budget("shy", max_unavailable=1)
    space.wait_running()
    # Replacements that never become Ready: the budget stays exhausted after the first.
    space.cordon(first)
    space.api.patch(
        space.path("apps/v1", "deployments", "shy"),
        {"spec": {"paused": True}},
    )
    space.cordon(second)
    listener = Listener()

    report = drain(cluster, first, wait_timeout=6.0, allow_last=True, progress=listener)

    assert report.failure == "timeout"
    codes = {outcome.code for outcome in report.pending}
    assert codes == {"budget_exhausted"}
    assert f"PDB {space.namespace}/shy" in " ".join(each.detail for each in report.pending)
    assert any("waits for PDB" in text for text in listener.texts())


def test_one_blocked_pod_does_not_stop_the_others_and_opens_by_the_watch(
    space: Space, cluster: Cluster
) -> None:
    first, second = space.nodes(2)
    space.deployment("slow", 2, node=first, start_seconds=3)
    space.deployment("web", 2, node=first)
    space.budget("slow", max_unavailable=1)
    space.budget("web", max_unavailable=1)
    space.wait_running()
    space.cordon(first)

    report = drain(cluster, first)

    assert by_code(report) == {"done": ["evicted"] * 4}
    # Nothing was posted that the budgets were bound to refuse.
    assert len(evictions(space)) <= 5


def test_disable_eviction_deletes_past_the_budgets(space: Space, cluster: Cluster) -> None:
    first, second = space.nodes(2)
    space.deployment("web", 1, node=first)
    space.budget("web", max_unavailable=0)
    space.wait_running()
    space.cordon(first)

    report = drain(cluster, first, disable_eviction=True, grace_period_seconds=1)

    assert by_code(report) == {"done": ["forced"]}
    deletes = [write for write in space.writes("runner") if write.verb == "delete"]
    assert [write.resource for write in deletes] == ["pods"]


def test_pods_outside_the_selection_stay(space: Space, cluster: Cluster) -> None:
    first = one_of_two_nodes(space)
    space.deployment("web", 1, node=first)
    space.deployment("other", 1, node=first)
    space.wait_running()
    space.cordon(first)

    report = drain(cluster, first, pod_selector="app=web")

    assert by_code(report) == {"done": ["evicted"], "skipped": ["out_of_scope"]}
    assert len(space.pods("other", node=first)) == 1


def test_a_webhooks_denial_names_the_webhook_and_the_others_go_on(
    space: Space, cluster: Cluster
) -> None:
    first = one_of_two_nodes(space)
    space.deployment("web", 1, node=first)
    space.deployment("kept", 1, node=first)
    space.wait_running()
    space.cordon(first)
    space.webhook(
        lambda request: Denied("not today") if request["name"].startswith("kept") else None,
        resources=("pods/eviction",),
    )

    report = drain(cluster, first)

    assert by_code(report) == {"done": ["evicted"], "failed": ["webhook_denied"]}
    assert "not today" in report.msg


def test_max_parallel_1_takes_pod_after_pod(space: Space, cluster: Cluster) -> None:
    first, second = space.nodes(2)
    space.deployment("web", 3, node=first, stop_seconds=1)
    space.budget("web", max_unavailable=3)
    space.wait_running()
    space.cordon(first)
    began = time.monotonic()

    report = drain(cluster, first, max_parallel=1)

    assert by_code(report) == {"done": ["evicted"] * 3}
    assert time.monotonic() - began >= 3


def test_an_open_node_is_drained_with_a_warning(space: Space, cluster: Cluster) -> None:
    first = one_of_two_nodes(space)
    space.deployment("web", 1, node=first)
    space.wait_running()

    report = drain(cluster, first)

    assert by_code(report)["done"] == ["evicted"]
    assert f"Node {first} is not cordoned" in report.msg


def test_the_node_says_what_it_waits_for_and_nothing_once_it_is_empty(
    space: Space, cluster: Cluster
) -> None:
    first = one_of_two_nodes(space)
    space.deployment("web", 2, node=first, stop_seconds=6, start_seconds=4)
    space.budget("web", max_unavailable=1)
    space.wait_running()
    space.cordon(first)
    key = "example.com/waits-for"

    def line() -> str:
        return str(space.node(first)["metadata"]["annotations"].get(key, ""))

    background = InBackground(lambda: drain(cluster, first, status_annotation=key))
    space.wait(line, "a line on the node", 30)

    assert line() == (
        "2 pod(s) still on this node: 1 terminating,"
        f" 1 waiting for a budget ({space.namespace}/web)"
    )
    assert by_code(background.result()) == {"done": ["evicted"] * 2}
    assert line() == ""
    assert len([write for write in space.writes("runner") if write.resource == "nodes"]) <= 4


def test_a_node_that_may_not_be_written_is_told_of_once_and_emptied_all_the_same(
    space: Space, tmp_path: Path
) -> None:
    first = one_of_two_nodes(space)
    space.deployment("web", 1, node=first, stop_seconds=6)
    space.wait_running()
    space.cordon(first)
    listener = Listener()
    roles = tmp_path / "roles.yml"
    roles.write_text(READER + EVICTOR, encoding="utf-8")

    with cluster_of(space, "evictor", roles=roles) as limited:
        report = drain(limited, first, status_annotation="example.com/x", progress=listener)

    assert by_code(report) == {"done": ["evicted"]}
    assert len([text for text in listener.texts() if "could not be written" in text]) == 1


def test_requests_are_about_one_per_pod(space: Space, cluster: Cluster) -> None:
    first = one_of_two_nodes(space)
    for number in range(10):
        space.deployment(f"web-{number}", 2, node=first)
        space.budget(f"web-{number}", max_unavailable=1)
    space.wait_running()
    space.cordon(first)
    before = space.audit.mark()

    report = drain(cluster, first)

    assert by_code(report) == {"done": ["evicted"] * 20}
    assert len(space.requests("runner", since=before)) <= 30 + 1.5 * 20


@pytest.mark.parametrize(
    ("options", "error"),
    [
        pytest.param({"pod_selector": "a in ("}, InvalidOption, id="bad-pod-selector"),
    ],
)
def test_bad_options_are_refused_before_anything_is_read(
    space: Space, cluster: Cluster, options: dict[str, str], error: type[Exception]
) -> None:
    with pytest.raises(error):
        drain(cluster, "any", **options)
    assert space.requests("runner") == []


def test_an_unknown_node_is_refused(space: Space, cluster: Cluster) -> None:
    with pytest.raises(Refused, match="no-such-node"):
        drain(cluster, "no-such-node")


def test_a_missing_verb_is_named_before_any_write(space: Space, tmp_path: Path) -> None:
    first = one_of_two_nodes(space)
    space.deployment("web", 1, node=first)
    space.wait_running()
    roles = tmp_path / "roles.yml"
    roles.write_text(READER, encoding="utf-8")
    with (
        cluster_of(space, "reader", roles=roles) as reader,
        pytest.raises(Forbidden, match="create pods/eviction"),
    ):
        drain(reader, first)
    assert space.writes("reader") == []


READER = """
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reader}
rules:
  - apiGroups: ["", apps, policy, autoscaling, storage.k8s.io]
    resources: ["*"]
    verbs: [get, list, watch]
"""

EVICTOR = """
  - apiGroups: [""]
    resources: [pods/eviction]
    verbs: [create]
  - apiGroups: [coordination.k8s.io]
    resources: [leases]
    verbs: [get, list, create, update, patch, delete]
"""
