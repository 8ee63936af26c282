#!/usr/bin/python
# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: maintenance_info
short_description: Read where nodes stand in their maintenance
version_added: 0.1.0
author:
  - The evenkeel.fleet authors (@evenkeel)
description:
  - Tells for each node whether it is in maintenance, who holds it closed, what is left on it, and who acts on it now.
  - Without a selection, returns the nodes that are in maintenance or that an owner holds closed.
extends_documentation_fragment:
  - evenkeel.fleet.selection.optional
  - evenkeel.fleet.common
  - evenkeel.fleet.auth
  - evenkeel.fleet.attributes
  - evenkeel.fleet.attributes.reads
seealso:
  - module: evenkeel.fleet.maintenance
"""

EXAMPLES = r"""
- name: Read where a node stands
  evenkeel.fleet.maintenance_info:
    nodes: worker-1

- name: Read where every node of a zone stands
  evenkeel.fleet.maintenance_info:
    node_selector: topology.kubernetes.io/zone=z1

- name: Find every node that is in maintenance or held closed
  evenkeel.fleet.maintenance_info:
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
  sample: "worker-1: InMaintenance, 0 pods left, cordoned by maintenance."
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
  sample: [{seconds: 0.3, node: worker-1, text: "prod (https://api.example.com:6443)", done: 0, total: 0}]
nodes:
  description: Where each node stands, by name.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: Name of the node.
      returned: always
      type: str
    state:
      description: V(Entering), V(InMaintenance), or empty.
      returned: always
      type: str
    message:
      description: The message that was left on the node.
      returned: always
      type: str
    requested:
      description: Whether somebody wants the node in maintenance. False while it enters means that the request was withdrawn.
      returned: always
      type: bool
    since:
      description: When maintenance was asked for, or null.
      returned: always
      type: str
      sample: "2026-11-30T22:25:54Z"
    cordoned:
      description: Whether the node is closed to new pods.
      returned: always
      type: bool
    cordon_owners:
      description: Who holds the node closed, oldest first.
      returned: always
      type: list
      elements: dict
      sample: [{owner: maintenance, reason: replace the fan, since: "2026-11-30T22:25:54Z"}]
    drift:
      description: Whether somebody opened the node although an owner holds it closed.
      returned: always
      type: bool
    pods_left:
      description: Pods on the node that have not finished and are neither a DaemonSet's nor the kubelet's own.
      returned: always
      type: int
    problem:
      description: What is wrong with the records on the node, so that the rest of it cannot be told; empty if nothing is.
      returned: always
      type: str
    lock:
      description: Which run acts on the node now, and until when it may; null if none does.
      returned: always
      type: dict
      sample: {holder: "ops@bastion:4711:123456", until: "2026-11-30T22:26:24Z"}
lines:
  description: One line per node, for people.
  returned: success
  type: list
  elements: str
  sample: ["worker-1: InMaintenance, 0 pods left, cordoned by maintenance."]
"""

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.maintenance_info import (
    MaintenanceInfoOptions,
    maintenance_info,
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
    specification=merge(SELECTION, COMMON, AUTH),
    options=MaintenanceInfoOptions,
    function=maintenance_info,
)


def main() -> None:
    run_module(MODULE)


if __name__ == "__main__":
    main()
