# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The stages of `make test`: what each shows, what it needs, what it runs.

The order of CATALOGUE is the order in which they start: long ones first, so that the short ones
fill the gaps. A stage runs in a process of its own, `python -m tools.stage NAME`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable

from tools.environments import CORE_219, DEV, PYTHON_39, Environment
from tools.machine import Need, files_like, python_for
from tools.workspace import Workspace

LAYERS = "ansible_collections.evenkeel.fleet.plugins"
UTILS = f"{LAYERS}.module_utils"
# Unit tests that import Ansible itself or our tools: nothing of that runs on a managed node.
CONTROLLER_ONLY = ("action", "filter", "interface", "modules", "plugin_utils", "tooling")
# Integration tests that start ansible-playbook: what another ansible-core could break.
SMOKE = ("-m", "smoke", "tests/integration")
PYTEST = ("python", "-m", "pytest", "-q", "-p", "no:cacheprovider")


@dataclass(frozen=True)
class Stage:
    """One line of the summary.

    shows: what is known once it has passed; group: "lint" or "test"; weight: how many cores it
    keeps busy; after: stages that must have passed before.
    """

    name: str
    shows: str
    run: Callable[[Workspace], None]
    group: str = "test"
    weight: int = 1
    needs: tuple[Need, ...] = ()
    after: tuple[str, ...] = ()


def _command(*command: str, environment: Environment = DEV) -> Callable[[Workspace], None]:
    return lambda workspace: workspace.call(environment, *command)


def _in_copy(
    purpose: str, *command: str, environment: Environment = DEV
) -> Callable[[Workspace], None]:
    return lambda workspace: workspace.call_in_copy(environment, purpose, *command)


def _mypy(workspace: Workspace) -> None:
    strict = [f"{UTILS}.{layer}" for layer in ("model", "policy", "planning")]
    packages = [part for name in strict for part in ("-p", name)]
    workspace.call(DEV, "mypy", "--strict", *packages)
    workspace.call(DEV, "mypy", "-p", LAYERS)
    workspace.call(DEV, "mypy", "--strict", "tools")


def _units_39(workspace: Workspace) -> None:
    ignored = [f"--ignore=tests/unit/{name}" for name in CONTROLLER_ONLY]
    workspace.call(PYTHON_39, *PYTEST, *ignored, "tests/unit")


def _sanity(environment: Environment, *options: str) -> Callable[[Workspace], None]:
    purpose = f"sanity-{environment.name}"
    command = ("ansible-test", "sanity", "--color", "no", *options)
    return _in_copy(purpose, *command, environment=environment)


CATALOGUE: tuple[Stage, ...] = (
    Stage(
        "control-plane",
        "etcd, the API server, its controllers and KWOK are built",
        _command("python", "-m", "tests.control_plane", "build"),
        weight=2,
    ),
    Stage(
        "integration",
        "every module, role and playbook works on a real control plane",
        # Two at a time, which wait more than they work: beside them there is a core to spare.
        _command(*PYTEST, "-n", "2", "--dist", "worksteal", "--durations=25", "tests/integration"),
        needs=(files_like("tests/integration/test_*.py"),),
        after=("control-plane",),
    ),
    Stage(
        "sanity",
        "ansible-test sanity passes on the newest ansible-core, with nothing ignored",
        _sanity(DEV),
    ),
    Stage(
        "chaos",
        "a sample of killed runs and broken answers leaves the cluster as it should be",
        _command(*PYTEST, "-n", "2", "tests/chaos"),
        needs=(files_like("tests/chaos/test_*.py"),),
        after=("control-plane", "integration"),
    ),
    Stage(
        "sanity-core-2.19",
        "the same on ansible-core 2.19 with Python 3.11",
        # The other Pythons are seen by the newest ansible-core.
        _sanity(CORE_219, "--python", "3.11"),
        needs=(python_for(CORE_219),),
    ),
    Stage(
        "chaos-twin",
        "runs that are killed at each request, and an API that fails at each, on a twin",
        _command(*PYTEST, "-n", "2", "tests/chaos_twin"),
        needs=(files_like("tests/chaos_twin/test_*.py"),),
    ),
    Stage(
        "units",
        "each rule and algorithm by itself",
        _command(*PYTEST, "tests/unit"),
        needs=(files_like("tests/unit/**/test_*.py"),),
    ),
    Stage(
        "units-python-3.9",
        "the same for all that runs on a managed node, on its oldest Python",
        _units_39,
        needs=(files_like("tests/unit/**/test_*.py"), python_for(PYTHON_39)),
    ),
    Stage(
        "units-core-2.19",
        "the same on ansible-core 2.19 with Python 3.11",
        _command(*PYTEST, "tests/unit", "--ignore=tests/unit/tooling", environment=CORE_219),
        needs=(files_like("tests/unit/**/test_*.py"), python_for(CORE_219)),
    ),
    Stage(
        "smoke-core-2.19",
        "the playbooks run on ansible-core 2.19 against the control plane",
        _command(*PYTEST, *SMOKE, environment=CORE_219),
        needs=(files_like("tests/integration/test_*.py"), python_for(CORE_219)),
        after=("control-plane", "integration"),
    ),
    Stage(
        "ansible-lint",
        "roles and playbooks keep the production profile",
        _in_copy("lint", "ansible-lint", "--offline", "--nocolor", "--profile", "production"),
        group="lint",
    ),
    Stage(
        "docs",
        "the documentation of modules and roles is complete and its links resolve",
        _in_copy("docs", "antsibull-docs", "lint-collection-docs", "--plugin-docs", "."),
        group="lint",
    ),
    Stage(
        "changelog",
        "changelog fragments are well formed",
        _in_copy("docs", "antsibull-changelog", "lint"),
        group="lint",
    ),
    Stage("mypy", "types agree, strictly so in model, policy and planning", _mypy, group="lint"),
    Stage(
        "ruff",
        "style, and the bugs that can be seen",
        _command("ruff", "check", "--output-format", "concise"),
        group="lint",
    ),
    Stage(
        "layers",
        "imports go downward only, SDKs and Ansible stay where they belong",
        _command("lint-imports", "--no-cache"),
        group="lint",
    ),
    Stage(
        "build",
        "the Galaxy tarball installs offline and its playbooks are found",
        _command("python", "-m", "tools.build"),
    ),
)
