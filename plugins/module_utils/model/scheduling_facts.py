# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What the scheduler's rules need to know of a fleet beside its nodes and pods."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Mapping

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.scheduling import SchedulingSpec
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.volumes import Storage


@dataclass(frozen=True)
class SchedulingFacts:
    """specs: by the UID of the pod. namespaces: name to labels."""

    specs: Mapping[str, SchedulingSpec] = field(default_factory=dict)
    namespaces: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    storage: Storage = field(default_factory=Storage)
