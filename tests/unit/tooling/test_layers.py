# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The import contracts of pyproject.toml fail when an import goes the wrong way.

They are run on a small tree with one module per layer, into which each case puts one import.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

CONFIGURATION = Path(__file__).parents[3] / "pyproject.toml"
PLUGINS = "ansible_collections.evenkeel.fleet.plugins"
UTILS = f"{PLUGINS}.module_utils"
MODULES = (
    "action.x",
    "module_utils.backends.base",
    "module_utils.backends.kubernetes.x",
    "module_utils.execution.x",
    "module_utils.interface.x",
    "module_utils.model.x",
    "module_utils.planning.x",
    "module_utils.policy.x",
    "module_utils.rehearsal.x",
    "modules.x",
)
DOWNWARD = "Imports go downward only"
SDKS = "Only backends import the SDKs"
ANSIBLE = "Below the interface nothing knows Ansible"


@pytest.mark.parametrize(
    ("module", "imported", "broken"),
    [
        ("module_utils.model.x", f"{UTILS}.policy.x", DOWNWARD),
        ("module_utils.policy.x", f"{UTILS}.planning.x", DOWNWARD),
        ("module_utils.planning.x", f"{UTILS}.backends.base", DOWNWARD),
        ("module_utils.backends.base", f"{UTILS}.execution.x", DOWNWARD),
        ("module_utils.execution.x", f"{UTILS}.backends.kubernetes.x", DOWNWARD),
        ("module_utils.backends.kubernetes.x", f"{UTILS}.execution.x", DOWNWARD),
        ("module_utils.execution.x", f"{UTILS}.interface.x", DOWNWARD),
        ("module_utils.execution.x", f"{UTILS}.rehearsal.x", DOWNWARD),
        ("module_utils.rehearsal.x", f"{UTILS}.interface.x", DOWNWARD),
        ("module_utils.interface.x", f"{PLUGINS}.modules.x", DOWNWARD),
        ("module_utils.execution.x", "kubernetes.client", SDKS),
        ("module_utils.backends.base", "ansible.errors", ANSIBLE),
        ("module_utils.interface.x", "urllib3", SDKS),
        ("module_utils.policy.x", "ansible.module_utils.basic", ANSIBLE),
        ("modules.x", "kubernetes", SDKS),
    ],
)
def test_an_import_that_goes_the_wrong_way_breaks_its_contract(
    tmp_path: Path, module: str, imported: str, broken: str
) -> None:
    _write_tree(tmp_path)
    _file(tmp_path, module).write_text(f"import {imported}\n")

    status, output = _lint(tmp_path)

    assert status == 1, output
    assert f"{broken} BROKEN" in output


@pytest.mark.parametrize(
    ("module", "imported"),
    [
        ("action.x", f"{PLUGINS}.modules.x"),
        ("module_utils.backends.kubernetes.x", "kubernetes"),
        ("module_utils.backends.kubernetes.x", f"{UTILS}.backends.base"),
        ("module_utils.execution.x", f"{UTILS}.planning.x"),
        ("module_utils.interface.x", "ansible.module_utils.basic"),
        ("module_utils.interface.x", f"{UTILS}.backends.kubernetes.x"),
        ("modules.x", "ansible.module_utils.basic"),
    ],
)
def test_an_import_that_goes_downward_keeps_the_contracts(
    tmp_path: Path, module: str, imported: str
) -> None:
    _write_tree(tmp_path)
    _file(tmp_path, module).write_text(f"import {imported}\n")

    status, output = _lint(tmp_path)

    assert status == 0, output


def _write_tree(root: Path) -> None:
    for module in MODULES:
        path = _file(root, module)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    for directory in (root / PLUGINS.replace(".", "/") / "module_utils").rglob("*"):
        if directory.is_dir():
            (directory / "__init__.py").write_text("")


def _file(root: Path, module: str) -> Path:
    return root.joinpath(*f"{PLUGINS}.{module}".split(".")).with_suffix(".py")


def _lint(root: Path) -> tuple[int, str]:
    """Status and output. Without site (-S), so that only this tree is found, not the checkout."""
    program = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    path = os.pathsep.join((str(root), sysconfig.get_path("purelib")))
    answer = subprocess.run(
        [sys.executable, "-S", "-c", program, "--no-cache", "--config", str(CONFIGURATION)],
        cwd=root,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    return answer.returncode, answer.stdout + answer.stderr
