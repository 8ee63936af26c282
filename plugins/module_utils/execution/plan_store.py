# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Plans in the cluster that they are of: ConfigMaps in one namespace.

    fleet-plan-ID     the running part: small, written often; a plan exists when this does
    fleet-plan-ID-0   and -1, ...: pieces of the fixed part, written once; they go with the first

A plan that is being made has no pieces yet: what little there is of it stands beside its running
part. Its pieces come before the write that makes it READY, so that one which died in between is
still GENERATING.

Every write of a running part says which state it goes on from (resourceVersion): of two runners one
gets Conflict, and a runner that was taken over stops at its next write.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Iterator, Mapping, Optional, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.base import Cluster
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import (
    NotFound,
    Refused,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.plan.document import Plan
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.plan.parts import (
    LARGEST_PIECE,
    checksum_of,
    divided,
    joined,
    packed,
    unpacked,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.plan.status import TERMINAL
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.resources import CONFIG_MAPS

PLAN_LABEL, PART_LABEL = "plan", "plan-part"
RUNNING, PIECE = "running", "piece"
# How many plans are kept; one that is not over is never dropped.
HISTORY_LIMIT = 50
_NAME = "fleet-plan-"
_RUNNING_KEY, _FIXED_KEY, _PIECE_KEY = "running.json", "fixed.json", "piece"


@dataclass(frozen=True)
class Stored:
    """version: of the running part, from which the next write goes on; uid: of its ConfigMap.
    pieces: how many the fixed part has, 0 while the plan is being made."""

    plan: Plan
    version: str
    uid: str
    pieces: int = 0


@dataclass(frozen=True)
class PlanStore:
    """prefix: of our labels, as Run.prefix. All methods raise the errors of Cluster."""

    cluster: Cluster
    namespace: str
    prefix: str
    largest: int = LARGEST_PIECE

    # Writing

    def create(self, plan: Plan) -> Stored:
        """Stores a plan that is asked for. Raises Conflict when there is one with its ID."""
        body = self._running_map(plan, ())
        made = self.cluster.create(CONFIG_MAPS, body, namespace=self.namespace)
        return _stored(plan, made)

    def complete(self, before: Stored, plan: Plan) -> Stored:
        """Stores the plan that was made. Raises as update does."""
        pieces = packed(divided(plan)[0], self.largest)
        owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": _NAME + plan.id}
        for number, piece in enumerate(pieces):
            body = self._map(f"{_NAME}{plan.id}-{number}", plan.id, PIECE, {_PIECE_KEY: piece})
            body["metadata"]["ownerReferences"] = [{**owner, "uid": before.uid}]
            body["immutable"] = True
            self.cluster.create(CONFIG_MAPS, body, namespace=self.namespace)
        return self._write(before, plan, pieces)

    def update(self, before: Stored, plan: Plan) -> Stored:
        """Writes the running part as it is now.

        Raises Conflict when somebody else wrote it since `before`, NotFound when it was deleted,
        ValueError when more than the running part is another.
        """
        fixed = divided(plan)[0]
        if fixed != divided(before.plan)[0]:
            raise ValueError(f"the fixed part of plan {plan.id} does not change")
        return self._write(before, plan, packed(fixed, self.largest) if before.pieces else ())

    def _write(self, before: Stored, plan: Plan, pieces: Sequence[str]) -> Stored:
        body = self._running_map(plan, pieces)
        body["metadata"].update(resourceVersion=before.version, uid=before.uid)
        made = self.cluster.replace(
            CONFIG_MAPS, body["metadata"]["name"], body, namespace=self.namespace
        )
        return _stored(plan, made, len(pieces))

    def delete(self, plan_id: str) -> None:
        """Its pieces go with it."""
        self.cluster.delete(CONFIG_MAPS, _NAME + plan_id, namespace=self.namespace)

    def prune(self, limit: int = HISTORY_LIMIT) -> list[str]:
        """Deletes the oldest plans that are over, beyond `limit` of all; returns their IDs."""
        known = self.headers()
        over = [one for one in reversed(known) if one.status in TERMINAL]
        dropped = [one.id for one in over[: max(0, len(known) - limit)]]
        for plan_id in dropped:
            self.delete(plan_id)
        return dropped

    # Reading

    def get(self, plan_id: str) -> Stored:
        """Raises Refused: not_found for an unknown ID, plan_damaged for one that was edited."""
        try:
            found = self.cluster.get(CONFIG_MAPS, _NAME + plan_id, namespace=self.namespace)
        except NotFound as error:
            raise Refused(
                f"Plan {plan_id}",
                "not_found",
                f"there is none of this ID in namespace {self.namespace}.",
                "List the plans to see their IDs.",
            ) from error
        try:
            running = json.loads(found["data"][_RUNNING_KEY])
            pieces = running.pop("pieces", {"count": 0, "checksum": ""})
            plan = joined(self._fixed(plan_id, found["data"], **pieces), running)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise damaged(plan_id, self.namespace, str(error)) from error
        return _stored(plan, found, pieces["count"])

    def headers(self) -> list[Header]:
        """All plans, the newest first; one that cannot be read is left out."""
        selector = f"{self.prefix}{PART_LABEL}={RUNNING}"
        listing = self.cluster.list(CONFIG_MAPS, namespace=self.namespace, label_selector=selector)
        found = [one for raw in listing.items for one in _header(raw, self.prefix)]
        return sorted(found, key=lambda one: (one.created, one.id), reverse=True)

    def _fixed(
        self, plan_id: str, data: Mapping[str, str], count: int, checksum: str
    ) -> dict[str, Any]:
        if not count:
            found: dict[str, Any] = json.loads(data[_FIXED_KEY])
            return found
        pieces = list(self._pieces(plan_id, count))
        if checksum_of(pieces) != checksum:
            raise ValueError("its pieces are not those that were written")
        return unpacked(pieces)

    def _pieces(self, plan_id: str, count: int) -> Iterator[str]:
        for number in range(count):
            name = f"{_NAME}{plan_id}-{number}"
            try:
                found = self.cluster.get(CONFIG_MAPS, name, namespace=self.namespace)
            except NotFound as error:
                raise ValueError(f"ConfigMap {name} is missing") from error
            yield found["data"][_PIECE_KEY]

    # Objects

    def _running_map(self, plan: Plan, pieces: Sequence[str]) -> dict[str, Any]:
        fixed, running = divided(plan)
        if not pieces:
            data = {_RUNNING_KEY: _text(running), _FIXED_KEY: _text(fixed)}
        else:
            running["pieces"] = {"count": len(pieces), "checksum": checksum_of(pieces)}
            data = {_RUNNING_KEY: _text(running)}
        return self._map(_NAME + plan.id, plan.id, RUNNING, data)

    def _map(self, name: str, plan_id: str, part: str, data: Mapping[str, str]) -> dict[str, Any]:
        labels = {self.prefix + PLAN_LABEL: plan_id, self.prefix + PART_LABEL: part}
        return {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": self.namespace, "labels": labels},
            "data": dict(data),
        }


@dataclass(frozen=True)
class Header:
    """What is known of a plan without its pieces. created: as its ConfigMap was, RFC 3339."""

    id: str
    status: str
    created: str


def damaged(plan_id: str, namespace: str, why: str) -> Refused:
    return Refused(
        f"Plan {plan_id}",
        "plan_damaged",
        f"its ConfigMaps in namespace {namespace} were changed by hand: {why}.",
        "Make a new plan, and delete this one.",
    )


def _text(document: Mapping[str, Any]) -> str:
    return json.dumps(document, sort_keys=True)


def _header(raw: Mapping[str, Any], prefix: str) -> Iterator[Header]:
    metadata = raw["metadata"]
    status = _status(raw)
    if status is not None:
        plan_id = metadata["labels"][prefix + PLAN_LABEL]
        yield Header(plan_id, status, metadata["creationTimestamp"])


def _status(raw: Mapping[str, Any]) -> Optional[str]:
    try:
        status = json.loads(raw["data"][_RUNNING_KEY])["status"]
    except (ValueError, KeyError, TypeError):
        return None
    return status if isinstance(status, str) else None


def _stored(plan: Plan, raw: Mapping[str, Any], pieces: int = 0) -> Stored:
    metadata = raw["metadata"]
    return Stored(plan, metadata["resourceVersion"], metadata["uid"], pieces)
