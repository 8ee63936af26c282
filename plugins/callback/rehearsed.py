# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Writes down what a rehearsed run does: each task as it begins, and each result."""

from __future__ import annotations

DOCUMENTATION = r"""
name: rehearsed
type: notification
short_description: Write down what a rehearsed run does
version_added: 0.1.0
author:
  - The evenkeel.fleet authors (@evenkeel)
description:
  - Writes each task as it begins, and each result, as a line of JSON to a file.
  - M(evenkeel.fleet.rehearsal) uses it for the run that it starts. It is of no use elsewhere.
options:
  record:
    description: The file, which is appended to.
    type: path
    required: true
    env:
      - name: EVENKEEL_FLEET_REHEARSED
"""

import json
from importlib import import_module
from typing import Any

from ansible.plugins.callback import CallbackBase

# Each task is a process that is forked from this one: what is imported here, it need not import.
_SHARED = ("kubernetes", "ansible_collections.evenkeel.fleet.plugins.modules.evict")


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "notification"
    CALLBACK_NAME = "evenkeel.fleet.rehearsed"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in _SHARED:
            import_module(name)

    def v2_playbook_on_task_start(self, task: Any, is_conditional: bool) -> None:  # noqa: ARG002 - Ansible's
        self._write({"begins": task.get_name()})

    def v2_runner_on_ok(self, result: Any) -> None:
        self._keep("ok", result)

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        self._keep("ok" if ignore_errors else "failed", result)

    def _keep(self, status: str, result: Any) -> None:
        document = json.loads(self._dump_results(result._result, indent=0))
        self._write({"task": result._task.get_name(), "status": status, "result": document})

    def _write(self, line: dict[str, Any]) -> None:
        with open(self.get_option("record"), "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
