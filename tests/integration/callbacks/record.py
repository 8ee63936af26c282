# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Writes each task's result as a line of JSON to the file that EVENKEEL_RECORD names.

What people read on the terminal stays what it is: the default callback goes on beside this one.
"""

from __future__ import annotations

import json
import os
from typing import Any

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
name: record
type: notification
short_description: Record results for tests
description: Writes each task's result as a line of JSON.
"""


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "notification"
    CALLBACK_NAME = "record"
    CALLBACK_NEEDS_ENABLED = True

    def v2_runner_on_ok(self, result: Any) -> None:
        self._write("ok", result)

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        self._write("failed", result)

    def v2_runner_on_skipped(self, result: Any) -> None:
        self._write("skipped", result)

    def _write(self, status: str, result: Any) -> None:
        document = json.loads(self._dump_results(result._result, indent=0))
        line = {"task": result._task.get_name(), "status": status, "result": document}
        with open(os.environ["EVENKEEL_RECORD"], "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
