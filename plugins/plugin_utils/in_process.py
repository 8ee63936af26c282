# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The action plugins' one body: the module's own call in the controller's process, told live.

A module cannot stream, and costs a new process with all its imports. Where the task would run on
this machine, as this user, in this environment, the same call is made here instead. Everywhere else
the module runs, and its `timeline` tells afterwards what the lines would have told.
"""

from __future__ import annotations

import hashlib
import os
import sys
from importlib.util import find_spec
from typing import Any, Iterator, Mapping, Optional

from ansible import constants as C
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.module_utils.common.parameters import remove_values
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.identity import ProcessId
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.interruption import (
    Interruption,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.run import Progress
from ansible_collections.evenkeel.fleet.plugins.module_utils.interface import render
from ansible_collections.evenkeel.fleet.plugins.module_utils.interface.argspec import (
    Specification,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.interface.entrypoint import (
    STARTERS,
    Module,
    Result,
    call,
    failure,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.interface.options import plain

display = Display()


class InProcessAction(ActionBase):
    """Each action plugin is a subclass that names its module."""

    _supports_async = True
    _supports_check_mode = True
    _requires_connection = True

    module: Module

    def run(self, tmp: Optional[str] = None, task_vars: Optional[dict[str, Any]] = None) -> Result:
        result: Result = super().run(tmp, task_vars)
        if self._runs_here(task_vars or {}):
            return {**result, **self._run_here()}
        return {**result, **self._run_module(task_vars or {})}

    def _runs_here(self, task_vars: dict[str, Any]) -> bool:
        return (
            self._is_local()
            and not self._task.async_val
            and not self._play_context.become
            and not any(self._task.environment or ())
            and self._interpreter_is_ours(task_vars)
            and find_spec("kubernetes") is not None
        )

    def _is_local(self) -> bool:
        return self._connection.transport == "local"

    def _interpreter_is_ours(self, task_vars: dict[str, Any]) -> bool:
        """Unset (to be discovered) counts as ours: discovery knows less than we do."""
        if self._task.delegate_to:
            task_vars = task_vars.get("ansible_delegated_vars", {}).get(self._task.delegate_to, {})
        chosen = str(C.config.get_config_value("INTERPRETER_PYTHON", variables=task_vars))
        # A template (implicit localhost has one) is rendered as the connection would do it.
        chosen = str(self._templar.template(chosen))
        return chosen.startswith("auto") or os.path.abspath(chosen) == sys.executable

    def _run_here(self) -> Result:
        validation = ArgumentSpecValidator(self.module.specification).validate(
            plain(self._task.args)
        )
        params = validation.validated_parameters
        secrets = set(_secrets(self.module.specification, params))
        if validation.error_messages:
            result = failure(validation.errors.msg, "invalid_option")
            return dict(remove_values({**result, "duration": 0}, secrets))
        with Interruption() as interruption:
            result = call(self.module, params, self._task.check_mode, self._say, interruption)
        if interruption.cause():
            self._display_line(result["msg"])
        interruption.deliver()
        return dict(remove_values(result, secrets))

    def _say(self, progress: Progress, now: float) -> None:
        line = render.line(progress, now)
        if not progress.once or _is_first_to_tell(line):
            self._display_line(line)

    def _display_line(self, line: str) -> None:
        # Called from threads, too: the worker hands each line to the main process, which prints it.
        if not self._task.no_log:
            display.display(line)

    def _run_module(self, task_vars: dict[str, Any]) -> Result:
        wrap_async = bool(self._task.async_val)
        tied = self._is_local() and not wrap_async
        if tied:
            # A job that Ansible left to itself is to outlive us; any other ends with us.
            self._task.environment = [*(self._task.environment or ()), _starters()]
        try:
            return dict(self._execute_module(task_vars=task_vars, wrap_async=wrap_async))
        finally:
            if tied:
                self._task.environment = self._task.environment[:-1]
            if not wrap_async:
                self._remove_tmp_path(self._connection._shell.tmpdir)


def _secrets(specification: Specification, params: Mapping[str, Any]) -> Iterator[str]:
    """The values of no_log options, those within other options too (proxy_headers)."""
    for name, option in specification.items():
        value = params.get(name)
        if value and option.get("no_log"):
            yield str(value)
        elif isinstance(value, Mapping) and "options" in option:
            yield from _secrets(option["options"], value)


def _is_first_to_tell(line: str) -> bool:
    """Each task is a process of its own; what they share is the run's temporary directory."""
    name = "evenkeel-fleet-told-" + hashlib.sha256(line.encode()).hexdigest()[:16]
    try:
        os.close(os.open(os.path.join(C.DEFAULT_LOCAL_TMP, name), os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        return False
    except OSError:
        return True
    return True


def _starters() -> dict[str, str]:
    """This worker and the ansible-playbook above it."""
    return {STARTERS: ",".join(str(ProcessId.of(pid)) for pid in (os.getpid(), os.getppid()))}
