# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The options that every module of this collection has."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  cluster:
    description:
      - The only cluster that may be touched, named as its context or its cluster entry in the kubeconfig. Any other is
        refused before the first request.
      - Without it, the cluster that the connection leads to is the one.
    type: str
  annotation_prefix:
    description:
      - Prefix of the annotations in which the collection keeps its records on nodes and owners.
    type: str
    default: fleet.evenkeel.dev/
  state_namespace:
    description:
      - Namespace of the Leases by which runs keep clear of each other.
    type: str
    default: kube-system
"""
