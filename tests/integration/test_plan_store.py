# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Plans in ConfigMaps: nothing of them is lost, and of two runners one stops."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.plan_store import (
    PlanStore,
    Stored,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import (
    Conflict,
    NotFound,
    Refused,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.plan.document import (
    DONE,
    Plan,
    Step,
    advanced,
    begun,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.plan.status import (
    EXECUTING,
    FAILED,
    GENERATING,
    READY,
    ROLLING,
)
from tests.control_plane.space import Space

from .calling import PREFIX, cluster_of

NOW = datetime(2026, 12, 1, 12, 0, 0, tzinfo=timezone.utc)


@pytest.fixture
def store(space: Space) -> Iterator[PlanStore]:
    """Its pieces are small, so that a plan of some steps has several."""
    with cluster_of(space, "admin") as cluster:
        yield PlanStore(cluster, space.namespace, PREFIX, largest=500)


def made(plan_id: str, steps: int = 200) -> tuple[Plan, Plan]:
    """As it is asked for, and as it is ready."""
    asked = begun(plan_id, "org", "cluster", ROLLING, NOW)
    found = tuple(Step(str(i), "drain", f"n{i}", f"uid-{i * 7919}") for i in range(steps))
    return asked, advanced(replace(asked, steps=found), READY, NOW)


def stored(store: PlanStore, plan_id: str) -> Stored:
    asked, ready = made(plan_id)
    return store.complete(store.create(asked), ready)


def config_maps(space: Space) -> list[str]:
    found = space.api.list(f"/api/v1/namespaces/{space.namespace}/configmaps")
    names = [str(one["metadata"]["name"]) for one in found]
    return sorted(name for name in names if name.startswith("fleet-plan-"))


def test_a_plan_is_read_as_it_was_written_at_each_of_its_statuses(store: PlanStore) -> None:
    asked, ready = made("p1")
    first = store.create(asked)
    assert store.get("p1") == first
    second = store.complete(first, ready)
    assert store.get("p1") == second
    assert second.plan == ready
    running = advanced(ready, EXECUTING, NOW + timedelta(minutes=1))
    done = replace(running.steps[3], state=DONE, done_time=NOW)
    third = store.update(
        second, replace(running, steps=(*running.steps[:3], done, *running.steps[4:]))
    )
    assert store.get("p1") == third
    assert store.get("p1").plan.steps[3].state == DONE


def test_a_planner_that_died_leaves_a_plan_that_is_still_being_made(
    store: PlanStore, space: Space
) -> None:
    asked, ready = made("p1")
    first = store.create(asked)
    # All pieces were written, and the last write was not.
    with pytest.raises(Conflict):
        store.complete(replace(first, version="1"), ready)
    assert store.get("p1").plan.status == GENERATING
    store.update(store.get("p1"), advanced(asked, FAILED, NOW))
    assert store.get("p1").plan.status == FAILED
    assert len(config_maps(space)) > 2


def test_of_two_runners_one_stops(store: PlanStore) -> None:
    before = stored(store, "p1")
    ours = advanced(before.plan, EXECUTING, NOW)
    store.update(before, ours)
    with pytest.raises(Conflict):
        store.update(before, ours)
    with pytest.raises(Conflict):
        store.create(made("p1")[0])


def test_only_the_running_part_can_be_written_again(store: PlanStore) -> None:
    before = stored(store, "p1")
    with pytest.raises(ValueError, match="does not change"):
        store.update(before, replace(before.plan, steps=before.plan.steps[:-1]))


def test_a_plan_goes_with_all_its_pieces(store: PlanStore, space: Space) -> None:
    stored(store, "p1")
    assert len(config_maps(space)) > 3
    store.delete("p1")
    space.wait(lambda: config_maps(space) == [], "the pieces are collected", 20)
    with pytest.raises(Refused, match="there is none of this ID"):
        store.get("p1")
    with pytest.raises(NotFound):
        store.delete("p1")


@pytest.mark.parametrize(
    ("name", "change"),
    [
        pytest.param("fleet-plan-p1", {"data": {"running.json": "{}"}}, id="no-status"),
        pytest.param("fleet-plan-p1", {"data": {"running.json": "x"}}, id="no-json"),
        pytest.param("fleet-plan-p1-0", None, id="a-piece-is-missing"),
    ],
)
def test_a_plan_that_was_edited_by_hand_is_refused(
    store: PlanStore, space: Space, name: str, change: dict[str, object] | None
) -> None:
    stored(store, "p1")
    path = f"/api/v1/namespaces/{space.namespace}/configmaps/{name}"
    if change is None:
        space.api.delete(path)
    else:
        space.api.patch(path, change)
    with pytest.raises(Refused) as refusal:
        store.get("p1")
    assert refusal.value.code == "plan_damaged"


def test_the_oldest_plans_that_are_over_are_dropped(store: PlanStore) -> None:
    ids = ["a1", "a2", "a3", "a4"]
    for plan_id in ids:
        before = store.create(begun(plan_id, "org", "cluster", ROLLING, NOW))
        if plan_id != "a1":
            store.update(before, advanced(before.plan, FAILED, NOW))
    assert [one.id for one in store.headers()] == ids[::-1]
    assert store.prune(limit=2) == ["a2", "a3"]
    assert [(one.id, one.status) for one in store.headers()] == [("a4", FAILED), ("a1", GENERATING)]
    assert store.prune(limit=2) == []
