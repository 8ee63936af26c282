#!/usr/bin/python
# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: rehearsal
short_description: Run a playbook of this collection on a twin of the fleet, and predict
version_added: 0.1.0
author:
  - The evenkeel.fleet authors (@evenkeel)
description:
  - Copies the live cluster, a snapshot or a specification into a twin, a cluster in a process on the controller, runs the
    very same playbook against it in virtual time, and returns what would happen.
  - Nothing of a rehearsal touches the world. The live cluster is only read. The playbook runs in an environment whose only
    credential is the twin's kubeconfig, without the user's inventory and configuration of Ansible; task files of the user's
    (hooks) are not run, but waited for in the twin's time.
  - Hours of the twin's time pass in seconds.
options:
  playbook:
    description:
      - The playbook of this collection, V(maintenance_enter) or V(maintenance_exit).
    type: str
    required: true
  variables:
    description:
      - The playbook's variables, as the real run gets them.
      - Those that say how to connect are left out. Those that name task files are only looked at for what would run.
    type: dict
    default: {}
  hook_durations:
    description:
      - How long task files take wherever they would run, in seconds or as V(20m), by the variable that names them, such as
        V(maintenance_tasks).
      - A task file of which nothing is said takes no time in the rehearsal, and is named in RV(hooks).
    type: dict
    default: {}
  seeds:
    description:
      - What chance is drawn from, in as many rehearsals. It decides how long pods take to start and to stop where that is
        known as a distribution.
    type: list
    elements: int
    default: [1, 2, 3]
  snapshot:
    description:
      - Path of a file that M(evenkeel.fleet.fleet_info) wrote with O(evenkeel.fleet.fleet_info#module:dest). No cluster is
        needed then.
    type: path
    default: ""
  spec:
    description:
      - A cluster in a few lines, with V(nodes), V(workloads) and V(budgets). No cluster is needed then.
    type: dict
  pace:
    description:
      - How long pods take to V(start), until they are Ready, and to V(stop). Seconds, a duration such as V(20s), or a
        distribution as a mapping with one key, V(uniform) with least and most, V(normal) with mean and deviation,
        V(lognormal) with median and sigma, or V(empirical) with values that were seen.
      - With V(label), a label of pods, and V(classes), a mapping of its values to such times, other times for some pods.
      - Without V(start), pods start as quickly as those that run. Nothing in a cluster tells how long they take to stop;
        without V(stop) they stop at once.
    type: dict
    default: {}
  fail_on:
    description:
      - When the task fails. V(failure), when the rehearsed run would fail with any seed, with the code V(would_fail);
        V(never), only when there is no prediction.
    type: str
    choices: [failure, never]
    default: failure
attributes:
  action:
    description: The call is always made in the controller's own process, and tells what it is at while it works.
    support: full
  async:
    description: Does not support being used with the C(async) keyword.
    support: none
  check_mode:
    description: Rehearses the same in check mode, as nothing is changed.
    support: full
  diff_mode:
    description: There is nothing to show, because nothing is changed.
    support: N/A
  idempotent:
    description: It changes nothing. With the same seeds and the same fleet, it predicts the same.
    support: N/A
extends_documentation_fragment:
  - evenkeel.fleet.common
  - evenkeel.fleet.auth
  - evenkeel.fleet.attributes
requirements:
  - ansible-core and cryptography on the controller
seealso:
  - module: evenkeel.fleet.preflight
  - module: evenkeel.fleet.fleet_info
"""

EXAMPLES = r"""
- name: See what taking a node into maintenance would do
  evenkeel.fleet.rehearsal:
    playbook: maintenance_enter
    variables:
      nodes: worker-1

- name: See how long the patching of two nodes, one after the other, would take
  evenkeel.fleet.rehearsal:
    playbook: maintenance_enter
    variables:
      nodes: [worker-1, worker-2]
      batch: 1
      exit_after: true
      maintenance_tasks: patch.yml
    hook_durations:
      maintenance_tasks: 20m
    pace:
      stop: {uniform: [2, 10]}
    seeds: [1]

- name: Rehearse on a fleet that does not exist yet
  evenkeel.fleet.rehearsal:
    playbook: maintenance_enter
    variables:
      nodes: workers-1
    spec:
      nodes:
        - {pool: workers, count: 3}
      workloads:
        - {name: web, namespace: shop, replicas: 6, start: 20s, stop: 10s}
      budgets:
        - {name: web, namespace: shop, max_unavailable: 1}
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
  sample: "maintenance_enter would succeed: 6 pods moved in 41m03s."
code:
  description: Why the call failed, as a stable code that playbooks can match on.
  returned: failure
  type: str
  sample: would_fail
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
  sample: [{seconds: 2.4, node: "", text: "rehearsal 1 of 3: Empty the nodes", done: 0, total: 0}]
prediction:
  description: What the run would do.
  returned: when it was rehearsed
  type: dict
  contains:
    succeeds:
      description: Whether the run would end well, with every seed.
      returned: always
      type: bool
    problem:
      description: What the run would fail with; empty when it would succeed.
      returned: always
      type: str
    seeds:
      description: The seeds of chance that were rehearsed with.
      returned: always
      type: list
      elements: int
    duration:
      description: How long the run would take, in seconds; least, median and most of the seeds.
      returned: always
      type: dict
      contains:
        least:
          description: The shortest.
          returned: always
          type: float
        median:
          description: The one in the middle.
          returned: always
          type: float
        most:
          description: The longest.
          returned: always
          type: float
    timeline:
      description: What would happen when, of the rehearsal in the middle.
      returned: always
      type: list
      elements: dict
      contains:
        seconds:
          description: Since the run began.
          returned: always
          type: float
        event:
          description: V(cordoned), V(uncordoned), V(evicted), V(deleted), V(gone), V(unplaced) or V(denied).
          returned: always
          type: str
        subject:
          description: The node, or the pod as namespace/name.
          returned: always
          type: str
        owner:
          description: The workload that the pod is of, such as Deployment shop/web; empty for a node.
          returned: always
          type: str
        node:
          description: Name of the pod's node.
          returned: always
          type: str
        detail:
          description: What the API server or the scheduler would say; may be empty.
          returned: always
          type: str
    moved:
      description: The pods that would leave their node, of the rehearsal in the middle.
      returned: always
      type: list
      elements: dict
      contains:
        workload:
          description: The pod as namespace/name.
          returned: always
          type: str
        owner:
          description: The workload that it is of.
          returned: always
          type: str
        node:
          description: Name of the node that it would leave.
          returned: always
          type: str
        to:
          description: Name of the node of a pod that its owner would start instead; empty for none.
          returned: always
          type: str
        seconds:
          description: When, since the run began.
          returned: always
          type: float
        how:
          description: V(evicted) or V(deleted).
          returned: always
          type: str
    moved_by_owner:
      description: How many pods of each workload would leave.
      returned: always
      type: dict
    waits:
      description: How long pods would wait for each budget, the longest first.
      returned: always
      type: list
      elements: dict
      contains:
        budget:
          description: The PodDisruptionBudget as namespace/name.
          returned: always
          type: str
        pods:
          description: How many pods would wait for it.
          returned: always
          type: int
        longest:
          description: The longest of these waits, in seconds.
          returned: always
          type: float
        owner:
          description: The workload of the pod that would wait longest.
          returned: always
          type: str
    violated:
      description: Budgets, as namespace/name, of which fewer pods than they want would be healthy at some time.
      returned: always
      type: list
      elements: str
    refused:
      description: Pods that would be refused for good.
      returned: always
      type: list
      elements: dict
      contains:
        workload:
          description: The pod as namespace/name.
          returned: always
          type: str
        node:
          description: Name of its node; empty where it has none.
          returned: always
          type: str
        code:
          description: Why, as a stable code.
          returned: always
          type: str
        detail:
          description: The same as a sentence.
          returned: always
          type: str
    unfinished:
      description: Pods that the run would not have finished with when it failed.
      returned: always
      type: list
      elements: dict
      contains:
        workload:
          description: The pod as namespace/name.
          returned: always
          type: str
        node:
          description: Name of its node; empty where it has none.
          returned: always
          type: str
        code:
          description: Why, as a stable code.
          returned: always
          type: str
        detail:
          description: The same as a sentence.
          returned: always
          type: str
    unplaced:
      description: Replacements for which there would be no node.
      returned: always
      type: list
      elements: dict
      contains:
        workload:
          description: The pod as namespace/name.
          returned: always
          type: str
        node:
          description: Name of its node; empty where it has none.
          returned: always
          type: str
        code:
          description: Why, as a stable code.
          returned: always
          type: str
        detail:
          description: The same as a sentence.
          returned: always
          type: str
    change_first:
      description: What to change before the real run, the most important first.
      returned: always
      type: list
      elements: dict
      contains:
        code:
          description: Why, as a stable code.
          returned: always
          type: str
        subject:
          description: The object.
          returned: always
          type: str
        sentence:
          description: What is the matter.
          returned: always
          type: str
        remedy:
          description: What to do about it; may be empty, where the sentence says it.
          returned: always
          type: str
hooks:
  description: The hooks that would run, and for how long each was waited for.
  returned: when it was rehearsed
  type: list
  elements: dict
  contains:
    name:
      description: The variable that names its task file.
      returned: always
      type: str
    seconds:
      description: How long it was waited for.
      returned: always
      type: float
    given:
      description: Whether O(hook_durations) says how long it takes. One of which nothing is known counts as V(0).
      returned: always
      type: bool
lines:
  description: The prediction as a short table.
  returned: when it was rehearsed
  type: list
  elements: str
  sample: ["result        it succeeds", "duration      41m03s"]
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
from ansible_collections.evenkeel.fleet.plugins.module_utils.rehearsal.options import (
    RehearsalOptions,
    needs_cluster,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.rehearsal.rehearse import rehearse

MODULE = Module(
    specification=merge(
        {
            "playbook": {"type": "str", "required": True},
            "variables": {"type": "dict", "default": {}},
            "hook_durations": {"type": "dict", "default": {}},
            "seeds": {"type": "list", "elements": "int", "default": [1, 2, 3]},
            "snapshot": {"type": "path", "default": ""},
            "spec": {"type": "dict"},
            "pace": {"type": "dict", "default": {}},
            "fail_on": {"type": "str", "choices": ["failure", "never"], "default": "failure"},
        },
        COMMON,
        AUTH,
    ),
    options=RehearsalOptions,
    function=rehearse,
    needs_cluster=needs_cluster,
)


def main() -> None:
    run_module(MODULE)


if __name__ == "__main__":
    main()
