# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What counts as a write in the audit log."""

from __future__ import annotations

from typing import Any

import pytest

from tests.control_plane.audit import Request


def request(**changes: Any) -> Request:
    fields = {
        "user": "runner-0001",
        "agent": "kubectl/v1.37.1",
        "verb": "get",
        "group": "",
        "resource": "nodes",
        "subresource": "",
        "namespace": "",
        "name": "n1",
        "uri": "/api/v1/nodes/n1",
        "status": 200,
        "body": None,
    }
    return Request(**{**fields, **changes})


@pytest.mark.parametrize(
    ("one", "writes"),
    [
        pytest.param(request(), False, id="reading"),
        pytest.param(request(verb="list"), False, id="listing"),
        pytest.param(request(verb="watch"), False, id="watching"),
        pytest.param(request(verb="patch"), True, id="patching"),
        pytest.param(request(verb="patch", status=409), True, id="a-refused-write"),
        pytest.param(
            request(verb="patch", uri="/api/v1/nodes/n1?dryRun=All"), True, id="a-dry-run"
        ),
        pytest.param(
            request(verb="create", resource="pods", subresource="eviction"), True, id="evicting"
        ),
        pytest.param(request(verb="deletecollection"), True, id="deleting-many"),
        pytest.param(
            request(
                verb="create", group="authorization.k8s.io", resource="selfsubjectaccessreviews"
            ),
            False,
            id="asking-what-one-may-do",
        ),
    ],
)
def test_a_write_is_what_asks_for_a_change(one: Request, writes: bool) -> None:
    assert one.writes is writes


def test_a_request_reads_as_verb_object_and_status() -> None:
    evicting = request(
        verb="create", resource="pods", subresource="eviction", namespace="shop", name="web-1"
    )

    assert str(evicting) == "create pods/eviction shop/web-1 200"
