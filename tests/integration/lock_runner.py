# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A runner in a process of its own, for tests of the lock: it holds nodes and does as it is told.

    python lock_runner.py KUBECONFIG NODES PURPOSE TTL JOIN_TIMEOUT

Prints its holder, then "holding" or why it does not. Each line that it reads is answered by one:
"check NODE" by "ok" or the error's code and words; "end" frees the locks and ends it.
"""

from __future__ import annotations

import sys

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.kubernetes.connection import (
    Connection,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.registry import find
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.identity import holder
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.lock import Locks, hold
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.run import Run
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import FleetError
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.resources import NODES


def main() -> None:
    kubeconfig, names, purpose, ttl, join_timeout = sys.argv[1:6]
    run = Run(holder=holder())
    _say(run.holder)
    cluster = find(Connection(kubeconfig=kubeconfig), environment={}).cluster()
    nodes = [cluster.get(NODES, name) for name in names.split(",")]
    try:
        with hold(
            nodes, cluster, run, purpose=purpose, ttl=int(ttl), join_timeout=float(join_timeout)
        ) as locks:
            _say("holding")
            _obey(locks)
    except FleetError as error:
        _say(f"{error.code}: {error}")


def _obey(locks: Locks) -> None:
    for line in sys.stdin:
        order, _unused, node = line.strip().partition(" ")
        if order == "end":
            return
        try:
            locks.check(node)
            _say("ok")
        except FleetError as error:
            _say(f"{error.code}: {error}")


def _say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    main()
