# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""evenkeel.fleet.plan on a live fleet, with exactly the rights of its manifest."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.base import Cluster
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.plan import (
    PlanOptions,
    plan,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import (
    InvalidOption,
    Refused,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.report import Report
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.node_selection import (
    NodeSelection,
)
from tests.control_plane.space import Space

from .calling import cluster_of, run_of

RIGHTS = Path(__file__).parents[2] / "docs" / "rbac" / "plan.yml"
TYPE = "node.kubernetes.io/instance-type"


@pytest.fixture
def cluster(space: Space) -> Iterator[Cluster]:
    with cluster_of(space, "planner", roles=RIGHTS) as opened:
        yield opened


def offerings(space: Space) -> list[dict[str, Any]]:
    """Of types that no other test's nodes have."""
    return [
        {
            "instance_type": f"{space.id}-{name}",
            "price_per_hour": price,
            "capacity": {"cpu": cpu, "memory": "16Gi", "pods": 50},
            "labels": {"space": space.id},
        }
        for name, price, cpu in (("large", "0.40", "16"), ("small", "0.06", "2"))
    ]


def half_empty(space: Space) -> list[str]:
    """Three large nodes with a small pod each."""
    names = space.nodes(3, cpu="16", labels={TYPE: f"{space.id}-large"})
    for number, name in enumerate(names):
        space.deployment(f"web{number}", 2, node=name, cpu="200m")
    space.wait_running()
    return names


def planned(space: Space, cluster: Cluster, names: list[str], **options: Any) -> Report:
    given = {"offerings": offerings(space), "selection": NodeSelection(nodes=tuple(names))}
    return plan(PlanOptions(**{**given, **options}), cluster, run_of())


def test_half_empty_nodes_are_replaced_and_nothing_is_written(
    space: Space, cluster: Cluster
) -> None:
    names = half_empty(space)
    report = planned(space, cluster, names)
    made = report.extra["plan"]
    assert (report.failure, report.changed, made["status"]) == ("", False, "READY")
    blue, green = made["configurations"]["blue"], made["configurations"]["green"]
    assert {node["name"] for node in blue["nodes"]} <= set(names)
    assert blue["cluster_totals"]["price_hourly"] == "1.2"
    assert float(green["cluster_totals"]["price_hourly"]) < 1.2
    assert made["rebalancing_nodes"] == [{"node_name": name} for name in sorted(names)]
    assert report.extra["unread"] == []
    assert "the cluster would cost" in report.msg
    assert space.writes("planner") == []


def test_a_bare_pod_keeps_its_node_until_the_setting_lets_it_go(
    space: Space, cluster: Cluster
) -> None:
    names = half_empty(space)
    space.bare_pod("bare", node=names[0])
    space.wait_running()
    kept = planned(space, cluster, names).extra["plan"]
    of_ours = [one for one in kept["refusals"] if one["node"] in names]
    assert [(one["node"], one["code"]) for one in of_ours] == [(names[0], "unmanaged")]
    assert names[0] not in {node["name"] for node in kept["configurations"]["blue"]["nodes"]}
    setting = {"ignore_problem_pods_without_controller": True}
    free = planned(space, cluster, names, aggressive_mode_config=setting).extra["plan"]
    assert [one for one in free["refusals"] if one["node"] in names] == []


@pytest.mark.parametrize("form", ["list", "yml", "json"])
def test_offerings_come_as_a_list_or_in_a_file(
    space: Space, cluster: Cluster, tmp_path: Path, form: str
) -> None:
    names = space.nodes(1, labels={TYPE: f"{space.id}-large"})
    given: Any = offerings(space)
    if form != "list":
        path = tmp_path / f"offerings.{form}"
        path.write_text(json.dumps(given) if form == "json" else yaml.safe_dump(given))
        given = str(path)
    made = planned(space, cluster, names, offerings=given, format="api").extra["plan"]
    assert made["configurations"]["blue"]["clusterTotals"]["priceHourly"] == "0.4"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        pytest.param({"offerings": "/no/such/file.yml"}, "No such file", id="no-file"),
        pytest.param({"offerings": []}, "not a list of offerings", id="no-offerings"),
        pytest.param({"max_nodes": -1}, "max_nodes: -1 is negative", id="negative"),
        pytest.param({"savings_percent": 101.0}, "101 is no share", id="more-than-all"),
        pytest.param({"min_savings_percent": -1.0}, "-1 is no share", id="less-than-none"),
    ],
)
def test_a_bad_option_is_refused_before_anything_is_read(
    space: Space, cluster: Cluster, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(InvalidOption) as refusal:
        planned(space, cluster, ["n1"], **options)
    assert words in str(refusal.value)
    assert space.audit.requests("planner") == []


def test_a_node_that_is_not_there_is_refused(space: Space, cluster: Cluster) -> None:
    with pytest.raises(Refused, match="no-such-node"):
        planned(space, cluster, ["no-such-node"])
