# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Cordons on a real API server. Cases C16, C19, C20, C25."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.base import Cluster
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.cordon import (
    CordonOptions,
    cordon,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import (
    Conflict,
    FleetError,
    InvalidOption,
    Refused,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.report import Report
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.node_selection import (
    NodeSelection,
)
from tests.control_plane.plane import Plane
from tests.control_plane.space import Space

from .calling import PREFIX, cluster_of, codes, run_of

OWNERS = PREFIX + "cordon-owners"
MARK = PREFIX + "maintenance-cordoned"


@pytest.fixture
def cluster(space: Space) -> Iterator[Cluster]:
    with cluster_of(space) as opened:
        yield opened


def close(cluster: Cluster, *names: str, check_mode: bool = False, **options: Any) -> Report:
    chosen = CordonOptions(NodeSelection(nodes=names), "cordoned", **options)
    return cordon(chosen, cluster, run_of(check_mode=check_mode))


def open_again(cluster: Cluster, *names: str, check_mode: bool = False, **options: Any) -> Report:
    chosen = CordonOptions(NodeSelection(nodes=names), "uncordoned", **options)
    return cordon(chosen, cluster, run_of(check_mode=check_mode))


def closed(space: Space, name: str) -> bool:
    return bool(space.node(name)["spec"].get("unschedulable", False))


def annotations(space: Space, name: str) -> dict[str, str]:
    """Ours alone."""
    found = space.node(name)["metadata"].get("annotations", {})
    return {key: value for key, value in found.items() if key.startswith(PREFIX)}


def owners(space: Space, name: str) -> list[str]:
    text = annotations(space, name).get(OWNERS, "[]")
    return [row["owner"] for row in json.loads(text)]


def test_a_node_is_closed_signed_and_opened_without_a_trace(space: Space, cluster: Cluster) -> None:
    n1, n2 = space.nodes(2)
    first = close(cluster, n1, n2, reason="disk swap")
    assert codes(first) == {"done": [(n1, "cordoned"), (n2, "cordoned")]}
    assert first.extra == {"cordoned": [n1, n2], "uncordoned": []}
    assert closed(space, n1)
    assert (owners(space, n1), annotations(space, n1)[MARK]) == (["maintenance"], "true")

    assert codes(close(cluster, n1, n2)) == {
        "skipped": [(n1, "already_cordoned"), (n2, "already_cordoned")]
    }
    last = open_again(cluster, n1, n2)
    assert codes(last) == {"done": [(n1, "uncordoned"), (n2, "uncordoned")]}
    assert last.changed
    assert not closed(space, n1)
    assert annotations(space, n1) == {}
    again = open_again(cluster, n1, n2)
    assert (again.changed, again.diff) == (False, {})


def test_the_diff_shows_schedulability_and_our_annotations(space: Space, cluster: Cluster) -> None:
    (n1,) = space.nodes(1)
    diff = close(cluster, n1).diff
    assert diff["before"] == {n1: {"annotations": {}, "unschedulable": False}}
    assert diff["after"][n1]["unschedulable"] is True
    assert set(diff["after"][n1]["annotations"]) == {OWNERS, MARK}


def test_c19_a_cordon_found_stays_at_the_end_and_maintenance_leaves_no_mark(
    space: Space, cluster: Cluster
) -> None:
    (n1,) = space.nodes(1)
    space.cordon(n1)
    entered = close(cluster, n1)
    assert codes(entered) == {"skipped": [(n1, "already_cordoned")]}
    assert entered.extra == {"cordoned": [], "uncordoned": []}
    assert owners(space, n1) == ["someone-else", "maintenance"]
    assert MARK not in annotations(space, n1)

    left = open_again(cluster, n1)
    assert codes(left) == {"skipped": [(n1, "held_by_others")]}
    assert left.extra == {"cordoned": [], "uncordoned": []}
    assert closed(space, n1)
    assert annotations(space, n1) == {}


def test_a_node_opens_when_its_last_owner_leaves(space: Space, cluster: Cluster) -> None:
    (n1,) = space.nodes(1)
    close(cluster, n1, owner="team-a")
    close(cluster, n1, owner="team-b")
    assert codes(open_again(cluster, n1, owner="team-a")) == {"skipped": [(n1, "held_by_others")]}
    assert codes(open_again(cluster, n1, owner="team-a")) == {"skipped": [(n1, "not_owner")]}
    assert closed(space, n1)
    assert codes(open_again(cluster, n1, owner="team-b")) == {"done": [(n1, "uncordoned")]}
    assert not closed(space, n1)


def test_release_all_opens_whoever_holds_it(space: Space, cluster: Cluster) -> None:
    (n1,) = space.nodes(1)
    space.cordon(n1)
    close(cluster, n1, owner="team-a")
    assert open_again(cluster, n1, release_all=True).extra == {"cordoned": [], "uncordoned": [n1]}
    assert (closed(space, n1), annotations(space, n1)) == (False, {})


def test_c25_a_drift_fails_with_the_remedy_and_is_not_fought(
    space: Space, cluster: Cluster
) -> None:
    n1, n2 = space.nodes(2)
    close(cluster, n1)
    space.uncordon(n1)
    report = close(cluster, n1, n2)
    assert codes(report) == {"done": [(n2, "cordoned")], "failed": [(n1, "drifted")]}
    assert report.failure == "drifted"
    assert "kubectl cordon" in report.msg
    assert not closed(space, n1)


def test_c25_after_a_drift_a_cordon_by_hand_lets_it_go_on_and_the_exit_opens_it(
    space: Space, cluster: Cluster
) -> None:
    (n1,) = space.nodes(1)
    close(cluster, n1)
    space.uncordon(n1)
    space.cordon(n1)
    assert close(cluster, n1).failure == ""
    assert codes(open_again(cluster, n1)) == {"done": [(n1, "uncordoned")]}


def test_c25_after_a_drift_giving_the_claim_up_allows_to_ask_anew(
    space: Space, cluster: Cluster
) -> None:
    (n1,) = space.nodes(1)
    close(cluster, n1)
    space.uncordon(n1)
    left = open_again(cluster, n1)
    assert (codes(left), left.changed) == ({"skipped": [(n1, "already_uncordoned")]}, True)
    assert annotations(space, n1) == {}
    assert codes(close(cluster, n1)) == {"done": [(n1, "cordoned")]}


@pytest.mark.parametrize("state", ["cordoned", "uncordoned"])
def test_c16_check_mode_predicts_and_writes_nothing(
    space: Space, cluster: Cluster, state: str
) -> None:
    n1, n2 = space.nodes(2)
    if state == "uncordoned":
        close(cluster, n1, n2)
    mark = space.audit.mark()
    act = close if state == "cordoned" else open_again
    predicted = act(cluster, n1, n2, check_mode=True)
    assert space.writes(since=mark) == []
    real = act(cluster, n1, n2)
    assert (predicted.result(), predicted.extra) == (real.result(), real.extra)
    assert predicted.changed
    assert set(predicted.diff["after"]) == set(real.diff["after"])


def test_a_node_without_any_annotation_is_closed_and_opened(space: Space, cluster: Cluster) -> None:
    (n1,) = space.nodes(1)
    space.patch_node(n1, {"metadata": {"annotations": {"$patch": "replace"}}})
    close(cluster, n1)
    assert owners(space, n1) == ["maintenance"]
    open_again(cluster, n1)
    assert (closed(space, n1), annotations(space, n1)) == (False, {})


def test_the_annotation_of_kubectl_apply_survives(space: Space, cluster: Cluster) -> None:
    """The model leaves it out: the map is there, though it looks empty."""
    (n1,) = space.nodes(1)
    applied = "kubectl.kubernetes.io/last-applied-configuration"
    space.patch_node(n1, {"metadata": {"annotations": {"$patch": "replace", applied: "{}"}}})
    close(cluster, n1)
    assert space.node(n1)["metadata"]["annotations"][applied] == "{}"


class Meddling:
    """Passes everything on; lets somebody else write just before each of the first patches."""

    def __init__(self, cluster: Cluster, *meddlings: Any) -> None:
        self._cluster = cluster
        self._meddlings = list(meddlings)
        self.patches = 0

    def patch(self, *arguments: Any, **named: Any) -> Any:
        self.patches += 1
        if self._meddlings:
            self._meddlings.pop(0)()
        return self._cluster.patch(*arguments, **named)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cluster, name)


def meddled(cluster: Cluster, *meddlings: Any) -> Any:
    return Meddling(cluster, *meddlings)


def test_a_kubelet_that_writes_its_status_in_between_is_no_conflict(
    space: Space, cluster: Cluster
) -> None:
    (n1,) = space.nodes(1)
    between = meddled(cluster, lambda: space.reboot(n1))
    assert codes(close(between, n1)) == {"done": [(n1, "cordoned")]}
    assert between.patches == 1


def test_an_admin_who_closes_the_node_in_between_keeps_his_cordon(
    space: Space, cluster: Cluster
) -> None:
    (n1,) = space.nodes(1)
    between = meddled(cluster, lambda: space.cordon(n1))
    assert codes(close(between, n1)) == {"skipped": [(n1, "already_cordoned")]}
    assert between.patches == 2
    assert owners(space, n1) == ["someone-else", "maintenance"]


def test_an_owner_who_joins_in_between_keeps_the_node_closed(
    space: Space, cluster: Cluster
) -> None:
    (n1,) = space.nodes(1)
    close(cluster, n1, owner="team-a")
    between = meddled(cluster, lambda: close(cluster, n1, owner="team-b"))
    assert codes(open_again(between, n1, owner="team-a")) == {"skipped": [(n1, "held_by_others")]}
    assert (closed(space, n1), owners(space, n1)) == (True, ["team-b"])


def test_a_node_that_changes_all_the_time_ends_in_a_conflict_and_tells_what_was_done(
    space: Space, cluster: Cluster
) -> None:
    n1, n2 = space.nodes(2)

    def toggle(closes: bool) -> Any:
        return lambda: (space.cordon if closes else space.uncordon)(n2)

    between = meddled(cluster, lambda: None, *(toggle(number % 2 == 0) for number in range(12)))
    report = close(between, n1, n2)
    assert (report.failure, report.changed) == (Conflict.code, True)
    assert codes(report) == {"done": [(n1, "cordoned")], "pending": [(n2, "not_reached")]}


def test_owners_that_come_at_once_are_all_written_down(space: Space, cluster: Cluster) -> None:
    (n1,) = space.nodes(1)
    names = [f"team-{number}" for number in range(6)]
    threads = [
        threading.Thread(target=close, args=(cluster, n1), kwargs={"owner": name}) for name in names
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(owners(space, n1)) == names


def test_a_node_that_vanishes_in_between_is_skipped_and_the_others_go_on(
    space: Space, cluster: Cluster
) -> None:
    n1, n2 = space.nodes(2)
    between = meddled(cluster, lambda: space.remove_node(n1))
    assert codes(close(between, n1, n2)) == {
        "done": [(n2, "cordoned")],
        "skipped": [(n1, "node_gone")],
    }


def test_c23_nodes_that_are_gone_are_skipped_only_where_that_is_asked_for(
    space: Space, cluster: Cluster
) -> None:
    n1, n2 = space.nodes(2)
    space.remove_node(n1)
    with pytest.raises(Refused, match=f"Node {n1}: not in this cluster"):
        close(cluster, n1, n2)
    assert codes(close(cluster, n1, n2, ignore_not_found=True)) == {
        "done": [(n2, "cordoned")],
        "skipped": [(n1, "node_gone")],
    }
    assert codes(close(cluster, n1, ignore_not_found=True)) == {"skipped": [(n1, "node_gone")]}


def test_another_node_of_the_same_name_is_not_touched(space: Space, cluster: Cluster) -> None:
    (n1,) = space.nodes(1)
    document = space.node(n1)

    def replace() -> None:
        space.remove_node(n1)
        labels = document["metadata"]["labels"]
        space.api.create("/api/v1/nodes", {"metadata": {"name": n1, "labels": labels}})

    assert codes(close(meddled(cluster, replace), n1)) == {"skipped": [(n1, "node_gone")]}
    assert not closed(space, n1)


def test_a_malformed_list_of_owners_is_refused_before_any_write(
    space: Space, cluster: Cluster
) -> None:
    n1, n2 = space.nodes(2)
    space.annotate_node(n2, **{OWNERS: "maintenance"})
    with pytest.raises(Refused) as refusal:
        close(cluster, n1, n2)
    assert refusal.value.code == "malformed_owners"
    assert space.writes() == []


@pytest.mark.parametrize(
    ("options", "option"),
    [
        ({"state": "closed"}, "state"),
        ({"state": "cordoned", "release_all": True}, "release_all"),
        ({"state": "cordoned", "owner": "someone-else"}, "owner"),
        ({"state": "cordoned", "owner": " "}, "owner"),
    ],
)
def test_a_wrong_option_is_named_before_anything_is_read(
    space: Space, cluster: Cluster, options: dict[str, Any], option: str
) -> None:
    with pytest.raises(InvalidOption) as problem:
        cordon(CordonOptions(NodeSelection(nodes=("n1",)), **options), cluster, run_of())
    assert problem.value.option == option
    assert space.requests() == []


def test_an_unknown_node_is_named_before_any_write(space: Space, cluster: Cluster) -> None:
    (n1,) = space.nodes(1)
    with pytest.raises(Refused) as refusal:
        close(cluster, n1, "no-such-node")
    assert (refusal.value.code, space.writes()) == ("unknown_nodes", [])


def test_a_missing_verb_ends_the_call_with_one_sentence(space: Space, tmp_path: Path) -> None:
    (n1,) = space.nodes(1)
    roles = tmp_path / "roles.yml"
    roles.write_text(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: reader}\n"
        'rules: [{apiGroups: [""], resources: [nodes], verbs: [get, list]}]\n',
        encoding="utf-8",
    )
    with cluster_of(space, "reader", roles=roles) as reader:
        report = close(reader, n1)
    assert (report.failure, report.changed) == ("forbidden", False)
    assert codes(report) == {"pending": [(n1, "not_reached")]}
    assert "patch nodes" in report.msg


def test_an_interruption_between_two_nodes_tells_what_was_done(
    space: Space, cluster: Cluster
) -> None:
    n1, n2 = space.nodes(2)
    run = run_of(interruption=lambda: "SIGTERM" if closed(space, n1) else "")
    report = cordon(CordonOptions(NodeSelection(nodes=(n1, n2)), "cordoned"), cluster, run)
    assert (report.failure, report.changed) == ("interrupted", True)
    assert codes(report) == {"done": [(n1, "cordoned")], "pending": [(n2, "not_reached")]}


def test_the_last_schedulable_node_is_refused_before_any_write_unless_allowed(
    own_plane: Plane, tmp_path: Path
) -> None:
    space = Space(own_plane, tmp_path)
    n1, n2 = space.nodes(2)
    with cluster_of(space) as cluster:
        for names in ((n1, n2), (n1,)):
            if len(names) == 1:
                space.cordon(n2)
            with pytest.raises(FleetError) as refusal:
                close(cluster, *names)
            assert refusal.value.code == "last_schedulable_node"
        assert space.writes() == []
        assert codes(close(cluster, n1, allow_last=True)) == {"done": [(n1, "cordoned")]}
        # What is closed already is no new loss: the second run goes through.
        assert codes(close(cluster, n1)) == {"skipped": [(n1, "already_cordoned")]}
