# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The module evenkeel.fleet.rehearsal, always in this process: the collection is installed here."""

from __future__ import annotations

from typing import Any

from ansible_collections.evenkeel.fleet.plugins.modules.rehearsal import MODULE
from ansible_collections.evenkeel.fleet.plugins.plugin_utils.in_process import InProcessAction


class ActionModule(InProcessAction):
    _supports_async = False
    module = MODULE

    def _runs_here(self, task_vars: dict[str, Any]) -> bool:  # noqa: ARG002 - wherever it is
        return True
