# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A pod's owner and all pods of that owner, found without a look at every pod of the namespace.

An owner's state is asked for before each eviction: a Fleet of the whole namespace, made anew after
each event, would cost as much as the namespace has pods, once for each pod that leaves.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Iterator, Mapping, Optional, Union

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.controller import Controller
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.fleet import Fleet
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.pod import Pod

Member = Union[Pod, Controller]


class Families:
    """Pods, and controllers such as the ReplicaSets of a Deployment, by the UID of their owner."""

    def __init__(self) -> None:
        self._pods: dict[str, dict[str, Pod]] = defaultdict(dict)
        self._controllers: dict[str, dict[str, Controller]] = defaultdict(dict)

    def changed(self, before: Optional[Member], now: Optional[Member]) -> None:
        """None: it was not there, or is not any more. Owners may change: a pod can be orphaned."""
        if before is not None and before.meta.owner is not None:
            self._shelf(before)[before.meta.owner.uid].pop(before.meta.uid, None)
        if now is not None and now.meta.owner is not None:
            self._shelf(now)[now.meta.owner.uid][now.meta.uid] = now

    def of(self, pod: Pod, controllers: Mapping[str, Controller]) -> Fleet:
        """The controllers above this pod, those that the top one owns, and the pods of all these.

        controllers: those of the pod's namespace, by UID. Fleet.controller_of, replicas_of and
        siblings_of answer for this pod as they do in a Fleet of everything.
        """
        above = tuple(_above(pod, controllers))
        beside = tuple(self._controllers.get(above[-1].meta.uid, {}).values()) if above else ()
        family = {member.meta.uid: member for member in (*above, *beside)}
        owners = dict.fromkeys(family)
        if pod.meta.owner is not None:
            owners.setdefault(pod.meta.owner.uid)
        pods = tuple(found for uid in owners for found in self._pods.get(uid, {}).values())
        return Fleet(pods=pods, controllers=tuple(family.values()))

    def _shelf(self, member: Member) -> dict[str, dict[str, Any]]:
        return self._pods if isinstance(member, Pod) else self._controllers


def _above(pod: Pod, controllers: Mapping[str, Controller]) -> Iterator[Controller]:
    owner = pod.meta.owner
    while owner is not None and owner.uid in controllers:
        yield controllers[owner.uid]
        owner = controllers[owner.uid].meta.owner
