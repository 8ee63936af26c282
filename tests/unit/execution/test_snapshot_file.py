# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A snapshot's file is written whole or not at all, and only when it would say something new."""

from __future__ import annotations

import gzip
import json
import os
import stat

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.snapshot_file import (
    write_snapshot,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.documents import (
    budget_document,
    controller_document,
    node_document,
    summary_document,
    workload_document,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import InvalidOption
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.fleet import Fleet
from tests.unit.builders import budget, controller, node, pod

FLEET = Fleet(
    nodes=(node("n1"), node("n2")),
    pods=(pod("a"), pod("b")),
    budgets=(budget("b", selects={"app": "a"}),),
    controllers=(controller("web"),),
)
OBJECTS = {"nodes": [{"metadata": {"name": "n1"}}, {"metadata": {"name": "n2"}}], "pods": []}
OTHER = Fleet(nodes=(node("n1"),))

NAMES = pytest.mark.parametrize("name", ["fleet.json", "fleet.json.gz"])


def text(path):
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


@NAMES
def test_the_file_holds_every_document(tmp_path, name):
    path = tmp_path / name
    assert write_snapshot(str(path), FLEET, OBJECTS, dry=False)
    assert json.loads(text(path)) == {
        "version": 2,
        "summary": summary_document(FLEET),
        "nodes": [node_document(one, FLEET) for one in FLEET.nodes],
        "workloads": [workload_document(one, FLEET) for one in FLEET.pods],
        "budgets": [budget_document(one) for one in FLEET.budgets],
        "controllers": [controller_document(one) for one in FLEET.controllers],
        "autoscalers": [],
        "objects": OBJECTS,
    }
    assert os.listdir(tmp_path) == [name]


@NAMES
def test_the_same_fleet_is_not_written_again(tmp_path, name):
    path = tmp_path / name
    write_snapshot(str(path), FLEET, OBJECTS, dry=False)
    before = path.stat()
    assert not write_snapshot(str(path), FLEET, OBJECTS, dry=False)
    assert path.stat() == before or path.stat().st_ino == before.st_ino


@NAMES
def test_another_fleet_replaces_the_file(tmp_path, name):
    path = tmp_path / name
    write_snapshot(str(path), FLEET, OBJECTS, dry=False)
    assert write_snapshot(str(path), OTHER, {}, dry=False)
    assert len(json.loads(text(path))["nodes"]) == 1


@NAMES
def test_a_dry_run_predicts_and_writes_nothing(tmp_path, name):
    path = tmp_path / name
    assert write_snapshot(str(path), FLEET, OBJECTS, dry=True)
    assert os.listdir(tmp_path) == []


def test_a_file_that_is_no_gzip_is_replaced(tmp_path):
    path = tmp_path / "fleet.json.gz"
    path.write_text("something else")
    assert write_snapshot(str(path), FLEET, OBJECTS, dry=False)
    assert json.loads(text(path))["version"] == 2


def test_a_new_file_is_for_its_owner_only_and_an_old_one_keeps_its_mode(tmp_path):
    new, old = tmp_path / "new.json", tmp_path / "old.json"
    old.write_text("{}")
    old.chmod(0o644)
    for path in (new, old):
        write_snapshot(str(path), FLEET, OBJECTS, dry=False)
    assert [stat.S_IMODE(path.stat().st_mode) for path in (new, old)] == [0o600, 0o644]


@pytest.mark.parametrize(
    ("name", "words"),
    [("absent/fleet.json", "the directory .* does not exist"), ("", "is a directory")],
    ids=["no-directory", "a-directory"],
)
@pytest.mark.parametrize("dry", [False, True], ids=["real", "check-mode"])
def test_a_place_where_no_file_can_be_is_refused(tmp_path, name, words, dry):
    with pytest.raises(InvalidOption, match=f"dest: .*{words}"):
        write_snapshot(str(tmp_path / name), FLEET, OBJECTS, dry=dry)
