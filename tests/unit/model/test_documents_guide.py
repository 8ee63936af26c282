# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""docs/guides/snapshot.md names the keys of every document, all of them and in their order."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.documents import (
    budget_document,
    controller_document,
    node_document,
    workload_document,
)
from tests.unit.builders import budget, controller, fleet, node, pod

GUIDE = Path(__file__).resolve().parents[3] / "docs" / "guides" / "snapshot.md"
DOCUMENTS = {
    "node": node_document(node("n1"), fleet()),
    "workload": workload_document(pod("web-1"), fleet()),
    "budget": budget_document(budget("web")),
    "controller": controller_document(controller("web")),
}


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_the_guide_names_every_key(kind: str) -> None:
    row = f"| {kind} | `{' '.join(DOCUMENTS[kind])}` |"
    assert row in GUIDE.read_text(encoding="utf-8").splitlines()
