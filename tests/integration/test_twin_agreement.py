# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Whole dialogues with the twin and with the real API server, whose answers have to agree.

Where test_twin_conformance.py asks for what the collection sends, this asks for what any client of
the API may send: defaults, refusals, patches, deletion, rights, selectors, pages.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.rbac import User
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.twin import Settings, Twin
from tests.control_plane.api import Api, Document
from tests.control_plane.space import Space

from . import conformance_evictions, conformance_kinds
from .conformance import NODES, Script, Side, differences
from .conformance_scripts import SCRIPTS

ALL_SCRIPTS = (*SCRIPTS, *conformance_evictions.SCRIPTS, *conformance_kinds.SCRIPTS)

NOBODY = "roles-of-nobody.yml"


@pytest.fixture(scope="module")
def twin() -> Iterator[Twin]:
    made = Twin(Settings(time.time()))
    made.start()
    yield made
    made.stop()


@pytest.fixture
def sides(space: Space, twin: Twin, tmp_path: Path) -> tuple[Side, Side]:
    """Both know one namespace, and a node that no kubelet looks after; `limited` may do nothing."""
    roles = tmp_path / NOBODY
    roles.write_text("[]\n")
    space.kubeconfig("limited", roles=roles)
    user = space.token("limited")
    limited = Api(space.plane.server, user, space.plane.layout.certificate)
    token = twin.kubeconfig()["users"][0]["user"]["token"]
    other = Api(twin.url, token, None)
    node = f"node-{space.id}"
    body = {"metadata": {"name": node, "labels": {"kubelet": "stopped"}}}
    space.add(NODES, body)
    other.create(NODES, body)
    # The node lifecycle controller takes the taint away, as no condition speaks against the node.
    space.wait(lambda: "taints" not in space.api.get(f"{NODES}/{node}")["spec"], "no taint is left")
    other.patch(f"{NODES}/{node}", {"spec": {"taints": None}})
    other.create("/api/v1/namespaces", {"metadata": {"name": space.namespace}})
    groups = ("observed", "system:authenticated")
    unknown = Api(twin.url, twin.add_user(User(user, groups)), None)
    settled: list[Document] = []
    return (
        Side(space.api, limited, space.namespace, node, user, settled),
        Side(other, unknown, space.namespace, node, user, settled, real=False),
    )


@pytest.mark.parametrize("script", ALL_SCRIPTS, ids=lambda script: script.__name__)
def test_a_dialogue_goes_the_same_way(sides: tuple[Side, Side], script: Script) -> None:
    real, twin = sides
    script(real)
    try:
        script(twin)
    finally:
        found = differences(real, twin)
        assert not found, "\n".join(found)
