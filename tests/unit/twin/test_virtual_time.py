# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Runs and their twin in virtual time: the clock of a run on a timekeeper, without a network.

Nothing here takes real time: a wait of hours ends as soon as nobody has anything to do.
"""

from __future__ import annotations

import queue
import threading

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.kubernetes.twin_clock import (
    TwinClock,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.clock import FOREVER, Inbox
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.timekeeper import Timekeeper

START = 1_000_000.0
HOUR = 3600.0
LIMIT = 20.0


class DirectLink:
    """What HTTP does between the two, in the same process."""

    def __init__(self, keeper, runner):
        self.keeper, self.runner = keeper, runner
        self._times = queue.SimpleQueue()
        keeper.join(runner, self._times.put)

    def times(self):
        return iter(self._times.get, None)

    def wait(self, until, seen):
        self.keeper.wait(self.runner, until, seen)

    def close(self):
        self.keeper.leave(self.runner)
        self._times.put(None)


class World:
    """A timekeeper at work, and the clocks of its runs."""

    def __init__(self):
        self.keeper = Timekeeper(START, virtual=True)
        self.thread = threading.Thread(target=self.keeper.run, daemon=True)
        self.thread.start()
        self.clocks = []

    def clock(self, name="run"):
        self.clocks.append(TwinClock(name, DirectLink(self.keeper, name)))
        return self.clocks[-1]

    def close(self):
        for clock in self.clocks:
            clock.close()
        self.keeper.close()
        self.thread.join(LIMIT)


@pytest.fixture
def world():
    made = World()
    yield made
    made.close()


class Wire:
    """One watch of a run: what is sent arrives after a delay of real time, and goes into inbox."""

    def __init__(self, world, clock, inbox):
        self.keeper, self.clock, self.inbox = world.keeper, clock, inbox
        self.watch = clock.attention()
        self.number = dict(self.watch.headers)["Evenkeel-Watch"]
        self.queue = queue.SimpleQueue()
        clock.start_thread(self._follow, "follower")

    def send(self, event, delay=0.0):
        self.keeper.sent(self.clock.runner, self.number)
        threading.Timer(delay, self.queue.put, [event]).start()

    def close(self):
        self.queue.put(None)

    def _follow(self):
        while True:
            with self.watch.waiting():
                event = self.queue.get()
            if event is None:
                return
            self.inbox.put(event)


def elapsed(clock):
    return clock.monotonic() - START


def test_a_wait_of_hours_is_over_when_nobody_has_anything_to_do(world):
    clock = world.clock()
    clock.sleep(4 * HOUR)
    assert elapsed(clock) == 4 * HOUR
    assert clock.now().timestamp() == START + 4 * HOUR


def test_what_is_due_first_happens_first(world):
    clock, happened = world.clock(), []
    for seconds in (30, 10, 20):
        world.keeper.at(START + seconds, lambda seconds=seconds: happened.append(seconds))
    clock.sleep(25)
    assert (happened, elapsed(clock)) == ([10, 20], 25)


def test_time_stands_still_while_a_run_works(world):
    clock, happened = world.clock(), threading.Event()
    world.keeper.at(START + 1, happened.set)
    assert not happened.wait(0.05)
    clock.sleep(2)
    assert happened.is_set()


def test_what_is_due_when_a_wait_ends_happens_when_the_run_waits_again(world):
    clock, happened = world.clock(), threading.Event()
    world.keeper.at(START + 1, happened.set)
    clock.sleep(1)
    assert not happened.wait(0.05)
    clock.sleep(0.001)
    assert happened.is_set()


def test_time_stands_still_while_a_request_is_in_flight(world):
    clock, happened = world.clock(), threading.Event()
    world.keeper.at(START + 1, happened.set)
    with world.keeper.request():
        waiter = clock.start_thread(lambda: clock.sleep(1), "waiter")
        clock.start_thread(lambda: clock.receive(Inbox(), FOREVER), "idle")
        with clock.listening():
            assert not happened.wait(0.05)
    with clock.listening():
        assert happened.wait(LIMIT)
        waiter.join(LIMIT)


@pytest.mark.parametrize("delay", [0.0, 0.05], ids=["at-once", "slow-network"])
def test_an_event_ends_a_wait_at_the_moment_it_happens(world, delay):
    clock, inbox = world.clock(), Inbox()
    wire = Wire(world, clock, inbox)
    world.keeper.at(START + 7, lambda: wire.send("pod gone", delay))
    world.keeper.at(START + 8, lambda: wire.send("too late"))
    assert clock.receive(inbox, HOUR) == "pod gone"
    assert elapsed(clock) == 7
    wire.close()


def test_a_wait_without_an_event_ends_in_time(world):
    clock = world.clock()
    until = clock.monotonic() + 5
    while clock.monotonic() < until:
        assert clock.receive(Inbox(), until - clock.monotonic()) is None
    assert elapsed(clock) == 5


def test_a_job_in_a_workers_inbox_is_done_before_time_goes_on(world):
    clock, jobs, answers = world.clock(), Inbox(), Inbox()

    def work():
        while True:
            job = clock.receive(jobs, FOREVER)
            if job == "stop":
                return
            if job is not None:
                answers.put((job, elapsed(clock)))

    clock.start_thread(work, "worker")
    for job in range(50):
        jobs.put(job)
        assert clock.receive(answers, HOUR) == (job, job)
        clock.sleep(1)
    jobs.put("stop")


def test_a_watch_that_was_closed_holds_up_nothing(world):
    clock = world.clock()
    watch = clock.attention()
    world.keeper.sent("run", dict(watch.headers)["Evenkeel-Watch"])
    watch.close()
    clock.sleep(HOUR)
    assert elapsed(clock) == HOUR


def test_two_runs_wait_for_each_other(world):
    first, second = world.clock("first"), world.clock("second")
    order = []

    def work():
        for _unused in range(3):
            second.sleep(10)
            order.append(("second", elapsed(second)))
        second.close()

    worker = threading.Thread(target=work)
    worker.start()
    for _unused in range(2):
        first.sleep(15)
        order.append(("first", elapsed(first)))
    worker.join(LIMIT)
    times = sorted(order, key=lambda one: (one[1], one[0]))
    assert times == [
        ("second", 10),
        ("first", 15),
        ("second", 20),
        ("first", 30),
        ("second", 30),
    ]


def test_a_run_that_ends_is_waited_for_no_more(world):
    first, second = world.clock("first"), world.clock("second")
    threading.Timer(0.05, second.close).start()
    first.sleep(HOUR)
    assert elapsed(first) == HOUR


def test_without_a_run_time_moves_only_as_far_as_it_is_told_to(world):
    happened = threading.Event()
    world.keeper.at(START + 60, happened.set)
    world.keeper.advance(59)
    assert not happened.wait(0.05)
    world.keeper.advance(1)
    assert happened.wait(LIMIT)
    assert world.keeper.now() == START + 60


def test_a_run_whose_twin_is_gone_goes_on_in_real_time(world):
    clock = world.clock()
    clock.close()
    before = clock.monotonic()
    clock.sleep(0.05)
    assert before + 0.05 <= clock.monotonic() < before + LIMIT


def test_real_time_passes_by_itself():
    keeper = Timekeeper(START, virtual=False)
    thread = threading.Thread(target=keeper.run, daemon=True)
    thread.start()
    happened = threading.Event()
    keeper.at(keeper.now() + 0.05, happened.set)
    assert happened.wait(LIMIT)
    assert keeper.now() >= START + 0.05
    keeper.close()
    thread.join(LIMIT)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_fault_of_what_happens_is_known_though_time_stands_still(world):
    def fault():
        raise RuntimeError("a controller of ours has a fault")

    assert world.keeper.fault == ""
    world.keeper.at(START, fault)
    world.thread.join(LIMIT)
    assert "a controller of ours has a fault" in world.keeper.fault


def test_what_lets_time_pass_returns_when_it_has(world):
    happened = []
    world.keeper.at(START + 30, lambda: happened.append(world.keeper.now()))
    world.keeper.pass_by(HOUR)
    assert world.keeper.now() == START + HOUR
    assert happened == [START + 30]
