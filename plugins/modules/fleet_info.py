#!/usr/bin/python
# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: fleet_info
short_description: Read nodes, workloads and budgets as one snapshot
version_added: 0.1.0
author:
  - The evenkeel.fleet authors (@evenkeel)
description:
  - Reads nodes, pods, disruption budgets and controllers in one go, and returns them as documents that belong together.
  - The node documents are what O(where) is evaluated on, in every module of this collection.
  - Without a selection, the whole fleet is read. Otherwise the snapshot is limited to the selected nodes and what runs on
    them.
options:
  gather:
    description:
      - What the result holds beside the summary. Workloads of a large cluster make a large result; O(dest) keeps them out
        of it.
    type: list
    elements: str
    choices: [nodes, workloads, budgets]
    default: [nodes]
  namespaces:
    description:
      - Reads only workloads, budgets and controllers of these namespaces. An empty list means all.
    type: list
    elements: str
    default: []
  dest:
    description:
      - File that takes the whole snapshot as JSON, whatever O(gather) says; gzipped when its name ends in C(.gz).
      - It also holds the objects that M(evenkeel.fleet.twin) makes a twin of, reduced to what schedulers, controllers and
        budgets look at. Nothing of Secrets and ConfigMaps is read, and of pods neither images nor environment are kept.
      - It is only written when it says something else than what was read, and its mode is 0600 when it is new.
    type: path
    default: ''
  anonymize:
    description:
      - Replaces names, labels and annotations consistently, so that the snapshot can be attached to a bug report.
    type: bool
    default: false
extends_documentation_fragment:
  - evenkeel.fleet.selection.optional
  - evenkeel.fleet.common
  - evenkeel.fleet.auth
  - evenkeel.fleet.attributes
  - evenkeel.fleet.attributes.writes_a_file
seealso:
  - module: evenkeel.fleet.preflight
  - module: evenkeel.fleet.twin
"""

EXAMPLES = r"""
- name: Read a node
  evenkeel.fleet.fleet_info:
    nodes: worker-1

- name: Read the nodes of a zone that take new pods, with what runs on them
  evenkeel.fleet.fleet_info:
    where: zone == 'z1' && schedulable
    gather: [nodes, workloads, budgets]

- name: Read the whole fleet
  evenkeel.fleet.fleet_info:

- name: Write a snapshot that can be attached to a bug report
  evenkeel.fleet.fleet_info:
    dest: /tmp/fleet.json.gz
    anonymize: true

- name: See whether the snapshot would change
  evenkeel.fleet.fleet_info:
    dest: /tmp/fleet.json.gz
    anonymize: true
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
  sample: Read 3 nodes, 40 pods, 2 budgets.
code:
  description: Why the call failed, as a stable code that playbooks can match on.
  returned: failure
  type: str
  sample: unknown_nodes
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
version:
  description: Version of the documents; it grows when a key is removed or changes its meaning.
  returned: success
  type: int
  sample: 2
summary:
  description: Counts of the fleet, and its resources.
  returned: success
  type: dict
  sample: {nodes: 3, nodes_ready: 3, pods: 40, pods_ready: 40, budgets: 2, budgets_exhausted: 0}
unread:
  description: Collections that could not be read, and why.
  returned: success
  type: list
  elements: str
nodes:
  description: The nodes, by name.
  returned: when gathered
  type: list
  elements: dict
  contains:
    name:
      description: Name of the node.
      returned: always
      type: str
    uid:
      description: UID of the object.
      returned: always
      type: str
    ready:
      description: Whether its kubelet says that it is Ready.
      returned: always
      type: bool
    schedulable:
      description: Whether it is Ready and open.
      returned: always
      type: bool
    unschedulable:
      description: Whether it is closed to new pods.
      returned: always
      type: bool
    control_plane:
      description: Whether it is a node of the control plane.
      returned: always
      type: bool
    zone:
      description: Topology zone, or empty.
      returned: always
      type: str
    region:
      description: Topology region, or empty.
      returned: always
      type: str
    instance_type:
      description: Type of the machine, or empty.
      returned: always
      type: str
    capacity_type:
      description: What the cloud calls its capacity, such as spot, or empty.
      returned: always
      type: str
    kubelet_version:
      description: Version of the kubelet.
      returned: always
      type: str
    kubelet_minor:
      description: Its minor version, V(0) where it is not known.
      returned: always
      type: int
    boot_id:
      description: Changes with every boot.
      returned: always
      type: str
    provider_id:
      description: The machine, as the cloud names it.
      returned: always
      type: str
    created:
      description: When the node registered.
      returned: always
      type: str
    labels:
      description: Labels.
      returned: always
      type: dict
    annotations:
      description: Annotations.
      returned: always
      type: dict
    taints:
      description: Taints, each with key, value and effect.
      returned: always
      type: list
      elements: dict
    allocatable:
      description: What pods may request, cpu in millicores and all else in base units.
      returned: always
      type: dict
    requested:
      description: What the pods on it request.
      returned: always
      type: dict
    pods:
      description: Pods on it that have not finished.
      returned: always
      type: int
workloads:
  description: The pods, by namespace and name.
  returned: when gathered
  type: list
  elements: dict
  contains:
    kind:
      description: V(Pod).
      returned: always
      type: str
    namespace:
      description: Namespace of the pod.
      returned: always
      type: str
    name:
      description: Name of the pod.
      returned: always
      type: str
    uid:
      description: UID of the pod.
      returned: always
      type: str
    node:
      description: Name of its node, or empty.
      returned: always
      type: str
    phase:
      description: Phase of the pod.
      returned: always
      type: str
    ready:
      description: Whether it is Ready.
      returned: always
      type: bool
    waiting:
      description: Why a container waits, such as CrashLoopBackOff, or empty.
      returned: always
      type: str
    terminating:
      description: Whether it was asked to leave.
      returned: always
      type: bool
    owner:
      description: Its direct owner, with kind and name, or null.
      returned: always
      type: dict
    controller:
      description: Its topmost controller, or empty.
      returned: always
      type: str
    budgets:
      description: The disruption budgets that select it, as namespace/name.
      returned: always
      type: list
      elements: str
    mirror:
      description: Whether it is a static pod of its kubelet.
      returned: always
      type: bool
    daemon:
      description: Whether a DaemonSet owns it.
      returned: always
      type: bool
    has_empty_dir:
      description: Whether it has C(emptyDir) volumes.
      returned: always
      type: bool
    claims:
      description: Its volume claims.
      returned: always
      type: list
      elements: str
    requests:
      description: What it requests, cpu in millicores and all else in base units.
      returned: always
      type: dict
    grace_period_seconds:
      description: How long it may take to stop.
      returned: always
      type: int
    created:
      description: When it was created.
      returned: always
      type: str
    labels:
      description: Labels.
      returned: always
      type: dict
    annotations:
      description: Annotations.
      returned: always
      type: dict
budgets:
  description: The disruption budgets, by namespace and name.
  returned: when gathered
  type: list
  elements: dict
  contains:
    namespace:
      description: Namespace of the budget.
      returned: always
      type: str
    name:
      description: Name of the budget.
      returned: always
      type: str
    uid:
      description: UID of the budget.
      returned: always
      type: str
    selector:
      description: Which pods it covers; null when it covers none.
      returned: always
      type: str
    min_available:
      description: A number or a share, or null.
      returned: always
      type: raw
    max_unavailable:
      description: A number or a share, or null.
      returned: always
      type: raw
    unhealthy_pod_eviction_policy:
      description: IfHealthyBudget or AlwaysAllow.
      returned: always
      type: str
    disruptions_allowed:
      description: How many evictions it allows now.
      returned: always
      type: int
    current_healthy:
      description: Healthy pods.
      returned: always
      type: int
    desired_healthy:
      description: Healthy pods that it asks for.
      returned: always
      type: int
    expected_pods:
      description: Pods that its owners want.
      returned: always
      type: int
    stale:
      description: Whether its status is older than its specification.
      returned: always
      type: bool
    sync_failure:
      description: Why the control plane cannot work with it, or empty.
      returned: always
      type: str
    labels:
      description: Labels.
      returned: always
      type: dict
    annotations:
      description: Annotations.
      returned: always
      type: dict
"""

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.fleet_info import (
    FleetInfoOptions,
    fleet_info,
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

MODULE = Module(
    specification=merge(
        SELECTION,
        {
            "gather": {
                "type": "list",
                "elements": "str",
                "choices": ["nodes", "workloads", "budgets"],
                "default": ["nodes"],
            },
            "namespaces": {"type": "list", "elements": "str", "default": []},
            "dest": {"type": "path", "default": ""},
            "anonymize": {"type": "bool", "default": False},
        },
        COMMON,
        AUTH,
    ),
    options=FleetInfoOptions,
    function=fleet_info,
)


def main() -> None:
    run_module(MODULE)


if __name__ == "__main__":
    main()
