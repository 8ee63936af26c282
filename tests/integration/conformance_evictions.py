# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What is asked of both servers about evictions and their budgets."""

from __future__ import annotations

from typing import Any

from tests.control_plane.api import Document

from .conformance import Script, Side, pod, running
from .conformance_scripts import ANOTHER_UID

BUDGETS = ("policy/v1", "poddisruptionbudgets")


def evict(side: Side, name: str, *, query: str = "", **options: Any) -> Document:
    body = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": name, "namespace": side.namespace},
        **({"deleteOptions": options} if options else {}),
    }
    return side.post(f"{side.pods}/{name}/eviction{query}", body)


def run_pod(side: Side, name: str, *, ready: bool = True, labels: Any = None) -> Document:
    """A pod that runs on the node that no kubelet looks after."""
    made = side.quietly("POST", side.pods, pod(name, node=side.node, labels=labels))
    return side.quietly("PUT", f"{side.pods}/{name}/status", {**made, **running(ready)})


def guard(side: Side, name: str, healthy: int, **spec: Any) -> str:
    """A budget over app=web, and what the disruption controller makes of it."""
    selector = {"matchLabels": {"app": "web"}}
    body = {"metadata": {"name": name}, "spec": {"selector": selector, **spec}}
    side.quietly("POST", side.path(*BUDGETS), body)
    path = side.path(*BUDGETS, name)
    side.settle(path, lambda found: settled(found, healthy))
    return path


def settled(budget: Document, healthy: int) -> bool:
    status = budget["status"]
    return status.get("observedGeneration") == 1 and status["currentHealthy"] == healthy


def evicting_what_nobody_guards(side: Side) -> None:
    run_pod(side, "a")
    evict(side, "a", query="?dryRun=All", dryRun=["All"])
    side.get(f"{side.pods}/a")
    evict(side, "a", gracePeriodSeconds=9)
    side.get(f"{side.pods}/a")
    evict(side, "a")
    evict(side, "a", gracePeriodSeconds=3)
    side.get(f"{side.pods}/a")
    evict(side, "missing")


def evicting_in_the_wrong_way(side: Side) -> None:
    run_pod(side, "a")
    path = f"{side.pods}/a/eviction"
    head = {"apiVersion": "policy/v1", "kind": "Eviction"}
    side.post(path, {**head, "metadata": {"name": "b"}})
    side.post(path, {**head, "metadata": {"name": "a", "namespace": "default"}})
    evict(side, "a", preconditions={"uid": ANOTHER_UID})
    evict(side, "a", preconditions={"resourceVersion": "1"})
    evict(side, "a", query="?dryRun=All", gracePeriodSeconds=5)
    evict(side, "a", query="?dryRun=All")
    side.get(f"{side.pods}/a")


def evicting_with_preconditions(side: Side) -> None:
    first, second = run_pod(side, "a")["metadata"], run_pod(side, "b")["metadata"]
    evict(side, "a", preconditions={"uid": first["uid"]})
    evict(side, "b", preconditions={"resourceVersion": second["resourceVersion"]})
    side.get(f"{side.pods}/b")


def evicting_against_a_budget(side: Side) -> None:
    run_pod(side, "a")
    run_pod(side, "b")
    guard(side, "all", 2, minAvailable=2)
    evict(side, "a")
    evict(side, "a", dryRun=["All"])
    evict(side, "a", preconditions={"uid": ANOTHER_UID})
    side.get(f"{side.pods}/a")


def evicting_within_a_budget(side: Side) -> None:
    for name in ("a", "b", "c"):
        run_pod(side, name)
    path = guard(side, "two", 3, minAvailable=2)
    evict(side, "a", dryRun=["All"])
    evict(side, "b")
    side.settle(path, lambda found: found["status"]["currentHealthy"] == 2)
    evict(side, "c")


def evicting_another_pod_of_the_name(side: Side) -> None:
    run_pod(side, "a")
    run_pod(side, "b")
    guard(side, "one", 2, minAvailable=1)
    evict(side, "a", preconditions={"uid": ANOTHER_UID})


def evicting_pods_that_are_not_ready(side: Side) -> None:
    run_pod(side, "sick", ready=False)
    run_pod(side, "well")
    guard(side, "one", 1, minAvailable=1)
    evict(side, "sick")
    evict(side, "well")


def evicting_sick_pods_of_sick_workloads(side: Side) -> None:
    run_pod(side, "a", ready=False)
    path = guard(side, "one", 0, minAvailable=1)
    evict(side, "a")
    side.ask(
        "PATCH",
        path,
        {"spec": {"unhealthyPodEvictionPolicy": "AlwaysAllow"}},
        "application/merge-patch+json",
    )
    side.settle(path, lambda found: found["status"].get("observedGeneration") == 2)
    evict(side, "a")


def evicting_what_budgets_ignore(side: Side) -> None:
    for name in ("done", "waiting"):
        side.quietly("POST", side.pods, pod(name, node=side.node))
    ended = {**pod("done"), "status": {"phase": "Succeeded"}}
    side.quietly("PUT", f"{side.pods}/done/status", ended)
    guard(side, "none", 0, maxUnavailable=0, selector={"matchLabels": {"nobody": "here"}})
    guard(side, "all", 0, minAvailable=2)
    evict(side, "done")
    side.get(f"{side.pods}/done")
    evict(side, "waiting")


def evicting_what_two_budgets_guard(side: Side) -> None:
    run_pod(side, "a")
    guard(side, "first", 1, minAvailable=0)
    guard(side, "second", 1, minAvailable=0)
    evict(side, "a")
    evict(side, "a", dryRun=["All"])


def evicting_what_has_no_scale(side: Side) -> None:
    """C11: a percentage of pods that nobody owns."""
    run_pod(side, "a")
    selector = {"matchLabels": {"app": "web"}}
    body = {"metadata": {"name": "share"}, "spec": {"selector": selector, "maxUnavailable": "50%"}}
    side.quietly("POST", side.path(*BUDGETS), body)
    side.settle(side.path(*BUDGETS, "share"), lambda found: "conditions" in found["status"])
    evict(side, "a")


def budgets_that_cannot_be(side: Side) -> None:
    path = side.path(*BUDGETS)
    selector = {"matchLabels": {"app": "web"}}
    both = {"selector": selector, "minAvailable": 1, "maxUnavailable": 1}
    side.refused("POST", path, {"metadata": {"name": "both"}, "spec": both})
    side.post(path, {"metadata": {"name": "ok"}, "spec": {"selector": selector}})
    side.put(f"{path}/ok", {"metadata": {"name": "ok"}, "spec": {"selector": selector}})


SCRIPTS: tuple[Script, ...] = (
    evicting_what_nobody_guards,
    evicting_in_the_wrong_way,
    evicting_with_preconditions,
    evicting_against_a_budget,
    evicting_within_a_budget,
    evicting_another_pod_of_the_name,
    evicting_pods_that_are_not_ready,
    evicting_sick_pods_of_sick_workloads,
    evicting_what_budgets_ignore,
    evicting_what_two_budgets_guard,
    evicting_what_has_no_scale,
    budgets_that_cannot_be,
)
