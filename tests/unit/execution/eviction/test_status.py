# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The line that a node carries while it is emptied, and when it is written."""

from __future__ import annotations

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.events import Told
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.status import (
    StatusAnnotation,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.status_text import (
    status_text,
)
from tests.unit.builders import budget, controller, node, pod

from .drained import Drained, attachment, terminating

KEY = "fleet.evenkeel.dev/maintenance-message"
OPEN = budget("web", selects={"app": "web"}, max_unavailable=1, allowed=1, healthy=4, expected=4)
SHUT = budget("db", selects={"app": "db"}, max_unavailable=1, healthy=2, desired=2, expected=3)


def owned(name: str, app: str = "web", **kwargs):
    return pod(name, owner=controller(app, replicas=4), labels={"app": app}, **kwargs)


def guarded(*pods, **options) -> Drained:
    nodes = (node("n1", cordoned=True), node("n2"))
    return Drained(*nodes, controller("web", replicas=4), OPEN, SHUT, *pods, **options)


def text(drained: Drained, name: str = "n1") -> str:
    return status_text(drained.state, name, drained.now)


def test_pods_are_counted_by_what_they_wait_for_and_the_budgets_are_named():
    drained = guarded(owned("web-1"), owned("web-2"), owned("db-1", "db"))
    drained.acts()
    drained.accept("web-1").seen(terminating(drained.pods["web-1"]))
    drained.acts()

    assert text(drained) == (
        "3 pod(s) still on this node: 1 terminating, 2 waiting for a budget (shop/db, shop/web)"
    )


def test_pods_that_cannot_leave_are_told_with_their_codes():
    never = budget("web", selects={"app": "web"}, max_unavailable=0, healthy=4, expected=4)
    nodes = (node("n1", cordoned=True), node("n2"))
    pods = (owned("w-1"), owned("w-2", node="n2"))
    drained = Drained(*nodes, controller("web", replicas=4), never, *pods)
    drained.acts()

    assert text(drained) == "1 pod(s) still on this node: 1 that cannot leave (budget_allows_none)"


def test_pods_whose_turn_has_not_come_are_told_last():
    drained = guarded(owned("a", "x"), owned("b", "y"), max_parallel=1)
    drained.acts()
    drained.accept("a").acts()

    assert text(drained) == ("2 pod(s) still on this node: 1 terminating, 1 waiting for its turn")


def test_volumes_are_told_once_all_pods_are_gone():
    drained = guarded(
        owned("db-0", "x", claims=("data",)),
        attachments=(attachment("n1", "pv"),),
        volumes={"shop/data": "pv"},
    )
    drained.acts()
    drained.leave("db-0")

    assert text(drained) == "1 volume(s) still attached to this node"


def test_a_node_that_is_empty_has_no_line():
    assert text(guarded()) == ""


def told(status: StatusAnnotation, drained: Drained) -> list[tuple[str, str]]:
    return [(tell.node.name, tell.text) for tell in status.due(drained.now)]


def test_a_drain_that_is_over_soon_is_not_told_at_all():
    drained = guarded(owned("web-1"), status_annotation=KEY)
    status = StatusAnnotation(drained.state, drained.time)
    drained.acts()
    drained.wait(2.9)

    assert told(status, drained) == []
    drained.leave("web-1").wait(10)
    assert told(status, drained) == []
    assert status.last(drained.now) == []


def test_a_line_is_written_when_it_changes_and_at_most_every_ten_seconds():
    drained = guarded(owned("a", "x"), owned("b", "y"), status_annotation=KEY)
    status = StatusAnnotation(drained.state, drained.time)
    drained.acts()
    drained.accept("a", "b").wait(3)

    assert told(status, drained) == [("n1", "2 pod(s) still on this node: 2 terminating")]
    drained.gone("a").wait(9.9)
    assert told(status, drained) == []
    drained.wait(0.2)
    assert told(status, drained) == [("n1", "1 pod(s) still on this node: 1 terminating")]
    drained.wait(60)
    assert told(status, drained) == []
    drained.gone("b")
    assert [tell.text for tell in status.last(drained.now)] == [""]


def test_without_the_option_nothing_is_written():
    drained = guarded(owned("a", "x"))
    status = StatusAnnotation(drained.state, drained.time)
    drained.acts()
    drained.accept("a").wait(60)

    assert told(status, drained) == status.last(drained.now) == []


def test_a_refused_write_is_told_once():
    status = StatusAnnotation(guarded().state, 0.0)

    assert status.answered(Told("n1")) == ""
    assert status.answered(Told("n1", "may not patch nodes.")) == (
        "its status could not be written on it: may not patch nodes."
    )
    assert status.answered(Told("n1", "may not patch nodes.")) == ""


def test_nothing_is_written_on_a_node_that_is_gone():
    drained = guarded(owned("a", "x"), status_annotation=KEY)
    status = StatusAnnotation(drained.state, drained.time)
    drained.acts()
    drained.vanished(drained.fleet.node_by_name["n1"]).wait(5)

    assert told(status, drained) == []
