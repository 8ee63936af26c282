# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The module evenkeel.fleet.twin in the controller's process where that is possible."""

from __future__ import annotations

from ansible_collections.evenkeel.fleet.plugins.modules.twin import MODULE
from ansible_collections.evenkeel.fleet.plugins.plugin_utils.in_process import InProcessAction


class ActionModule(InProcessAction):
    module = MODULE
