#!/usr/bin/python
# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: maintenance
short_description: Write on nodes where their maintenance stands
version_added: 0.1.0
author:
  - The evenkeel.fleet authors (@evenkeel)
description:
  - Writes the annotations and Events by which any other run, and C(kubectl describe), see where a node stands.
  - Nothing is closed or moved; the role P(evenkeel.fleet.maintenance#role) does that, and calls this module at each step.
options:
  state:
    description:
      - V(entering) asks for maintenance.
      - V(waiting) says on a node that was asked for what it waits for, the O(reason), and does nothing on any other.
      - V(in_maintenance) declares a node that was asked for as empty.
      - V(withdrawn) takes the request back, which stops a run that is emptying the node.
      - V(absent) removes all that this module wrote, and nothing else.
    type: str
    choices: [entering, waiting, in_maintenance, withdrawn, absent]
    required: true
  reason:
    description:
      - Shown on the node as its message. An empty text leaves the message that is there.
    type: str
    default: ''
  protect_from_autoscalers:
    description:
      - With O(state=entering), sets the annotations that keep Karpenter and the cluster autoscaler from deleting the node,
        where they are not set already. With O(state=absent) those that were set are removed again.
    type: bool
    default: true
extends_documentation_fragment:
  - evenkeel.fleet.selection
  - evenkeel.fleet.selection.gone
  - evenkeel.fleet.common
  - evenkeel.fleet.auth
  - evenkeel.fleet.attributes
  - evenkeel.fleet.attributes.acts
seealso:
  - module: evenkeel.fleet.maintenance_info
  - module: evenkeel.fleet.cordon
"""

EXAMPLES = r"""
- name: Ask for the maintenance of a node
  evenkeel.fleet.maintenance:
    nodes: worker-1
    state: entering
    reason: replace the fan

- name: Declare the node empty
  evenkeel.fleet.maintenance:
    nodes: worker-1
    state: in_maintenance

- name: Ask for the maintenance of a zone
  evenkeel.fleet.maintenance:
    node_selector: topology.kubernetes.io/zone=z1
    state: entering
    protect_from_autoscalers: false

- name: Take the request back, which stops a run that empties the nodes
  evenkeel.fleet.maintenance:
    nodes: [worker-1, worker-2]
    state: withdrawn

- name: See what would be removed, without removing it
  evenkeel.fleet.maintenance:
    nodes: worker-1,worker-2
    state: absent
  check_mode: true
  diff: true
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
  sample: "maintenance: worker-1 entering."
code:
  description: Why the call failed, as a stable code that playbooks can match on.
  returned: failure
  type: str
  sample: not_requested
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
      sample: [{workload: "", node: worker-1, action: maintenance, code: entering, detail: ""}]
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
  sample: [{seconds: 0.3, node: worker-1, text: entering, done: 0, total: 0}]
"""

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.maintenance import (
    MaintenanceOptions,
    maintenance,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.interface.argspec import (
    AUTH,
    COMMON,
    GONE,
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
        GONE,
        {
            "state": {
                "type": "str",
                "choices": ["entering", "waiting", "in_maintenance", "withdrawn", "absent"],
                "required": True,
            },
            "reason": {"type": "str", "default": ""},
            "protect_from_autoscalers": {"type": "bool", "default": True},
        },
        COMMON,
        AUTH,
    ),
    options=MaintenanceOptions,
    function=maintenance,
)


def main() -> None:
    run_module(MODULE)


if __name__ == "__main__":
    main()
