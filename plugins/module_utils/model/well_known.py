# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Keys of labels, annotations, taints and resources that are the same in every cluster."""

from __future__ import annotations

_DOMAINS = (
    "kubernetes.io",
    "k8s.io",
    "karpenter.sh",
    "evenkeel.dev",
    "zyvor.dev",
    "kubevirt.io",
    "nvidia.com",
    "amd.com",
)
# What controllers write without a domain.
_BARE = (
    "pod-template-hash",
    "controller-revision-hash",
    "pod-template-generation",
    "job-name",
    "controller-uid",
)


def is_well_known(key: str) -> bool:
    """Is it of Kubernetes, of one of its well-known neighbours, or of this collection?"""
    domain = key.rpartition("/")[0]
    return key in _BARE or any(domain == one or domain.endswith(f".{one}") for one in _DOMAINS)
