# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""From a module's parameters to its result: the same call for the module and the action plugin."""

from __future__ import annotations

import os
import traceback
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Callable, Mapping, Optional

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.kubernetes.connection import (
    Connection,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.registry import find
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.clock import (
    Clock,
    SystemClock,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.identity import (
    ProcessId,
    holder,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.interruption import (
    Interruption,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.run import Progress, Run
from ansible_collections.evenkeel.fleet.plugins.module_utils.interface import render
from ansible_collections.evenkeel.fleet.plugins.module_utils.interface.argspec import (
    Specification,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.interface.options import (
    build_options,
    plain,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.interface.recording import (
    RecordingCluster,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import (
    FleetError,
    InvalidOption,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.report import Report
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.selector import (
    label_key_problem,
)

# PID:start of the processes whose death ends the module, separated by commas. The action plugin
# sets it where module and controller run on one machine.
STARTERS = "EVENKEEL_FLEET_STARTERS"

Result = dict[str, Any]


@dataclass(frozen=True)
class Module:
    """What makes one module: its specification, its options' type, the function behind it.

    needs_cluster: whether a call with these options needs one; its function gets None otherwise.
    It raises InvalidOption for options with which no call could be made.
    """

    specification: Specification
    options: type
    function: Callable[[Any, Any, Run], Report]
    needs_cluster: Callable[[Any], bool] = lambda _options: True


def run_module(module: Module) -> None:
    """The main program of every module of this collection."""
    ansible = _FleetModule(argument_spec=module.specification, supports_check_mode=True)
    timeline: list[tuple[float, Progress]] = []

    def say(progress: Progress, now: float) -> None:
        timeline.append((now, progress))

    with Interruption(_starters()) as interruption:
        result = call(module, ansible.params, ansible.check_mode, say, interruption)
    result["timeline"] = [_event(progress, now - timeline[0][0]) for now, progress in timeline]
    if result["failed"]:
        ansible.fail_json(**result)
    ansible.exit_json(**result)


def call(
    module: Module,
    params: Mapping[str, Any],
    check_mode: bool,
    say: render.Say,
    interruption: Interruption,
) -> Result:
    """Opens the cluster, calls the function, and returns the result as Ansible gets it.

    Never raises: whatever stops the call becomes a result with `failed` and `code`.
    """
    attempt = _Call(module, check_mode, say, interruption)
    try:
        result = _from_report(attempt.report(plain(params)))
    except FleetError as error:
        result = {**failure(str(error), error.code), "changed": attempt.wrote}
    except Exception as error:  # noqa: BLE001 - the edge: a fault of ours becomes a result, too
        result = {
            **failure(f"This is a fault of evenkeel.fleet: {error!r}.", "failed"),
            "changed": attempt.wrote,
            "exception": traceback.format_exc(),
        }
    return {**result, "duration": attempt.close()}


def failure(msg: str, code: str) -> Result:
    """The shape of a result that has nothing to list."""
    return _from_report(Report(msg=msg, failure=code))


class _Call:
    """Its clock is the machine's until the destination is known, which may have another."""

    def __init__(
        self, module: Module, check_mode: bool, say: render.Say, interruption: Interruption
    ) -> None:
        self._module = module
        self._check_mode = check_mode
        self._say = say
        self._interruption = interruption
        self._recorder: Optional[RecordingCluster] = None
        self._follow(SystemClock())

    @property
    def wrote(self) -> bool:
        return self._recorder is not None and self._recorder.written

    def report(self, params: Mapping[str, Any]) -> Report:
        options: Any = build_options(self._module.options, params)
        prefix = _prefix(params["annotation_prefix"])
        if not self._module.needs_cluster(options):
            return self._module.function(options, None, self._run(params, prefix))
        destination = find(build_options(Connection, params))
        self._follow(destination.clock)
        try:
            with closing(destination.cluster(self._cause)) as cluster:
                self._recorder = RecordingCluster(cluster)
                self._narrator.tell(Progress("", cluster.description, urgent=True, once=True))
                return self._module.function(options, self._recorder, self._run(params, prefix))
        finally:
            destination.clock.close()

    def close(self) -> float:
        """Says the last words, and returns how many seconds it took by its clock."""
        self._narrator.close()
        return round(self._clock.monotonic() - self._started, 3)

    def _follow(self, clock: Clock) -> None:
        self._clock = clock
        self._started = clock.monotonic()
        self._narrator = render.Narrator(clock.monotonic, self._say)

    def _cause(self) -> str:
        self._narrator.tick()
        return self._interruption.cause()

    def _run(self, params: Mapping[str, Any], prefix: str) -> Run:
        return Run(
            holder=holder(),
            clock=self._clock,
            progress=self._narrator.tell,
            interruption=self._cause,
            check_mode=self._check_mode,
            prefix=prefix,
            state_namespace=params["state_namespace"],
        )


def _prefix(given: str) -> str:
    """Ends in a slash. Raises InvalidOption for what no annotation's key can begin with."""
    prefix = given.rstrip("/") + "/"
    if label_key_problem(f"{prefix}maintenance"):
        raise InvalidOption(
            "annotation_prefix",
            f"{given!r} is not a DNS subdomain in lower case.",
            "Use a domain of your own, such as fleet.example.com/.",
        )
    return prefix


def _from_report(report: Report) -> Result:
    result: Result = {
        **report.extra,
        "changed": report.changed,
        "failed": bool(report.failure),
        "msg": report.msg,
        "result": report.result(),
        "diff": dict(report.diff),
    }
    return {**result, "code": report.failure} if report.failure else result


def _event(progress: Progress, seconds: float) -> dict[str, Any]:
    """`seconds` since the call began."""
    return {
        "seconds": round(seconds, 1),
        "node": progress.node,
        "text": progress.text,
        "done": progress.done,
        "total": progress.total,
    }


def _starters() -> tuple[ProcessId, ...]:
    text = os.environ.get(STARTERS, "")
    return tuple(ProcessId.parse(part) for part in text.split(",") if part)


class _FleetModule(AnsibleModule):
    """Gives Ansible's own refusals of an option the shape that every failure has."""

    def fail_json(self, msg: str, **kwargs: Any) -> None:
        super().fail_json(**{**failure(msg, "invalid_option"), "duration": 0, **kwargs, "msg": msg})
