# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The end of a drain that must stop while requests are out."""

from __future__ import annotations

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.clock import SystemClock
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.driver import Drain
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.events import (
    Answered,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.posting import (
    ANSWERS,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.run import Run
from tests.unit.builders import node, pod
from tests.unit.execution.eviction.drained import Drained


class Early(SystemClock):
    """Comes back from the first wait before its time, as Clock.receive allows."""

    waits = 0

    def receive(self, inbox, timeout):
        self.waits += 1
        return None if self.waits == 1 else super().receive(inbox, timeout)


def test_a_wait_that_ends_early_loses_no_answer_of_a_run_that_must_stop():
    drained = Drained(node("n1", cordoned=True), pod("web"), force=True)
    assert drained.acts() == ["evict web"]
    drain = Drain(drained.machine, None, None, Run(holder="me", clock=Early()), None)
    drain._inbox.put((ANSWERS, Answered(drained.uid("web"), 201, {}, None)))

    drain._take_last_answers()

    assert not drained.machine.under_way
    assert drained.report().changed
