#!/usr/bin/python
# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: settle
short_description: Wait until what was moved is Ready again, and until nodes are back
version_added: 0.1.0
author:
  - The evenkeel.fleet authors (@evenkeel)
description:
  - Waits until every workload has as many Ready replicas as it had before it was moved.
  - Waits until nodes are Ready again with the pods of their DaemonSets, after a reboot if that is asked for.
  - Only reads, and watches instead of asking again and again. Fails with the code V(timeout), and a list of what is missing,
    when the time is over.
options:
  workloads:
    description:
      - The workloads, as M(evenkeel.fleet.evict) returns them in RV(evenkeel.fleet.evict#module:owners).
    type: list
    elements: dict
    default: []
    suboptions:
      kind:
        description:
          - Kind of the owner, such as V(Deployment).
        type: str
        required: true
      namespace:
        description:
          - Namespace of the owner.
        type: str
        required: true
      name:
        description:
          - Name of the owner.
        type: str
        required: true
      ready:
        description:
          - Ready replicas to wait for.
        type: int
        required: true
  nodes:
    description:
      - Names of the nodes that must be back, as a list or separated by commas.
    type: list
    elements: str
    default: []
  boot_id_changed:
    description:
      - The nodes must have rebooted since M(evenkeel.fleet.maintenance) was asked for.
    type: bool
    default: false
  wait_timeout:
    description:
      - How long to wait, in seconds or as V(10m) or V(1h30m). V(0) sets no limit.
    type: str
    default: 10m
extends_documentation_fragment:
  - evenkeel.fleet.common
  - evenkeel.fleet.auth
  - evenkeel.fleet.attributes
  - evenkeel.fleet.attributes.waits
seealso:
  - module: evenkeel.fleet.evict
  - module: evenkeel.fleet.maintenance
"""

EXAMPLES = r"""
- name: Wait until a node is back
  evenkeel.fleet.settle:
    nodes: worker-1

- name: Wait until two nodes have rebooted
  evenkeel.fleet.settle:
    nodes: [worker-1, worker-2]
    boot_id_changed: true
    wait_timeout: 30m

- name: Wait until a Deployment has its three replicas again
  evenkeel.fleet.settle:
    workloads:
      - {kind: Deployment, namespace: shop, name: web, ready: 3}

- name: See what would be waited for
  evenkeel.fleet.settle:
    nodes: worker-1,worker-2
  check_mode: true
"""

RETURN = r"""
changed:
  description: Whether anything was changed, also when the call failed half way. In check mode, whether anything would be.
  returned: always
  type: bool
msg:
  description: One sentence that says what became of the call.
  returned: always
  type: str
  sample: All 3 have settled.
code:
  description: Why the call failed, as a stable code that playbooks can match on.
  returned: failure
  type: str
  sample: timeout
result:
  description: What became of each workload, and of each node itself.
  returned: always
  type: dict
  contains:
    done:
      description: What was carried out, or would be in check mode.
      returned: always
      type: list
      elements: dict
      sample: [{workload: shop/web, node: "", action: settle, code: settled, detail: ""}]
      contains: &outcome
        workload:
          description: The workload as namespace/name; empty where it is about the node itself.
          returned: always
          type: str
        node:
          description: Name of the node.
          returned: always
          type: str
        action:
          description: What was to be done.
          returned: always
          type: str
        code:
          description: What came of it, as a stable code.
          returned: always
          type: str
        detail:
          description: A sentence that names the object, the rule and the remedy; may be empty.
          returned: always
          type: str
    skipped:
      description: What was rightly left alone.
      returned: always
      type: list
      elements: dict
      contains: *outcome
    pending:
      description: What was not finished when the call ended.
      returned: always
      type: list
      elements: dict
      contains: *outcome
    failed:
      description: What was tried or judged, and refused for good.
      returned: always
      type: list
      elements: dict
      contains: *outcome
duration:
  description: Seconds that the call took.
  returned: always
  type: float
  sample: 0.412
diff:
  description: The documents concerned, before and after. Empty where nothing changed.
  returned: always
  type: dict
  contains:
    before:
      description: As they were.
      returned: when something changed
      type: dict
    after:
      description: As they are, or would be in check mode.
      returned: when something changed
      type: dict
timeline:
  description: What the call was doing when. The action plugin prints the same as lines while it works, and returns none.
  returned: when the module ran in its own process
  type: list
  elements: dict
  sample: [{seconds: 0.3, node: worker-1, text: 1 of 3 replicas Ready, done: 0, total: 0}]
"""

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.settle import (
    SettleOptions,
    settle,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.interface.argspec import (
    AUTH,
    COMMON,
    merge,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.interface.entrypoint import (
    Module,
    run_module,
)

MODULE = Module(
    specification=merge(
        {
            "workloads": {
                "type": "list",
                "elements": "dict",
                "default": [],
                "options": {
                    "kind": {"type": "str", "required": True},
                    "namespace": {"type": "str", "required": True},
                    "name": {"type": "str", "required": True},
                    "ready": {"type": "int", "required": True},
                },
            },
            "nodes": {"type": "list", "elements": "str", "default": []},
            "boot_id_changed": {"type": "bool", "default": False},
            "wait_timeout": {"type": "str", "default": "10m"},
        },
        COMMON,
        AUTH,
    ),
    options=SettleOptions,
    function=settle,
)


def main() -> None:
    run_module(MODULE)


if __name__ == "__main__":
    main()
