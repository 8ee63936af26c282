# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Pods in groups: of equal specs, which the rules judge alike, and of equal labels, which selectors
match alike."""

from __future__ import annotations

from typing import Mapping, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.scheduling import (
    PodTerm,
    SchedulingSpec,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.selector import LabelSelector


class PodClass:
    """Pods of equal specs. Compared by identity: there is one for each spec of a ClusterState."""

    def __init__(self, spec: SchedulingSpec) -> None:
        self.spec = spec
        self.labels = dict(spec.labels)


class Group:
    """Pods of one namespace with equal labels, alive or terminating: how many are on which node."""

    def __init__(self, namespace: str, labels: Mapping[str, str], alive: bool) -> None:
        self.namespace = namespace
        self.labels = labels
        self.alive = alive
        self.on: dict[int, int] = {}


class PodMatcher:
    """Which pods a term means: by their labels, and by their namespace or its labels."""

    def __init__(
        self,
        selector: Optional[LabelSelector],
        namespaces: tuple[str, ...],
        namespace_selector: Optional[LabelSelector] = None,
    ) -> None:
        self._selector = selector
        self._namespaces = frozenset(namespaces)
        self._namespace_selector = namespace_selector

    def only_in(self) -> Optional[frozenset[str]]:
        """The namespaces that it is limited to, None when a selector chooses them."""
        return self._namespaces if self._namespace_selector is None else None

    def matches(
        self,
        namespace: str,
        labels: Mapping[str, str],
        of_namespaces: Mapping[str, Mapping[str, str]],
    ) -> bool:
        if self._selector is None or not self._selector.matches(labels):
            return False
        if namespace in self._namespaces:
            return True
        chosen = self._namespace_selector
        return chosen is not None and chosen.matches(of_namespaces.get(namespace, {}))


def matcher(term: PodTerm) -> PodMatcher:
    return PodMatcher(term.selector, term.namespaces, term.namespace_selector)
