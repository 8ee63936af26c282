# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a step does, and which error of a plan its failing is."""

from __future__ import annotations

from typing import Mapping

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.plan.status import (
    NODE_CREATE_FAILED,
    NODE_DELETE_FAILED,
    NODE_DRAIN_FAILED,
    NODE_PREPARE_FAILED,
)

PROVISION, CORDON, DRAIN = "provision", "cordon", "drain"
UPGRADE, UNCORDON, DELETE = "upgrade", "uncordon", "delete"

FAILING: Mapping[str, str] = {
    PROVISION: NODE_CREATE_FAILED,
    CORDON: NODE_PREPARE_FAILED,
    DRAIN: NODE_DRAIN_FAILED,
    UPGRADE: NODE_PREPARE_FAILED,
    UNCORDON: NODE_PREPARE_FAILED,
    DELETE: NODE_DELETE_FAILED,
}
ACTIONS = tuple(FAILING)
