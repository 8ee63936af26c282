#!/usr/bin/python
# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: cordon
short_description: Close nodes to new pods and open them again, each owner for itself
version_added: 0.1.0
author:
  - The evenkeel.fleet authors (@evenkeel)
description:
  - Closes nodes to new pods, as C(kubectl cordon) does, and writes on the node who closed it and why.
  - A node can have several owners. It opens when the last of them leaves.
  - A node that was closed before belongs to V(someone-else), too, and stays closed when the others leave.
  - When somebody opened a node that an owner still holds, this is reported and not fought.
options:
  state:
    description:
      - With V(cordoned), O(owner) holds the node, which is closed if it was open.
      - With V(uncordoned), O(owner) lets go of the node, which opens if nobody else holds it.
    type: str
    choices: [cordoned, uncordoned]
    default: cordoned
  owner:
    description:
      - In whose name the node is held.
    type: str
    default: maintenance
  reason:
    description:
      - Why, for whoever looks at the node.
    type: str
    default: ''
  release_all:
    description:
      - With O(state=uncordoned), removes every owner, V(someone-else) included, and opens the node.
    type: bool
    default: false
  allow_last:
    description:
      - Closes nodes even if no node that takes pods is left, or if no majority of Ready control-plane nodes is.
    type: bool
    default: false
extends_documentation_fragment:
  - evenkeel.fleet.selection
  - evenkeel.fleet.selection.gone
  - evenkeel.fleet.common
  - evenkeel.fleet.auth
  - evenkeel.fleet.attributes
  - evenkeel.fleet.attributes.acts
seealso:
  - module: evenkeel.fleet.evict
  - module: evenkeel.fleet.maintenance
"""

EXAMPLES = r"""
- name: Close a node
  evenkeel.fleet.cordon:
    nodes: worker-1
    reason: replace the fan

- name: Close two nodes in the name of the storage team
  evenkeel.fleet.cordon:
    nodes: [worker-1, worker-2]
    owner: storage
    reason: rebuild the pool

- name: Close the nodes of a zone
  evenkeel.fleet.cordon:
    node_selector: topology.kubernetes.io/zone=z1
    allow_last: true

- name: Let go of the nodes whose kubelet is old
  evenkeel.fleet.cordon:
    where: zone == 'z1' && kubelet_minor < `99`
    state: uncordoned

- name: See what would change, without changing it
  evenkeel.fleet.cordon:
    nodes: worker-1,worker-2
    state: uncordoned
    owner: storage
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
      sample: [{workload: "", node: worker-1, action: cordon, code: cordoned, detail: ""}]
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
  sample: [{seconds: 0.3, node: worker-1, text: closed, done: 0, total: 0}]
cordoned:
  description: Names of the nodes that were closed, or would be in check mode. Nodes that were closed before are not among them.
  returned: when the nodes were read
  type: list
  elements: str
  sample: [worker-1]
uncordoned:
  description: Names of the nodes that were opened, or would be in check mode.
  returned: when the nodes were read
  type: list
  elements: str
"""

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.cordon import (
    CordonOptions,
    cordon,
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
                "choices": ["cordoned", "uncordoned"],
                "default": "cordoned",
            },
            "owner": {"type": "str", "default": "maintenance"},
            "reason": {"type": "str", "default": ""},
            "release_all": {"type": "bool", "default": False},
            "allow_last": {"type": "bool", "default": False},
        },
        COMMON,
        AUTH,
    ),
    options=CordonOptions,
    function=cordon,
)


def main() -> None:
    run_module(MODULE)


if __name__ == "__main__":
    main()
