# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The role `maintenance` without Ansible: the same modules, with the same options, in one process.

test_sequence.py shows that a real ansible-playbook sends the same requests. What the role does with
options that the chaos does not use (batches, reboots, check mode) is left out.
"""

from __future__ import annotations

import urllib.request
from collections.abc import Callable
from typing import Any

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ansible_collections.evenkeel.fleet.plugins.filter.obstacles import obstacles
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.interruption import (
    Interruption,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.interface.entrypoint import (
    Module,
    call,
)
from ansible_collections.evenkeel.fleet.plugins.modules import (
    cordon,
    evict,
    maintenance,
    maintenance_info,
    settle,
)

Result = dict[str, Any]

MODULES = {
    "cordon": cordon.MODULE,
    "evict": evict.MODULE,
    "maintenance": maintenance.MODULE,
    "maintenance_info": maintenance_info.MODULE,
    "settle": settle.MODULE,
}
REASON = "patching"
REQUEST = "fleet.evenkeel.dev/maintenance"
CONSENT = {
    "delete_emptydir_data": False,
    "ignore_daemonsets": True,
    "force": False,
    "disable_eviction": False,
    "fragile": "surge",
    "fenced": False,
    "allow_last": False,
    "max_parallel": 0,
    "ignore_not_found": True,
}
GONE = {"ignore_not_found": True}


class Ended(Exception):
    """A task failed, and the playbook with it."""


def enter_and_exit(nodes: list[str], hook: str) -> None:
    """maintenance_enter with exit_after. Raises Ended."""
    enter(nodes, hook, exit_after=True)


def enter(nodes: list[str], hook: str, *, exit_after: bool = False) -> None:
    """roles/maintenance/tasks/enter.yml. hook: a URL that the user's tasks ask. Raises Ended."""
    _run("maintenance", check_mode=True, nodes=nodes, state="entering")
    _check(nodes)
    _run("maintenance", nodes=nodes, state="entering", reason=REASON, **GONE)
    _run("cordon", nodes=nodes, state="cordoned", reason=REASON, **GONE)
    evicted = _empty(nodes)
    _run("maintenance", nodes=nodes, state="in_maintenance", reason=REASON, **GONE)
    with urllib.request.urlopen(f"{hook}/{','.join(nodes)}", timeout=60):
        """The user's tasks have run."""
    if exit_after:
        _give_back(nodes)
    _run("settle", workloads=evicted["owners"], wait_timeout="15m")


def exit_(nodes: list[str], hook: str = "") -> None:
    """roles/maintenance/tasks/exit.yml. Raises Ended."""
    found = _run("maintenance_info", nodes=nodes)
    _give_back([document["name"] for document in found["nodes"]])


def _check(nodes: list[str]) -> None:
    found = _call("evict", check_mode=True, nodes=nodes, **CONSENT)
    if "nodes" not in found:
        raise Ended("\n".join(obstacles(found)))


def _empty(nodes: list[str]) -> Result:
    evicted = _call(
        "evict",
        nodes=nodes,
        **CONSENT,
        wait_timeout="30m",
        on_refusal="continue",
        only_while={REQUEST: "true"},
        status_annotation=f"{REQUEST}-message",
    )
    left = [one["name"] for one in evicted.get("nodes", []) if not one["emptied"]]
    if "code" in evicted or "nodes" not in evicted or left:
        _tell_why(nodes, evicted)
    return evicted


def _tell_why(nodes: list[str], evicted: Result) -> None:
    """not_empty.yml."""
    withdrawn = []
    for node in nodes:
        reason = f"{REASON}: {obstacles(evicted, node)[0]}"
        told = _run("maintenance", nodes=[node], state="waiting", reason=reason, **GONE)
        withdrawn += [
            one["node"] for one in told["result"]["skipped"] if one["code"] == "not_requested"
        ]
    if withdrawn:
        _run("cordon", nodes=withdrawn, state="uncordoned", **GONE)
    raise Ended("\n".join(obstacles(evicted)))


def _give_back(nodes: list[str]) -> None:
    """exit_batch.yml."""
    left = _run("maintenance", nodes=nodes, state="withdrawn", **GONE)
    result = left["result"]
    leaving = [
        one["node"] for one in result["done"] + result["skipped"] if one["code"] != "node_gone"
    ]
    _run("settle", nodes=leaving, boot_id_changed=False, wait_timeout="15m")
    _run("cordon", nodes=nodes, state="uncordoned", **GONE)
    _run("maintenance", nodes=nodes, state="absent", **GONE)


def _run(name: str, *, check_mode: bool = False, **args: Any) -> Result:
    result = _call(name, check_mode=check_mode, **args)
    if result["failed"]:
        raise Ended(f"{name}: {result['msg']} {result.get('exception', '')}")
    return result


def _call(name: str, *, check_mode: bool = False, **args: Any) -> Result:
    """As the action plugins call a module."""
    module: Module = MODULES[name]
    validation = ArgumentSpecValidator(module.specification).validate(args)
    if validation.error_messages:
        raise ValueError(validation.errors.msg)
    with Interruption() as interruption:
        result = call(module, validation.validated_parameters, check_mode, _say, interruption)
    interruption.deliver()
    return result


def _say(progress: Any, now: float) -> None:
    """Printed, so that a failing test shows what its runs were about."""
    print(f"{now:.3f} {progress.node} {progress.text}", flush=True)


WAYS: dict[str, Callable[[list[str], str], None]] = {
    "enter_and_exit": enter_and_exit,
    "enter": enter,
    "exit": exit_,
}
