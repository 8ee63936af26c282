# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What `make test` says at the end, and when it fails."""

from __future__ import annotations

import pytest

from tools.machine import Machine, Missing
from tools.run_tests import Outcome, Runner, summarize
from tools.stages import CATALOGUE, Stage

NO_PYTHON = Missing("no Python 3.9 was found", "pyenv install 3.9")


def _stage(name: str, *needs: Missing | None, after: tuple[str, ...] = ()) -> Stage:
    """A stage whose needs have these answers; it is never started in these tests."""
    checks = tuple(lambda _machine, answer=answer: answer for answer in needs)
    return Stage(name, f"shows {name}", lambda workspace: None, needs=checks, after=after)


@pytest.mark.parametrize(
    ("states", "require_all", "status"),
    [
        pytest.param(("passed", "passed"), True, 0, id="all-passed"),
        pytest.param(("passed", "failed"), False, 1, id="a-failure-fails"),
        pytest.param(("passed", "skipped"), False, 0, id="a-skip-is-only-told"),
        pytest.param(("passed", "skipped"), True, 1, id="a-skip-fails-where-all-is-required"),
    ],
)
def test_the_status_of_a_run(states: tuple[str, ...], require_all: bool, status: int) -> None:
    outcomes = [
        Outcome(_stage(state), state, missing=NO_PYTHON if state == "skipped" else None)
        for state in states
    ]

    assert summarize(outcomes, require_all) == status


def test_a_skip_is_told_with_its_reason_and_the_command_that_enables_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    summarize(
        [Outcome(_stage("a"), "passed", 3.4), Outcome(_stage("b"), "skipped", missing=NO_PYTHON)],
        require_all=False,
    )

    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line and not line.startswith("=")] == [
        "passed  a                         3 s  shows a",
        f"skipped b                         0 s  {NO_PYTHON}",
        "NOT TESTED: 1 of 2 stages were skipped, see above.",
        "stages: 1 passed, 0 failed, 1 skipped",
    ]


def test_what_is_missing_is_worded_with_the_command_that_enables_it() -> None:
    assert str(NO_PYTHON) == "no Python 3.9 was found; to enable: pyenv install 3.9"


def test_what_waits_for_a_skipped_stage_is_skipped_for_the_same_reason() -> None:
    stages = [_stage("plane", NO_PYTHON), _stage("integration", after=("plane",))]

    outcomes = Runner(Machine(), cores=2).run(stages)

    assert [(one.stage.name, one.state, one.missing) for one in outcomes] == [
        ("plane", "skipped", NO_PYTHON),
        ("integration", "skipped", NO_PYTHON),
    ]


def test_a_stage_that_the_user_left_out_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVENKEEL_SKIP", "chaos units")

    outcomes = Runner(Machine(), cores=2).run([_stage("units")])

    assert [str(one.missing) for one in outcomes] == [
        "EVENKEEL_SKIP names it; to enable: unset EVENKEEL_SKIP"
    ]


def test_every_stage_waits_only_for_stages_that_come_before_it() -> None:
    names = [stage.name for stage in CATALOGUE]

    assert len(set(names)) == len(names)
    for place, stage in enumerate(CATALOGUE):
        assert set(stage.after) <= set(names[:place])
