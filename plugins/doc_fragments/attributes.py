# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What every module of this collection says of itself."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
attributes:
  action:
    description:
      - An action plugin of the same name makes the call in the controller's own process, and prints what it is waiting for
        while it works, where the connection is local and the task has no C(environment), C(become), C(async) or other
        C(ansible_python_interpreter). Everywhere else the module runs, and RV(timeline) tells the same afterwards.
    support: full
  action_group:
    description: Can be given its connection once for all tasks, by C(module_defaults) of the group.
    support: full
    membership:
      - evenkeel.fleet.fleet
  async:
    description: Supports being used with the C(async) keyword.
    support: full
  platform:
    description: Where it runs; what it acts on is behind the Kubernetes API.
    support: full
    platforms: posix
requirements:
  - python >= 3.9
  - kubernetes >= 24.2.0
  - jmespath (for the option where)
"""

    # A module that acts.
    ACTS = r"""
attributes:
  check_mode:
    description: Predicts from what it reads, and writes nothing, not even on trial.
    support: full
  diff_mode:
    description: Shows what changed, or would change.
    support: full
  idempotent:
    description: A second call with the same options, when nothing else happened in between, changes nothing.
    support: full
"""

    # A module that only reads.
    READS = r"""
attributes:
  check_mode:
    description: Reads the same in check mode.
    support: full
  diff_mode:
    description: There is nothing to show, because nothing is changed.
    support: N/A
  idempotent:
    description: It only reads.
    support: N/A
"""

    # A module that waits for others' work.
    WAITS = r"""
attributes:
  check_mode:
    description: Tells how things stand, and neither waits nor fails because of them.
    support: full
  diff_mode:
    description: There is nothing to show, because nothing is changed.
    support: N/A
  idempotent:
    description: It only reads.
    support: N/A
"""

    # A module that reads the cluster, and may keep what it read in a file.
    WRITES_A_FILE = r"""
attributes:
  check_mode:
    description: Reads the same in check mode, and predicts whether the file would change.
    support: full
  diff_mode:
    description: Does not show the file.
    support: none
  idempotent:
    description: A second call writes nothing while the fleet stays as it is.
    support: full
"""
