# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Whatever a function does or raises becomes a result of the one shape, with a true `changed`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable

import pytest

pytest.importorskip("ansible", reason="what faces Ansible needs ansible-core")

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.clock import SystemClock
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.interruption import (
    Interruption,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.run import Progress, Run
from ansible_collections.evenkeel.fleet.plugins.module_utils.interface import argspec, entrypoint
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import Interrupted
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.report import Outcome, Report
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.resources import NODES

EMPTY: dict[str, list[Any]] = {"done": [], "skipped": [], "pending": [], "failed": []}


class Silent:
    """A cluster that accepts every patch."""

    description = "test (https://test)"

    def __init__(self) -> None:
        self.closed = False

    def patch(self, *args: Any, **kwargs: Any) -> str:
        return "node"

    def close(self) -> None:
        self.closed = True


@dataclass(frozen=True)
class Reached:
    """A destination that leads to this cluster."""

    made: Silent
    clock: SystemClock = field(default_factory=SystemClock)

    def cluster(self, _interruption: Any) -> Silent:
        return self.made


@dataclass(frozen=True)
class Options:
    word: str = ""


Function = Callable[[Any, Any, Run], Report]


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Silent:
    made = Silent()
    monkeypatch.setattr(entrypoint, "find", lambda _connection: Reached(made))
    return made


def call(function: Function, **params: Any) -> tuple[dict[str, Any], list[str]]:
    specification = argspec.merge({"word": {"type": "str"}}, argspec.COMMON, argspec.AUTH)
    given = {name: declared.get("default") for name, declared in specification.items()}
    told: list[Progress] = []
    with Interruption() as interruption:
        result = entrypoint.call(
            entrypoint.Module(specification, Options, function),
            {**given, **params},
            False,
            lambda progress, _now: told.append(progress),
            interruption,
        )
    assert result.pop("duration") >= 0
    return result, [progress.text for progress in told]


def test_a_report_becomes_a_result(cluster: Silent) -> None:
    def function(options: Options, _cluster: Any, run: Run) -> Report:
        run.progress(Progress("n1", options.word))
        done = Outcome("", "n1", "cordon", "cordoned")
        return Report(True, "Closed.", done=(done,), diff={"before": {}}, extra={"nodes": ["n1"]})

    result, told = call(function, word="closed")
    assert result == {
        "changed": True,
        "failed": False,
        "msg": "Closed.",
        "result": {**EMPTY, "done": [Outcome("", "n1", "cordon", "cordoned").document()]},
        "diff": {"before": {}},
        "nodes": ["n1"],
    }
    assert told == ["test (https://test)", "closed"]
    assert cluster.closed


def test_a_report_with_a_failure_fails_and_keeps_its_lists(cluster: Silent) -> None:
    pending = Outcome("shop/web", "n1", "evict", "timeout")
    report = Report(True, "Too late.", pending=(pending,), failure="timeout")
    result, _unused = call(lambda *_unused: report)
    assert result == {
        "changed": True,
        "failed": True,
        "msg": "Too late.",
        "code": "timeout",
        "result": {**EMPTY, "pending": [pending.document()]},
        "diff": {},
    }


@pytest.mark.parametrize("written", [False, True])
def test_an_error_in_the_middle_tells_whether_anything_was_written(
    cluster: Silent, written: bool
) -> None:
    def function(_options: Options, given: Any, _run: Run) -> Report:
        if written:
            given.patch(NODES, "n1", [])
        raise Interrupted("SIGTERM", "Run it again.")

    result, _unused = call(function)
    assert result == {
        "changed": written,
        "failed": True,
        "msg": "Stopped by SIGTERM. Run it again.",
        "code": "interrupted",
        "result": EMPTY,
        "diff": {},
    }
    assert cluster.closed


def test_a_fault_of_ours_is_a_result_with_its_traceback(cluster: Silent) -> None:
    def function(_options: Options, given: Any, _run: Run) -> Report:
        given.patch(NODES, "n1", [])
        raise KeyError("x")

    result, _unused = call(function)
    assert "KeyError: 'x'" in result.pop("exception")
    assert result == {
        "changed": True,
        "failed": True,
        "msg": "This is a fault of evenkeel.fleet: KeyError('x').",
        "code": "failed",
        "result": EMPTY,
        "diff": {},
    }


@pytest.mark.parametrize(
    ("given", "prefix"),
    [("kairon.zyvor.dev/", "kairon.zyvor.dev/"), ("kairon.zyvor.dev", "kairon.zyvor.dev/")],
)
def test_the_run_has_the_prefix_with_its_slash_and_the_namespace(
    cluster: Silent, given: str, prefix: str
) -> None:
    seen: list[Run] = []

    def function(_options: Options, _cluster: Any, run: Run) -> Report:
        seen.append(run)
        return Report()

    call(function, annotation_prefix=given, state_namespace="fleet")
    assert [(run.prefix, run.state_namespace, run.check_mode) for run in seen] == [
        (prefix, "fleet", False)
    ]


@pytest.mark.parametrize("prefix", ["Nope_", "a b/", "", "a/b"])
def test_a_prefix_that_no_annotation_can_have_is_refused_before_anything_is_sent(
    cluster: Silent, prefix: str
) -> None:
    result, told = call(lambda *_unused: Report(), annotation_prefix=prefix)
    assert (result["failed"], result["code"]) == (True, "invalid_option")
    assert result["msg"].startswith(f"annotation_prefix: {prefix!r} is not a DNS subdomain")
    assert told == []
