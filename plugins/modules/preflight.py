#!/usr/bin/python
# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: preflight
short_description: Predict what would block a drain, and name the remedy
version_added: 0.1.0
author:
  - The evenkeel.fleet authors (@evenkeel)
description:
  - Predicts, for every pod of the selected nodes, what the Eviction API would answer and what M(evenkeel.fleet.evict) would
    do with the same consents.
  - Finds disruption budgets that select nothing, overlap, can never pass, or rest on owners that cannot be scaled; the
    webhooks that are asked about evictions; and the first pod that fits nowhere else.
  - Without a selection, looks at the whole cluster, each node as if it were drained alone. Selected nodes are looked at as
    if they were drained together.
  - Only reads. Fails with the code V(findings) when there are findings of the level of O(fail_on).
options:
  pod_selector:
    description:
      - Judges only the pods whose labels match, as C(kubectl) writes it.
    type: str
    default: ''
  namespaces:
    description:
      - Judges only pods of these namespaces. An empty list means all.
    type: list
    elements: str
    default: []
  delete_emptydir_data:
    description:
      - Consents to the loss of the data in C(emptyDir) volumes.
    type: bool
    default: false
  ignore_daemonsets:
    description:
      - Leaves the pods of DaemonSets alone, instead of refusing because of them.
    type: bool
    default: false
  force:
    description:
      - Consents to the eviction of pods that no controller would bring back.
    type: bool
    default: false
  fragile:
    description:
      - What is to be done with pods whose eviction leaves a gap; see O(evenkeel.fleet.evict#module:fragile).
    type: str
    choices: [evict, defer, refuse, surge]
    default: evict
  allow_last:
    description:
      - Consents to the emptying of the last node that takes pods, and of control-plane nodes without which there is no
        majority.
    type: bool
    default: false
  fail_on:
    description:
      - The lowest level of findings for which the task fails. V(warning) fails on errors, too.
    type: str
    choices: [error, warning, never]
    default: error
extends_documentation_fragment:
  - evenkeel.fleet.selection.optional
  - evenkeel.fleet.common
  - evenkeel.fleet.auth
  - evenkeel.fleet.attributes
  - evenkeel.fleet.attributes.reads
seealso:
  - module: evenkeel.fleet.evict
"""

EXAMPLES = r"""
- name: Look at what would block the drain of a node
  evenkeel.fleet.preflight:
    nodes: worker-1
    ignore_daemonsets: true
    fail_on: never

- name: Fail when two nodes could not be drained together
  evenkeel.fleet.preflight:
    nodes: [worker-1, worker-2]
    ignore_daemonsets: true
    delete_emptydir_data: true
    allow_last: true

- name: Look at a whole zone
  evenkeel.fleet.preflight:
    where: zone == 'z1'
    ignore_daemonsets: true
    fail_on: never

- name: Look at every node of the cluster
  evenkeel.fleet.preflight:
    ignore_daemonsets: true
    fail_on: never
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
  sample: Nothing stands in the way of draining 20 pods on 1 node.
code:
  description: Why the call failed, as a stable code that playbooks can match on.
  returned: failure
  type: str
  sample: findings
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
  sample: [{seconds: 0.3, node: worker-1, text: "reading prod (https://api.example.com:6443)", done: 0, total: 0}]
findings:
  description: What was found, the worst first.
  returned: when the cluster was read
  type: list
  elements: dict
  contains:
    level:
      description: V(error), a drain would be refused or never finish; V(warning), it would take long or hurt; V(info).
      returned: always
      type: str
    code:
      description: The finding as a stable code.
      returned: always
      type: str
    subject:
      description: The object, such as PodDisruptionBudget shop/web.
      returned: always
      type: str
    sentence:
      description: What is the matter.
      returned: always
      type: str
    remedy:
      description: What to do about it; may be empty.
      returned: always
      type: str
pods:
  description: The forecast for every pod of the nodes.
  returned: when the cluster was read
  type: list
  elements: dict
  contains:
    workload:
      description: The pod as namespace/name.
      returned: always
      type: str
    node:
      description: Name of its node.
      returned: always
      type: str
    answer:
      description: What the Eviction API would answer now, V(passes), V(waits) or V(never).
      returned: always
      type: str
    action:
      description: What M(evenkeel.fleet.evict) would do, V(evict), V(await), V(leave) or V(refuse).
      returned: always
      type: str
    code:
      description: Why it is not simply evicted, as a stable code; empty when it is.
      returned: always
      type: str
    detail:
      description: The same as a sentence.
      returned: always
      type: str
capacity:
  description: Whether what must leave fits on the other nodes, by the scheduler's rules.
  returned: when the cluster was read
  type: dict
  contains:
    placed:
      description: How many pods found a place.
      returned: always
      type: int
    misfits:
      description:
        - Pods that fit nowhere, with the rules by how many nodes they rule out, the node that comes nearest and what it is
          short of, in millicores and bytes.
      returned: always
      type: list
      elements: dict
      sample: [{workload: shop/big, node: worker-1, nearest: worker-3, short: {cpu: 500}, rules: [{rule: resources, nodes: 2}], detail: ""}]
    left_out:
      description: Nodes that could not be counted on, and why.
      returned: always
      type: list
      elements: dict
      sample: [{node: worker-9, detail: ""}]
summary:
  description: How many nodes, pods, findings by level, and pods by answer and action.
  returned: when the cluster was read
  type: dict
  sample: {nodes: 1, pods: 20, error: 0, warning: 1, info: 0, passes: 18, waits: 2, never: 0, evict: 20, await: 0, leave: 0, refuse: 0}
"""

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.preflight import (
    PreflightOptions,
    preflight,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.interface.argspec import (
    AUTH,
    COMMON,
    CONSENT,
    SELECTION,
    merge,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.interface.entrypoint import (
    Module,
    run_module,
)

MODULE = Module(
    specification=merge(
        SELECTION,
        {
            "pod_selector": {"type": "str", "default": ""},
            "namespaces": {"type": "list", "elements": "str", "default": []},
            "allow_last": {"type": "bool", "default": False},
            "fail_on": {
                "type": "str",
                "choices": ["error", "warning", "never"],
                "default": "error",
            },
        },
        CONSENT,
        COMMON,
        AUTH,
    ),
    options=PreflightOptions,
    function=preflight,
)


def main() -> None:
    run_module(MODULE)


if __name__ == "__main__":
    main()
