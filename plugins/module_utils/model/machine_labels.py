# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a node's labels say of its machine, under the names of several clouds and ages."""

from __future__ import annotations

from typing import Mapping

Labels = Mapping[str, str]

# The first label that is present counts: the stable name, then what older clusters wrote.
_ZONE = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")
_REGION = ("topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region")
_INSTANCE_TYPE = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")
# Karpenter, EKS managed node groups, AKS, GKE: each has its own word for spot machines.
_CAPACITY_TYPE = (
    "karpenter.sh/capacity-type",
    "eks.amazonaws.com/capacityType",
    "kubernetes.azure.com/scalesetpriority",
)
_GKE_SPOT = "cloud.google.com/gke-spot"


def zone(labels: Labels) -> str:
    return _first(labels, _ZONE)


def region(labels: Labels) -> str:
    return _first(labels, _REGION)


def instance_type(labels: Labels) -> str:
    return _first(labels, _INSTANCE_TYPE)


def capacity_type(labels: Labels) -> str:
    """As the cloud calls it; "" where no label tells."""
    return _first(labels, _CAPACITY_TYPE)


def is_spot(labels: Labels) -> bool:
    return capacity_type(labels).lower() == "spot" or labels.get(_GKE_SPOT) == "true"


def _first(labels: Labels, keys: tuple[str, ...]) -> str:
    return next((labels[key] for key in keys if key in labels), "")
