# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Watches and followers, against a server that cuts, breaks and ends its streams."""

from __future__ import annotations

import threading
import time

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.clock import (
    Inbox,
    SystemClock,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.watching import (
    Changed,
    Failed,
    Resynced,
    Selection,
    follow,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import ApiFailure, Gone
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.resources import NODES
from tests.unit.backends.serving import (
    FakeApi,
    Say,
    Stream,
    cluster_of,
    line,
    names,
    node,
    page,
    status,
)

ADDED = line("ADDED", node("n1", "8"))
DELETED = line("DELETED", node("n1", "9"))


def test_lines_are_whole_however_the_stream_is_cut():
    whole = ADDED + DELETED
    cut = (whole[:1], whole[1:40], whole[40:41], whole[41:-5], whole[-5:])
    with FakeApi([Stream(cut)]) as api:
        assert names(cluster_of(api.url).watch(NODES, "7")) == ["ADDED n1", "DELETED n1"]
    assert "watch=true&allowWatchBookmarks=true&resourceVersion=7" in api.seen[0].path


def test_a_bookmark_carries_its_version():
    mark = line("BOOKMARK", {"metadata": {"resourceVersion": "50"}})
    with FakeApi([Stream((mark,))]) as api:
        (event,) = cluster_of(api.url).watch(NODES, "7")
    assert (event.type, event.resource_version) == ("BOOKMARK", "50")


@pytest.mark.parametrize(
    "stream",
    [Stream((ADDED, DELETED[:20]), "reset"), Stream((ADDED, DELETED[:20])), Stream((ADDED,))],
    ids=["reset-in-a-line", "ended-in-a-line", "ended"],
)
def test_a_stream_that_breaks_ends_quietly_after_its_whole_lines(stream):
    with FakeApi([stream]) as api:
        assert names(cluster_of(api.url).watch(NODES, "7")) == ["ADDED n1"]


@pytest.mark.parametrize(
    ("code", "error"), [(410, Gone), (500, ApiFailure)], ids=["too-old", "broken"]
)
def test_an_error_event_is_raised(code, error):
    with FakeApi([Stream((ADDED, line("ERROR", status(code, "Expired", "too old"))))]) as api:
        events = cluster_of(api.url).watch(NODES, "7")
        assert next(events).type == "ADDED"
        with pytest.raises(error):
            next(events)


@pytest.mark.parametrize("closing", ["the-watch", "the-cluster"])
def test_closing_from_another_thread_ends_a_silent_watch_at_once(closing):
    with FakeApi([Stream((ADDED,), "hang")]) as api:
        cluster = cluster_of(api.url)
        events = cluster.watch(NODES, "7")
        next(events)
        target = events if closing == "the-watch" else cluster
        threading.Timer(0.1, target.close).start()
        begin = time.monotonic()
        assert list(events) == []
        assert time.monotonic() - begin < 1.0


def received(inbox, count):
    clock = SystemClock()
    return [clock.receive(inbox, 5.0) for _unused in range(count)]


def test_a_follower_lists_watches_and_goes_on_where_the_watch_ended():
    streams = [Stream((ADDED,), "reset"), Stream((DELETED,), "hang")]

    def answer(seen):
        return streams.pop(0) if "watch=true" in seen.path else page(["n0"])

    with FakeApi(answer) as api:
        inbox = Inbox()
        follower = follow(cluster_of(api.url), NODES, inbox, tag="nodes", clock=SystemClock())
        events = [event for _unused, event in received(inbox, 3)]
        follower.stop()
    assert [one.name for one in events[0].items] == ["n0"]
    assert [(one.object.name, one.gone) for one in events[1:]] == [("n1", False), ("n1", True)]
    assert [seen.path.partition("resourceVersion=")[2][:2] for seen in api.seen] == ["", "7&", "8&"]


def test_a_follower_lists_again_when_its_version_is_gone():
    gone = Stream((line("ERROR", status(410, "Expired")),))
    answers = [page(["n0", "n1"]), gone, page(["n1"], version="20"), Stream((), "hang")]
    with FakeApi(answers) as api:
        inbox = Inbox()
        follower = follow(cluster_of(api.url), NODES, inbox, tag="nodes", clock=SystemClock())
        events = [event for _unused, event in received(inbox, 2)]
        follower.stop()
    assert [[one.name for one in event.items] for event in events] == [["n0", "n1"], ["n1"]]
    assert all(isinstance(event, Resynced) for event in events)


def test_a_follower_whose_every_watch_is_too_old_pauses_between_its_lists():
    gone = Stream((line("ERROR", status(410, "Expired")),))
    with FakeApi(lambda seen: gone if "watch=true" in seen.path else page(["n0"])) as api:
        inbox = Inbox()
        follower = follow(cluster_of(api.url), NODES, inbox, tag="nodes", clock=SystemClock())
        received(inbox, 2)
        time.sleep(0.2)  # Without a pause there would be dozens of lists by now.
        follower.stop()
    assert len([seen for seen in api.seen if "watch=true" not in seen.path]) == 2


def test_an_object_that_cannot_be_parsed_ends_the_follower_with_a_word():
    broken = line("ADDED", {"metadata": {"name": "n1"}, "spec": "no mapping"})
    with FakeApi([page(["n0"]), Stream((broken,), "hang")]) as api:
        inbox = Inbox()
        follower = follow(cluster_of(api.url), NODES, inbox, tag="nodes", clock=SystemClock())
        (_tag, listed), (_same, failed) = received(inbox, 2)
        follower.stop()
    assert isinstance(listed, Resynced)
    assert isinstance(failed, Failed)
    assert failed.final
    assert "a fault of evenkeel.fleet" in str(failed.error)
    assert "node.py:" in str(failed.error)


def test_a_follower_starts_from_a_listing_without_reading_it_again():
    with FakeApi([page(["n0"]), Stream((ADDED,), "hang")]) as api:
        cluster, inbox = cluster_of(api.url), Inbox()
        listing = cluster.list(NODES)
        follower = follow(
            cluster,
            NODES,
            inbox,
            tag="nodes",
            clock=SystemClock(),
            listing=listing,
            selection=Selection("", "a=b"),
        )
        assert [(tag, type(event)) for tag, event in received(inbox, 1)] == [("nodes", Changed)]
        follower.stop()
    assert len(api.seen) == 2
    assert "labelSelector=a%3Db" in api.seen[1].path


def test_a_follower_without_the_right_to_list_says_so_once_and_ends():
    with FakeApi([Say(403, status(403, "Forbidden", "no"))]) as api:
        inbox = Inbox()
        follower = follow(cluster_of(api.url), NODES, inbox, tag="nodes", clock=SystemClock())
        ((_unused, event),) = received(inbox, 1)
        follower.stop()
    assert isinstance(event, Failed)
    assert event.final
    assert len(api.seen) == 1


def test_a_silent_follower_stops_within_a_second_and_posts_nothing_more():
    with FakeApi([page([]), Stream((), "hang")]) as api:
        inbox = Inbox()
        follower = follow(cluster_of(api.url), NODES, inbox, tag="nodes", clock=SystemClock())
        received(inbox, 1)
        time.sleep(0.1)  # The watch is open now: that is what must end.
        begin = time.monotonic()
        follower.stop()
        assert time.monotonic() - begin < 1.0
        assert inbox.empty
