#!/usr/bin/python
# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: twin
short_description: Start and stop a twin, a cluster in a process
version_added: 0.1.0
author:
  - The evenkeel.fleet authors (@evenkeel)
description:
  - Starts an API server that behaves as a Kubernetes cluster, with controllers, a scheduler and kubelets that are played, as
    one process on this machine. It needs neither root nor any program beside Python.
  - It is made of a live cluster, of a snapshot of one, or of a few lines. What is done to it touches nothing else.
  - Playbooks of this collection, kubernetes.core and C(kubectl) are pointed to it by the RV(kubeconfig) that it returns.
  - It outlives the task, and ends when it is stopped, when its directory is removed, or when nobody asked it anything for
    O(lifetime).
options:
  state:
    description:
      - With V(started), a twin runs in O(directory). One that runs there already is left alone if it was made of the same
        options, and refused otherwise.
      - With V(stopped), none does, and nothing of it is left.
    type: str
    choices: [started, stopped]
    default: started
  directory:
    description:
      - Where its state is kept, its kubeconfig among it. It must be empty, or not exist yet.
    type: path
    required: true
  spec:
    description:
      - A cluster in a few lines, with the keys C(nodes), C(workloads) and C(budgets). All of it runs when the task ends.
      - With O(state=started), exactly one of O(spec), O(snapshot) and O(live) is given.
    type: dict
  snapshot:
    description:
      - File that M(evenkeel.fleet.fleet_info) has written with O(evenkeel.fleet.fleet_info#module:dest). What ran in that
        cluster runs at once, with its names and UIDs.
    type: path
    default: ''
  live:
    description:
      - Copies the cluster that the connection's options lead to. It is only read.
      - Collections that may not be read are left out, but for nodes and pods. Nothing of Secrets and ConfigMaps is read.
    type: bool
    default: false
  port:
    description:
      - TCP port on 127.0.0.1. V(0) takes any that is free.
    type: int
    default: 0
  virtual_time:
    description:
      - Whether its clock jumps to the next event as soon as everybody who uses it waits, so that hours take seconds. The
        modules of this collection follow that clock; other programs do not.
    type: bool
    default: false
  start:
    description:
      - When its time begins, as V(2026-11-30T22:00:00Z). Now, when it is empty.
    type: str
    default: ''
  seed:
    description:
      - Of all that is drawn by lot in it. The same seed gives the same twin.
    type: int
    default: 0
  lifetime:
    description:
      - Real time without a request after which it ends by itself, in seconds or as V(1h30m).
    type: str
    default: 1h
  pools:
    description:
      - Pools from which it makes nodes for pods that fit nowhere, each with C(pool), C(types) (C(name), C(price), C(cpu),
        C(memory), C(pods), C(labels)), C(labels), C(taints), C(delay), C(limit) and C(failures).
    type: list
    elements: dict
    default: []
  faults:
    description:
      - What goes wrong in it, and when. The guide on faults of a twin has every kind with its keys.
    type: list
    elements: dict
    default: []
extends_documentation_fragment:
  - evenkeel.fleet.common
  - evenkeel.fleet.auth
  - evenkeel.fleet.attributes
  - evenkeel.fleet.attributes.acts
requirements:
  - cryptography
seealso:
  - module: evenkeel.fleet.fleet_info
  - module: evenkeel.fleet.rehearsal
"""

EXAMPLES = r"""
- name: Start a cluster of three nodes with a shop on it
  evenkeel.fleet.twin:
    directory: /tmp/twin
    spec:
      nodes:
        - {pool: worker, count: 3, cpu: 8, memory: 32Gi}
      workloads:
        - {name: web, namespace: shop, replicas: 6, start: 6s, stop: 1s}
      budgets:
        - {name: web, namespace: shop, max_unavailable: 1}

- name: Stop it
  evenkeel.fleet.twin:
    directory: /tmp/twin
    state: stopped

- name: Copy the live cluster, with a clock that jumps
  evenkeel.fleet.twin:
    directory: /tmp/twin
    live: true
    virtual_time: true

- name: Stop the copy
  evenkeel.fleet.twin:
    directory: /tmp/twin
    state: stopped

- name: Start a twin of a snapshot, in which the third eviction is refused and a node fails after five minutes
  evenkeel.fleet.twin:
    directory: /tmp/twin
    snapshot: fleet.json.gz
    faults:
      - {fault: status, code: 429, retry_after: 5, verb: create, resource: pods/eviction, nth: 3}
      - {fault: not_ready, name: worker-2, at: 5m, for: 10m}

- name: Stop the twin of the snapshot
  evenkeel.fleet.twin:
    directory: /tmp/twin
    state: stopped
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
  sample: 1 node was closed.
code:
  description: Why the call failed, as a stable code that playbooks can match on.
  returned: failure
  type: str
  sample: not_found
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
      sample: []
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
  sample: [{seconds: 0.3, node: "", text: starting the twin, done: 0, total: 0}]
kubeconfig:
  description: Path of the kubeconfig of a user who may do everything on it.
  returned: when one runs, or ran
  type: str
  sample: /tmp/twin/kubeconfig
url:
  description: Where it answers.
  returned: when one runs, or ran
  type: str
  sample: https://127.0.0.1:38211
pid:
  description: Its process.
  returned: when one runs, or ran
  type: int
  sample: 4711
time:
  description: When its time began.
  returned: when one runs, or ran
  type: str
  sample: "2026-11-30T22:00:00Z"
virtual_time:
  description: Whether its clock jumps.
  returned: when one runs, or ran
  type: bool
nodes:
  description: How many nodes it had as it began, or would have.
  returned: when one runs, ran, or would be started
  type: int
  sample: 3
pods:
  description: How many pods it had as it began. How many a spec makes is not known before.
  returned: when one runs or ran, or would be started of something else than a spec
  type: int
  sample: 6
"""

from ansible_collections.evenkeel.fleet.plugins.module_utils.interface.argspec import (
    AUTH,
    COMMON,
    merge,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.interface.entrypoint import (
    Module,
    run_module,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.rehearsal.twins import (
    TwinOptions,
    twin,
)

MODULE = Module(
    specification=merge(
        {
            "state": {"type": "str", "choices": ["started", "stopped"], "default": "started"},
            "directory": {"type": "path", "required": True},
            "spec": {"type": "dict"},
            "snapshot": {"type": "path", "default": ""},
            "live": {"type": "bool", "default": False},
            "port": {"type": "int", "default": 0},
            "virtual_time": {"type": "bool", "default": False},
            "start": {"type": "str", "default": ""},
            "seed": {"type": "int", "default": 0},
            "lifetime": {"type": "str", "default": "1h"},
            "pools": {"type": "list", "elements": "dict", "default": []},
            "faults": {"type": "list", "elements": "dict", "default": []},
        },
        COMMON,
        AUTH,
    ),
    options=TwinOptions,
    function=twin,
    needs_cluster=lambda options: options.of_a_live_cluster,
)


def main() -> None:
    run_module(MODULE)


if __name__ == "__main__":
    main()
