# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What of a playbook's variables reaches the rehearsed run, and what becomes of its hooks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import InvalidOption
from ansible_collections.evenkeel.fleet.plugins.module_utils.rehearsal.options import (
    CONNECTION,
    HOOKS,
    Hook,
    RehearsalOptions,
    check,
    hooks_of,
    playbook_of,
    variables_of,
)

ROOT = Path(__file__).parents[3]
ENTER = "maintenance_enter"


def test_a_playbook_may_be_named_with_its_collection():
    assert playbook_of(RehearsalOptions("evenkeel.fleet.maintenance_exit")) == "maintenance_exit"


@pytest.mark.parametrize("name", ["site.yml", "doctor", "other.fleet.maintenance_enter", ""])
def test_only_playbooks_that_touch_nothing_but_the_cluster_are_rehearsed(name):
    with pytest.raises(InvalidOption, match="cannot be rehearsed"):
        check(RehearsalOptions(name))


def test_a_hook_with_a_duration_is_waited_for_whether_its_file_is_known_or_not():
    options = RehearsalOptions(ENTER, {}, {"maintenance_tasks": "20m"})
    assert hooks_of(options) == (Hook("maintenance_tasks", 1200.0, True),)


def test_a_hook_without_a_duration_takes_no_time_and_is_named():
    options = RehearsalOptions(ENTER, {"maintenance_tasks": "patch.yml"})
    assert hooks_of(options) == (Hook("maintenance_tasks", 0.0, False),)


def test_a_duration_of_a_hook_that_the_playbook_has_not_is_refused():
    with pytest.raises(InvalidOption, match="patching is no hook of maintenance_enter"):
        check(RehearsalOptions(ENTER, {}, {"patching": 5}))


def test_a_duration_that_is_none_is_refused():
    with pytest.raises(InvalidOption, match="maintenance_tasks"):
        check(RehearsalOptions(ENTER, {}, {"maintenance_tasks": "soon"}))


def test_two_sources_or_no_seed_are_refused():
    with pytest.raises(InvalidOption, match="snapshot is given, too"):
        check(RehearsalOptions(ENTER, snapshot="fleet.json", spec={}))
    with pytest.raises(InvalidOption, match="seeds"):
        check(RehearsalOptions(ENTER, seeds=()))


def test_a_pace_that_is_none_is_refused():
    with pytest.raises(InvalidOption, match=r"pace\.stop"):
        check(RehearsalOptions(ENTER, pace={"stop": "soon"}))


def test_the_rehearsed_run_gets_the_variables_but_no_way_to_a_cluster_and_no_task_file():
    given = {
        "nodes": "n1",
        "context": "prod",
        "kubeconfig": "/home/me/prod",
        "cluster": "prod",
        "maintenance_tasks": "patch.yml",
        "maintenance_after_tasks": "tell.yml",
    }
    options = RehearsalOptions(ENTER, given)
    assert variables_of(options, {"maintenance_tasks": "/tmp/wait.yml"}, "/tmp/twin") == {
        "nodes": "n1",
        "kubeconfig": "/tmp/twin",
        "maintenance_before_tasks": "",
        "maintenance_tasks": "/tmp/wait.yml",
        "maintenance_after_tasks": "",
    }


@pytest.mark.parametrize("name", HOOKS)
def test_the_playbook_passes_on_every_variable_of_those_that_it_rehearses(name):
    """Also the task files: a role's variable that names one is a hook."""
    rehearse = yaml.safe_load((ROOT / "playbooks" / "rehearse.yml").read_text())
    passed_on = set(rehearse[1]["vars"]["__rehearse_names"]) | set(CONNECTION)
    text = (ROOT / "playbooks" / f"{name}.yml").read_text()
    taken = set(re.findall(r"{{ (\w+) \| default", text))
    assert taken <= passed_on
    assert set(HOOKS[name]) <= passed_on


def test_every_task_file_of_the_role_is_a_hook():
    defaults = yaml.safe_load(
        (ROOT / "roles" / "maintenance" / "defaults" / "main.yml").read_text()
    )
    files = {name for name in defaults if name.endswith("_tasks")}
    assert files == set(HOOKS[ENTER])
