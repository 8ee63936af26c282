#!/usr/bin/python
# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: plan
short_description: Find the cheapest nodes for what runs, and show the price before and after
version_added: 0.1.0
author:
  - The evenkeel.fleet authors (@evenkeel)
description:
  - Looks for a cheaper set of nodes for the pods that run, among the offerings that are given, and tells which nodes would
    go, which would come, and what all of it costs an hour and a month before and after.
  - A node stays when one of its pods must not or cannot be moved; each reason is in the plan, with the setting that would
    let the node go.
  - Every pod that moves is placed by the scheduler's own rules, room, affinity, spread and volumes among them.
  - Only reads. Nothing of a plan is carried out or kept.
options:
  offerings:
    description:
      - What can be bought, as a list, or as the path of a file in YAML, JSON or CSV; see
        U(https://github.com/evenkeel/fleet/blob/main/docs/guides/plan.md). A file of Karpenter's instance types is read as it is.
      - The prices of the nodes that run are looked up here, too, by their labels of instance type, zone and capacity type. A
        node without a price stays, and is counted in the plan's C(unpriced_nodes).
    type: raw
    required: true
  min_savings_percent:
    description:
      - The plan is skipped when it saves less of the price of all nodes.
    type: float
    default: 0
  savings_percent:
    description:
      - Replaces the fewest nodes that save this share of the price of all nodes, instead of as many as save the most.
    type: float
  max_nodes:
    description:
      - Replaces no more nodes.
    type: int
  max_moved:
    description:
      - Moves no more pods.
    type: int
  fragile:
    description:
      - What becomes of pods whose eviction leaves a gap, single replicas and ordered stateful sets. V(defer) leaves them and
        their nodes alone; V(evict) moves them.
    type: str
    choices: [defer, evict]
    default: defer
  aggressive_mode_config:
    description:
      - What a plan may do beyond what pods and nodes ask for. All of it is off unless it is set here.
    type: dict
    default: {}
    suboptions:
      ignore_local_persistent_volumes:
        description: Replaces nodes that hold the data of their pods, which is lost.
        type: bool
      ignore_problem_job_pods:
        description: Replaces nodes with running pods of Jobs, whose work is lost.
        type: bool
      ignore_problem_removal_disabled_pods:
        description: Replaces nodes with pods that ask not to be disturbed.
        type: bool
      ignore_problem_pods_without_controller:
        description: Replaces nodes with pods that nobody brings back.
        type: bool
      ignore_blocking_pdb:
        description: Replaces nodes with pods that a disruption budget never lets go.
        type: bool
      ignore_problem_removal_disabled_nodes:
        description: Replaces nodes that are marked to be kept.
        type: bool
  format:
    description:
      - The names of the plan's fields. V(api) are those of CAST AI's RebalancingPlan.
    type: str
    choices: [snake, api]
    default: snake
extends_documentation_fragment:
  - evenkeel.fleet.selection.optional
  - evenkeel.fleet.common
  - evenkeel.fleet.auth
  - evenkeel.fleet.attributes
  - evenkeel.fleet.attributes.reads
seealso:
  - module: evenkeel.fleet.preflight
  - module: evenkeel.fleet.fleet_info
"""

EXAMPLES = r"""
- name: See whether the fleet could be had for less
  evenkeel.fleet.plan:
    offerings:
      - instance_type: large
        price_per_hour: "0.40"
        capacity: {cpu: "8", memory: 32Gi, pods: 110}
      - instance_type: small
        price_per_hour: "0.06"
        capacity: {cpu: "2", memory: 8Gi, pods: 50}

- name: Replace at most one node of a zone, and only for a tenth of the price
  evenkeel.fleet.plan:
    where: zone == 'z1'
    max_nodes: 1
    min_savings_percent: 10
    offerings:
      - instance_type: small
        zone: z1
        capacity_type: spot
        price_per_hour: "0.02"
        capacity: {cpu: "2", memory: 8Gi, pods: 50}
    format: api
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
  sample: "3 nodes can become 1: the cluster would cost 0.4 an hour instead of 1.2 (66.67 % less)."
code:
  description: Why the call failed, as a stable code that playbooks can match on.
  returned: failure
  type: str
  sample: invalid_option
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
plan:
  description: The plan, in the fields of CAST AI's RebalancingPlan and some of ours.
  returned: success
  type: dict
  sample: {id: 20261201-120000-3f1a, status: READY, kind: rebalance, unpriced_nodes: 0}
table:
  description: The plan as a table, a line each. Empty when there is nothing to show.
  returned: success
  type: list
  elements: str
  sample: ["NODE   TYPE   PRICE/H  ACTION", "n1     large  0.4      remove"]
curve:
  description: What the cluster would cost when the worst nodes are replaced, by how many they are.
  returned: success
  type: list
  elements: dict
  contains:
    replaced:
      description: Nodes that would go.
      returned: always
      type: int
    moved:
      description: Pods that would move.
      returned: always
      type: int
    price_hourly:
      description: What all nodes with a price would cost an hour.
      returned: always
      type: str
    unplaced:
      description: Pods for which there would be no place; such a point is never chosen.
      returned: always
      type: int
kept_back:
  description: Nodes that stay because a pod would fit nowhere else after all, with the pod and the rule.
  returned: success
  type: dict
unread:
  description: Collections that could not be read, and why.
  returned: success
  type: list
  elements: str
"""

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.plan import (
    PlanOptions,
    plan,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.interface.argspec import (
    AUTH,
    COMMON,
    SELECTION,
    merge,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.interface.entrypoint import (
    Module,
    run_module,
)

# Those that decide what a plan is; the others decide how it is carried out.
SETTINGS = (
    "ignore_local_persistent_volumes",
    "ignore_problem_job_pods",
    "ignore_problem_removal_disabled_pods",
    "ignore_problem_pods_without_controller",
    "ignore_blocking_pdb",
    "ignore_problem_removal_disabled_nodes",
)

MODULE = Module(
    specification=merge(
        SELECTION,
        {
            "offerings": {"type": "raw", "required": True},
            "min_savings_percent": {"type": "float", "default": 0},
            "savings_percent": {"type": "float"},
            "max_nodes": {"type": "int"},
            "max_moved": {"type": "int"},
            "fragile": {"type": "str", "choices": ["defer", "evict"], "default": "defer"},
            "aggressive_mode_config": {
                "type": "dict",
                "default": {},
                "options": {name: {"type": "bool"} for name in SETTINGS},
            },
            "format": {"type": "str", "choices": ["snake", "api"], "default": "snake"},
        },
        COMMON,
        AUTH,
    ),
    options=PlanOptions,
    function=plan,
)


def main() -> None:
    run_module(MODULE)


if __name__ == "__main__":
    main()
