# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""From a module's parameters to its result: the same call for the module and the action plugin."""

from __future__ import annotations

import os
import traceback
from dataclasses import dataclass
from typing import Any, Callable, Mapping, Sequence

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.kubernetes.connection import (
    Connection,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.registry import open_cluster
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.clock import SystemClock
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
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import FleetError
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.report import Report

# PID:start of the processes whose death ends the module, separated by commas. The action plugin
# sets it where module and controller run on one machine.
STARTERS = "EVENKEEL_FLEET_STARTERS"

Result = dict[str, Any]


@dataclass(frozen=True)
class Module:
    """What makes one module: its specification, its options' type, the function behind it."""

    specification: Specification
    options: type
    function: Callable[[Any, Any, Run], Report]


def run_module(module: Module) -> None:
    """The main program of every module of this collection."""
    ansible = _FleetModule(argument_spec=module.specification, supports_check_mode=True)
    timeline: list[dict[str, Any]] = []
    started = SystemClock().monotonic()

    def say(progress: Progress) -> None:
        timeline.append(_event(progress, SystemClock().monotonic() - started))

    with Interruption(_starters()) as interruption:
        result = call(module, ansible.params, ansible.check_mode, say, interruption)
    result["timeline"] = timeline
    if result["failed"]:
        ansible.fail_json(**result)
    ansible.exit_json(**result)


def call(
    module: Module,
    params: Mapping[str, Any],
    check_mode: bool,
    say: Callable[[Progress], None],
    interruption: Interruption,
) -> Result:
    """Opens the cluster, calls the function, and returns the result as Ansible gets it.

    Never raises: whatever stops the call becomes a result with `failed` and `code`.
    """
    clock = SystemClock()
    started = clock.monotonic()
    narrator = render.Narrator(clock.monotonic, say)
    recorders: list[RecordingCluster] = []
    try:
        report = _report(module, plain(params), check_mode, narrator, interruption, recorders)
        result = _from_report(report)
    except FleetError as error:
        result = {**failure(str(error), error.code), "changed": _written(recorders)}
    except Exception as error:  # noqa: BLE001 - the edge: a fault of ours becomes a result, too
        result = {
            **failure(f"This is a fault of evenkeel.fleet: {error!r}.", "failed"),
            "changed": _written(recorders),
            "exception": traceback.format_exc(),
        }
    narrator.close()
    return {**result, "duration": round(clock.monotonic() - started, 3)}


def failure(msg: str, code: str) -> Result:
    """The shape of a result that has nothing to list."""
    return _from_report(Report(msg=msg, failure=code))


def _report(
    module: Module,
    params: Mapping[str, Any],
    check_mode: bool,
    narrator: render.Narrator,
    interruption: Interruption,
    recorders: list[RecordingCluster],
) -> Report:
    options: Any = build_options(module.options, params)

    def cause() -> str:
        narrator.tick()
        return interruption.cause()

    cluster = open_cluster(build_options(Connection, params), interruption=cause)
    try:
        recorder = RecordingCluster(cluster)
        recorders.append(recorder)
        narrator.tell(Progress(node="", text=cluster.description, urgent=True))
        run = Run(
            holder=holder(),
            progress=narrator.tell,
            interruption=cause,
            check_mode=check_mode,
            prefix=params["annotation_prefix"].rstrip("/") + "/",
            state_namespace=params["state_namespace"],
        )
        return module.function(options, recorder, run)
    finally:
        cluster.close()


def _written(recorders: Sequence[RecordingCluster]) -> bool:
    return any(recorder.written for recorder in recorders)


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
