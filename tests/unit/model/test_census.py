# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""model/census: what is counted of all pods of a fleet."""

from __future__ import annotations

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.census import (
    Census,
    Usage,
    take_census,
)
from tests.unit.builders import pod

SMALL, LARGE = {"cpu": 100}, {"cpu": 900, "memory": 2**30}


def test_pods_are_counted_and_their_requests_added_up_by_node():
    pods = [
        pod("a", node="n1", requests=SMALL),
        pod("b", node="n1", requests=SMALL, ready=False),
        pod("c", node="n1", requests=LARGE),
        pod("d", node="n2", requests=LARGE, phase="Succeeded", ready=False),
        pod("e", node="", requests=LARGE, phase="Pending", ready=False, namespace="other"),
    ]
    usage = {"n1": Usage(3, {"cpu": 1100, "memory": 2**30}), "": Usage(1, LARGE)}
    assert take_census(pods) == Census(ready=2, terminating=0, namespaces=2, usage=usage)
    assert take_census(pods).usage_of("n2") == Usage(0, {})
