# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""When the action plugin makes the call itself, and when it runs the module."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("ansible", reason="what faces Ansible needs ansible-core")

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.run import Progress
from ansible_collections.evenkeel.fleet.plugins.module_utils.interface.argspec import AUTH
from ansible_collections.evenkeel.fleet.plugins.plugin_utils import in_process
from ansible_collections.evenkeel.fleet.plugins.plugin_utils.in_process import InProcessAction


class Templar:
    def template(self, value: Any) -> Any:
        return value.replace("{{ ansible_playbook_python }}", sys.executable)


def action(**changes: Any) -> InProcessAction:
    """An action on localhost without anything that would make it run elsewhere."""
    made = object.__new__(InProcessAction)
    made._task = SimpleNamespace(
        async_val=changes.get("async_val", 0),
        environment=changes.get("environment", []),
        delegate_to=changes.get("delegate_to"),
    )
    made._play_context = SimpleNamespace(become=changes.get("become", False))
    made._connection = SimpleNamespace(transport=changes.get("transport", "local"))
    made._templar = Templar()
    return made


@pytest.mark.parametrize(
    ("changes", "task_vars", "here"),
    [
        pytest.param({}, {}, True, id="localhost"),
        pytest.param({"environment": [{}, None]}, {}, True, id="an-empty-environment"),
        pytest.param(
            {},
            {"ansible_python_interpreter": "{{ ansible_playbook_python }}"},
            True,
            id="the-controllers-own-interpreter",
        ),
        pytest.param(
            {}, {"ansible_python_interpreter": "auto_silent"}, True, id="interpreter-to-be-found"
        ),
        pytest.param(
            {"delegate_to": "localhost"},
            {"ansible_python_interpreter": "/opt/remote/bin/python", "ansible_delegated_vars": {}},
            True,
            id="delegated-to-localhost-from-a-host-with-an-interpreter",
        ),
        pytest.param({"transport": "ssh"}, {}, False, id="another-host"),
        pytest.param({"async_val": 60}, {}, False, id="async"),
        pytest.param({"become": True}, {}, False, id="become"),
        pytest.param({"environment": [{"A": "b"}]}, {}, False, id="environment"),
        pytest.param(
            {}, {"ansible_python_interpreter": "/opt/other/python"}, False, id="another-interpreter"
        ),
        pytest.param(
            {"delegate_to": "localhost"},
            {
                "ansible_delegated_vars": {
                    "localhost": {"ansible_python_interpreter": "/opt/other/python"}
                }
            },
            False,
            id="the-delegates-interpreter-counts",
        ),
    ],
)
def test_the_call_is_made_here_only_where_the_task_would_run_here_anyway(
    changes: dict[str, Any], task_vars: dict[str, Any], here: bool
) -> None:
    assert action(**changes)._runs_here(task_vars) is here


def test_without_the_library_here_the_module_looks_for_it_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "kubernetes", None)
    assert action()._runs_here({}) is False


def test_secrets_are_those_of_options_within_options_too() -> None:
    params = {
        "api_key": "k1",
        "password": None,
        "context": "prod",
        "proxy_headers": {"basic_auth": "u:p", "proxy_basic_auth": "", "user_agent": "me"},
    }
    assert set(in_process._secrets(AUTH, params)) == {"k1", "u:p"}


def test_the_cluster_is_named_once_in_a_run_and_what_happens_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_process.C, "DEFAULT_LOCAL_TMP", str(tmp_path))
    told: list[str] = []
    monkeypatch.setattr(InProcessAction, "_display_line", lambda _self, line: told.append(line))
    for _task in range(2):
        action()._say(Progress("", "prod (https://api)", once=True), 0.0)
        action()._say(Progress("n1", "cordoned"), 0.0)
    assert told == ["prod (https://api)", "n1  cordoned", "n1  cordoned"]


def test_where_nothing_can_be_noted_the_cluster_is_named_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_process.C, "DEFAULT_LOCAL_TMP", str(tmp_path / "gone"))
    assert in_process._is_first_to_tell("prod (https://api)")
