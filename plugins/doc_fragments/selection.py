# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The three ways to say which nodes."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  nodes:
    description:
      - Names of nodes, as a list or separated by commas. A name that no node has is refused.
      - Exactly one of O(nodes), O(node_selector) and O(where) is needed.
    type: list
    elements: str
  node_selector:
    description:
      - Selects nodes by their labels, as C(kubectl) writes it, such as V(zone=a,!spot), or as a mapping of labels to
        values.
      - A selector that matches no node is refused.
    type: raw
  where:
    description:
      - Selects the nodes for which this JMESPath expression is true. It is evaluated for each node document of
        M(evenkeel.fleet.fleet_info), such as V(zone=='a' && kubelet_minor < `37`).
      - An expression that selects no node is refused.
    type: str
"""

    # For modules that look at the whole cluster when nothing is selected.
    OPTIONAL = r"""
options:
  nodes:
    description:
      - Names of nodes, as a list or separated by commas. A name that no node has is refused.
      - At most one of O(nodes), O(node_selector) and O(where) may be given. Without any of them, every node is meant.
    type: list
    elements: str
  node_selector:
    description:
      - Selects nodes by their labels, as C(kubectl) writes it, such as V(zone=a,!spot), or as a mapping of labels to
        values.
      - A selector that matches no node is refused.
    type: raw
  where:
    description:
      - Selects the nodes for which this JMESPath expression is true. It is evaluated for each node document of
        M(evenkeel.fleet.fleet_info), such as V(zone=='a' && kubelet_minor < `37`).
      - An expression that selects no node is refused.
    type: str
"""

    # For modules that are steps of a run which has found its nodes before.
    GONE = r"""
options:
  ignore_not_found:
    description:
      - Nodes of O(nodes) that are not in the cluster are skipped with the code V(node_gone) instead of being refused.
      - For a step of a run that has found these nodes before, so that one that is removed meanwhile does not stop the
        others. Elsewhere a misspelled name would look like a success.
    type: bool
    default: false
"""
