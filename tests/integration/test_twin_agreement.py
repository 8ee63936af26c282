# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Whole dialogues with the twin and with the real API server, whose answers have to agree.

Where test_twin_agreement.py asks for what the collection sends, this asks for what any client of
the API may send: defaults, refusals, patches, deletion, rights, selectors, pages.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.rbac import User
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.twin import Settings, Twin
from tests.control_plane.api import Api, Document
from tests.control_plane.plane import Plane
from tests.control_plane.space import Space

from . import conformance_evictions, conformance_kinds
from .conformance import NODES, Script, Side, differences
from .conformance_scripts import SCRIPTS

ALL_SCRIPTS = (*SCRIPTS, *conformance_evictions.SCRIPTS, *conformance_kinds.SCRIPTS)


@dataclass(frozen=True)
class Servers:
    """What all dialogues share; `nobody` is a user who may do nothing, `node` has no kubelet."""

    space: Space
    twin: Api
    nobody: tuple[Api, Api]
    user: str
    node: str


@pytest.fixture(scope="module")
def servers(plane: Plane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    scratch = tmp_path_factory.mktemp("twin")
    twin = Twin(Settings(time.time()))
    twin.start()
    space = Space(plane, scratch)
    try:
        yield _servers(space, twin, scratch)
    finally:
        space.close()
        twin.stop()


def _servers(space: Space, twin: Twin, scratch: Path) -> Servers:
    roles = scratch / "roles-of-nobody.yml"
    roles.write_text("[]\n")
    space.kubeconfig("limited", roles=roles)
    user = space.token("limited")
    limited = Api(space.plane.server, user, space.plane.layout.certificate)
    token = twin.kubeconfig()["users"][0]["user"]["token"]
    api = Api(twin.url, token, None)
    node = f"node-{space.id}"
    body = {"metadata": {"name": node, "labels": {"kubelet": "stopped"}}}
    space.add(NODES, body)
    api.create(NODES, body)
    # The node lifecycle controller takes the taint away, as no condition speaks against the node.
    space.wait(lambda: "taints" not in space.api.get(f"{NODES}/{node}")["spec"], "no taint is left")
    api.patch(f"{NODES}/{node}", {"spec": {"taints": None}})
    unknown = twin.add_user(User(user, ("observed", "system:authenticated")))
    return Servers(space, api, (limited, Api(twin.url, unknown, None)), user, node)


@pytest.fixture
def sides(servers: Servers) -> tuple[Side, Side]:
    """Both servers, with an empty namespace of the same name."""
    space, node, user = servers.space, servers.node, servers.user
    namespace = space.add_namespace(f"t-{space.id}-{uuid.uuid4().hex[:6]}")
    servers.twin.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
    settled: list[Document] = []
    real, twin = servers.nobody
    return (
        Side(space.api, real, namespace, node, user, settled),
        Side(servers.twin, twin, namespace, node, user, settled, real=False),
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
