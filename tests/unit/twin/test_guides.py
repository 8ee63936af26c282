# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What the guides on twins say is what a twin takes: examples that are read, and all keys."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

pytest.importorskip("yaml", reason="ansible-core brings it; managed nodes have no guides")

import yaml

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.faults import KINDS, parse_faults
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.pools import parse_pools
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.spec import (
    BudgetSpec,
    Pool,
    Workload,
    parse_spec,
)

GUIDES = Path(__file__).parents[3] / "docs" / "guides"
TWIN, FAULTS = (
    (GUIDES / name).read_text(encoding="utf-8") for name in ("twin.md", "twin_faults.md")
)


def examples(text):
    return [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", text, re.S)]


def row(text, name):
    return next(line for line in text.splitlines() if line.startswith(f"| `{name}`"))


@pytest.mark.parametrize("number", range(len(examples(FAULTS))))
def test_the_scripts_of_faults_can_be_read(number):
    assert parse_faults(examples(FAULTS)[number]["faults"])


def test_the_spec_and_the_pools_can_be_read():
    task, pools = examples(TWIN)
    assert parse_spec(task[0]["evenkeel.fleet.twin"]["spec"])
    assert parse_pools(pools["pools"])


@pytest.mark.parametrize("kind", KINDS)
def test_every_fault_is_there_with_its_own_keys(kind):
    named = re.findall(r"`(\w+)`", row(FAULTS, kind).split("|")[2])
    assert set(KINDS[kind].own) <= set(named)


@pytest.mark.parametrize(
    ("part", "entry"), [("nodes", Pool), ("workloads", Workload), ("budgets", BudgetSpec)]
)
def test_every_key_of_a_spec_is_there(part, entry):
    assert {one.name for one in fields(entry)} <= set(re.findall(r"`(\w+)`", row(TWIN, part)))
