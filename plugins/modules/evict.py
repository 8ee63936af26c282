#!/usr/bin/python
# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: evict
short_description: Empty nodes of their pods through the Eviction API, a whole batch at once
version_added: 0.1.0
author:
  - The evenkeel.fleet authors (@evenkeel)
description:
  - Evicts the pods of all selected nodes in one call and, by default, waits until they are gone.
  - Every pod of every node is judged before the first write. What must not be touched without a consent stops the call there.
  - The order follows what the disruption budgets allow now. A budget that is exhausted is waited for, one that can never
    pass is refused at once with the remedy, and one blocked pod never stops the others.
  - Nodes that are open are not closed by this module; use M(evenkeel.fleet.cordon) first.
  - A call that ends early fails, and lists all that is still pending. Calling it again goes on from there.
options:
  pod_selector:
    description:
      - Evicts only the pods whose labels match, as C(kubectl) writes it.
    type: str
    default: ''
  namespaces:
    description:
      - Evicts only pods of these namespaces. An empty list means all.
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
      - Leaves the pods of DaemonSets alone, which would come back at once, instead of refusing because of them.
    type: bool
    default: false
  force:
    description:
      - Consents to the eviction of pods that no controller would bring back.
    type: bool
    default: false
  disable_eviction:
    description:
      - Deletes the pods instead of evicting them, past all disruption budgets.
    type: bool
    default: false
  fragile:
    description:
      - What to do with pods whose eviction leaves a gap, such as the only replica, the last Ready one, or a pod that no
        budget covers.
      - V(evict) evicts them one at a time per owner.
      - V(defer) leaves them and lists them.
      - V(refuse) stops before any write.
      - V(surge) brings up a replacement elsewhere first, by a restart of the owner's rollout, where its strategy allows it.
    type: str
    choices: [evict, defer, refuse, surge]
    default: evict
  fenced:
    description:
      - States that the nodes are switched off. Only then may pods of a dead node be removed without its kubelet; the
        out-of-service taint is set and removed again.
    type: bool
    default: false
  allow_last:
    description:
      - Empties nodes even if no other node takes pods, or if no majority of Ready control-plane nodes is left.
    type: bool
    default: false
  grace_period_seconds:
    description:
      - Seconds that each pod gets to stop, instead of its own grace period.
    type: int
  max_parallel:
    description:
      - How many pods may be leaving at the same time, over all nodes. V(0) means as many as the budgets allow.
    type: int
    default: 0
  on_refusal:
    description:
      - What to do when a pod is refused for good while others can still go.
      - V(continue) evicts the others, and fails at the end.
      - V(fail_fast) evicts no further pod.
    type: str
    choices: [continue, fail_fast]
    default: continue
  only_while:
    description:
      - Annotations with their values that every node must keep. When one is removed or changed, the call stops before its
        next act. This is how a request that is withdrawn elsewhere stops a drain.
    type: dict
    default: {}
  status_annotation:
    description:
      - Key of an annotation that says on each node, while the call works, how many pods are still there and what they wait
        for, so that C(kubectl describe node) shows it.
      - It is written when it changes, at most every 10 seconds for each node, and removed once nothing is waited for. A call
        that ends early leaves the last line. It does not count as a change, and where it cannot be written the call goes on.
      - Nothing is written when this is empty, and in check mode.
    type: str
    default: ''
  wait:
    description:
      - Waits until the pods are gone, and until their volumes are detached from the node.
    type: bool
    default: true
  wait_timeout:
    description:
      - How long the call may take, in seconds or as V(30m) or V(1h30m). V(0) means no limit.
    type: str
    default: 30m
extends_documentation_fragment:
  - evenkeel.fleet.selection
  - evenkeel.fleet.selection.gone
  - evenkeel.fleet.common
  - evenkeel.fleet.auth
  - evenkeel.fleet.attributes
  - evenkeel.fleet.attributes.acts
seealso:
  - module: evenkeel.fleet.cordon
  - module: evenkeel.fleet.preflight
"""

EXAMPLES = r"""
- name: Empty a node
  evenkeel.fleet.evict:
    nodes: worker-1
    ignore_daemonsets: true

- name: Empty two nodes at once, twenty pods at a time
  evenkeel.fleet.evict:
    nodes: [worker-1, worker-2]
    ignore_daemonsets: true
    delete_emptydir_data: true
    max_parallel: 20
    wait_timeout: 1h

- name: Bring up replacements before single replicas go
  evenkeel.fleet.evict:
    nodes: worker-1
    ignore_daemonsets: true
    fragile: surge

- name: Evict only the pods of one namespace
  evenkeel.fleet.evict:
    node_selector: topology.kubernetes.io/zone=z1
    namespaces: shop
    ignore_daemonsets: true
    allow_last: true

- name: See what would happen, without evicting anything
  evenkeel.fleet.evict:
    where: zone == 'z1'
    ignore_daemonsets: true
    allow_last: true
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
  sample: 20 of 20 pods left worker-1.
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
      sample: [{workload: shop/web-7d4b9, node: worker-1, action: evict, code: evicted, detail: ""}]
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
  sample: [{seconds: 0.3, node: worker-1, text: waits for PodDisruptionBudget shop/web, done: 0, total: 0}]
problem:
  description: What ended the call before all pods had left, such as a timeout; C(msg) begins with it.
  returned: when something ended the call early
  type: str
  sample: Timed out after 600 s (wait_timeout).
remedy:
  description: How to go on after that, or back.
  returned: when something ended the call early
  type: str
  sample: "What is done stays done: run it again to go on, or uncordon the nodes to undo."
nodes:
  description: Where each node stands.
  returned: when the nodes were read
  type: list
  elements: dict
  contains:
    name:
      description: Name of the node.
      returned: always
      type: str
    total:
      description: Pods that were to leave.
      returned: always
      type: int
    done:
      description: Pods that left, or would leave at once in check mode.
      returned: always
      type: int
    skipped:
      description: Pods that were left alone.
      returned: always
      type: int
    pending:
      description: Pods that had not left when the call ended.
      returned: always
      type: int
    failed:
      description: Pods that cannot leave.
      returned: always
      type: int
    emptied:
      description: Whether nothing that should leave is left.
      returned: always
      type: bool
    gone:
      description: Whether the node itself vanished meanwhile.
      returned: always
      type: bool
owners:
  description:
    - The owners of what was moved, with the replicas that were Ready beforehand, for M(evenkeel.fleet.settle).
    - Owners whose replicas cannot be counted, such as a Job, are left out.
  returned: when the nodes were read
  type: list
  elements: dict
  contains:
    kind:
      description: Kind of the owner, such as Deployment.
      returned: always
      type: str
    namespace:
      description: Namespace of the owner.
      returned: always
      type: str
    name:
      description: Name of the owner.
      returned: always
      type: str
    ready:
      description: Replicas that were Ready before the first pod left.
      returned: always
      type: int
"""

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.evict import (
    evict,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.options import (
    EvictOptions,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.interface.argspec import (
    AUTH,
    COMMON,
    CONSENT,
    GONE,
    PACE,
    SELECTION,
    WAIT,
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
            "pod_selector": {"type": "str", "default": ""},
            "namespaces": {"type": "list", "elements": "str", "default": []},
            "disable_eviction": {"type": "bool", "default": False},
            "fenced": {"type": "bool", "default": False},
            "allow_last": {"type": "bool", "default": False},
            "status_annotation": {"type": "str", "default": ""},
        },
        CONSENT,
        PACE,
        WAIT,
        COMMON,
        AUTH,
    ),
    options=EvictOptions,
    function=evict,
)


def main() -> None:
    run_module(MODULE)


if __name__ == "__main__":
    main()
