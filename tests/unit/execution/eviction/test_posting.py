# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The threads that post: whatever ends a request reaches the thread that decides."""

from __future__ import annotations

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.clock import (
    Inbox,
    SystemClock,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.events import (
    ReadPod,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.posting import (
    ANSWERS,
    Posts,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import (
    FleetError,
    Unauthorized,
)
from tests.unit.builders import pod


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (Unauthorized("The credential is refused."), "The credential is refused."),
        (KeyError("metadata"), "This is a fault of evenkeel.fleet: KeyError('metadata')"),
    ],
    ids=["an-error-of-the-api", "a-fault-that-nobody-foresaw"],
)
def test_an_error_in_a_thread_is_handed_over_and_the_thread_goes_on(error, words):
    clock, inbox = SystemClock(), Inbox()

    def perform(_command):
        raise error

    posts = Posts(1, inbox, clock, perform)
    posts.submit(ReadPod(pod("a")))
    posts.submit(ReadPod(pod("b")))
    received = [clock.receive(inbox, 5.0) for _unused in range(2)]
    posts.close()
    assert [tag for tag, _message in received] == [ANSWERS, ANSWERS]
    assert all(isinstance(message, FleetError) for _tag, message in received)
    assert all(str(message).startswith(words) for _tag, message in received)
