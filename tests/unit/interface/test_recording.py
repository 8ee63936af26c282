# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What the recorder takes for a change, and what it only passes on."""

from __future__ import annotations

from typing import Any, Callable

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.base import Answer
from ansible_collections.evenkeel.fleet.plugins.module_utils.interface.recording import (
    RecordingCluster,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import Conflict
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.resources import (
    EVENTS,
    LEASES,
    NODES,
)


class Scripted:
    """Answers every write with the one answer that the test wants."""

    description = "scripted"

    def __init__(self, answer: Any = "the object") -> None:
        self.answer = answer

    def _write(self, *args: Any, **kwargs: Any) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    create = replace = patch = delete = evict = _write

    def get(self, *args: Any, **kwargs: Any) -> str:
        return "the object"


Act = Callable[[RecordingCluster], Any]


@pytest.mark.parametrize(
    ("act", "answer", "written"),
    [
        pytest.param(lambda c: c.get(NODES, "n1"), None, False, id="a-read"),
        pytest.param(lambda c: c.patch(NODES, "n1", []), "node", True, id="a-patch"),
        pytest.param(lambda c: c.create(NODES, {}), "node", True, id="a-create"),
        pytest.param(lambda c: c.replace(NODES, "n1", {}), "node", True, id="a-replace"),
        pytest.param(lambda c: c.delete(NODES, "n1"), None, True, id="a-delete"),
        pytest.param(lambda c: c.create(LEASES, {}), "lease", False, id="a-lock-is-a-trace"),
        pytest.param(lambda c: c.create(EVENTS, {}), "event", False, id="an-event-is-a-trace"),
        pytest.param(
            lambda c: c.evict("s", "p", uid="u"), Answer(201, {}, None), True, id="evicted"
        ),
        pytest.param(
            lambda c: c.evict("s", "p", uid="u"), Answer(429, {}, 10.0), False, id="not-evicted"
        ),
    ],
)
def test_only_an_accepted_write_to_others_objects_counts(
    act: Act, answer: Any, written: bool
) -> None:
    cluster = RecordingCluster(Scripted(answer))
    act(cluster)
    assert cluster.written is written


def test_a_refused_write_does_not_count() -> None:
    cluster = RecordingCluster(Scripted(Conflict("no")))
    with pytest.raises(Conflict):
        cluster.patch(NODES, "n1", [])
    assert cluster.written is False


def test_a_later_refusal_does_not_undo_an_earlier_write() -> None:
    inner = Scripted(Answer(201, {}, None))
    cluster = RecordingCluster(inner)
    cluster.evict("s", "p", uid="u")
    inner.answer = Answer(429, {}, None)
    cluster.evict("s", "q", uid="v")
    assert cluster.written is True
    assert cluster.description == "scripted"
