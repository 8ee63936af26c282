# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A node's maintenance as its annotations tell it, and the steps from one state to the next.

    (nothing)  --enter-->  Entering  --arrive-->  InMaintenance
        ^                      |                       |
        +--------leave---------+------- withdraw ------+

The request (`maintenance`: "true") is apart from the state. `withdraw` takes only the request away:
a run that empties the node meanwhile sees it gone and stops before its next act. `leave` removes
all that maintenance wrote. `enter` on a node whose request was withdrawn begins anew.

The record holds what `leave` must know: the boot ID found (a reboot shows by a new one), and for
each protection against autoscalers what was set and what was found. `leave` takes back only what
still has the value that was set: a value changed meanwhile is somebody's decision.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Mapping, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import Refused
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import Node
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.node_edit import (
    DONE,
    FAILED,
    SKIPPED,
    NodeDecision,
    NodeEdit,
    needed,
)

ENTERING = "Entering"
IN_MAINTENANCE = "InMaintenance"

REQUEST_ANNOTATION = "maintenance"
STATE_ANNOTATION = "maintenance-state"
MESSAGE_ANNOTATION = "maintenance-message"
RECORD_ANNOTATION = "maintenance-record"
_OURS = (REQUEST_ANNOTATION, STATE_ANNOTATION, MESSAGE_ANNOTATION, RECORD_ANNOTATION)

# An emptied node looks idle: without these a scaler deletes the machine that was emptied for
# patching. Both compare with exactly "true".
PROTECTIONS = (
    "karpenter.sh/do-not-disrupt",
    "cluster-autoscaler.kubernetes.io/scale-down-disabled",
)


@dataclass(frozen=True)
class Protection:
    """`found` is the value before ours, None where there was none."""

    key: str
    value: str
    found: Optional[str]


@dataclass(frozen=True)
class Record:
    """boot_id: the node's when maintenance was asked for. run: who asked. since: RFC 3339."""

    boot_id: str
    protections: tuple[Protection, ...]
    run: str
    since: str


@dataclass(frozen=True)
class Maintenance:
    """requested: the annotation says "true". state: Entering, InMaintenance, or "" for none."""

    requested: bool
    state: str
    message: str
    record: Optional[Record]

    @property
    def present(self) -> bool:
        """Something of a maintenance is on the node."""
        return self.requested or bool(self.state) or self.record is not None


@dataclass(frozen=True)
class Request:
    """What `enter` wants. An empty message leaves the one that is there."""

    message: str
    protect: bool
    run: str
    since: str


def read_maintenance(node: Node, prefix: str) -> Maintenance:
    """Returns where the node stands. Raises Refused (malformed_record) for an unreadable record."""
    annotations = node.meta.annotations
    text = annotations.get(prefix + RECORD_ANNOTATION)
    return Maintenance(
        requested=annotations.get(prefix + REQUEST_ANNOTATION) == "true",
        state=annotations.get(prefix + STATE_ANNOTATION, ""),
        message=annotations.get(prefix + MESSAGE_ANNOTATION, ""),
        record=None if text is None else _parse_record(node.name, prefix, text),
    )


def enter(node: Node, prefix: str, request: Request) -> NodeDecision:
    """Asks for maintenance, or brings up to date what a node that enters says of itself."""
    found = read_maintenance(node, prefix)
    arrived = found.requested and found.state == IN_MAINTENANCE
    protections = _protections(node, found.record, request.protect)
    wanted: dict[str, Optional[str]] = {
        prefix + REQUEST_ANNOTATION: "true",
        prefix + STATE_ANNOTATION: IN_MAINTENANCE if arrived else ENTERING,
        prefix + RECORD_ANNOTATION: _dump(_record(node, found, request, protections)),
        **{protection.key: protection.value for protection in _new(found.record, protections)},
    }
    if request.message and not arrived:
        wanted[prefix + MESSAGE_ANNOTATION] = request.message
    edit = _edit(node, prefix, wanted)
    if arrived:
        return NodeDecision(SKIPPED, "already_in_maintenance", "", edit)
    entered = found.requested and found.state == ENTERING
    if entered and edit.empty:
        return NodeDecision(SKIPPED, "already_entering", "", edit)
    return NodeDecision(DONE, "entering", "", edit)


def arrive(node: Node, prefix: str, message: str = "") -> NodeDecision:
    """Declares the node empty. Fails where nobody asks for maintenance (any more)."""
    found = read_maintenance(node, prefix)
    if not found.requested:
        return NodeDecision(
            FAILED,
            "not_requested",
            f"Nobody asks for maintenance of it: its annotation {prefix}{REQUEST_ANNOTATION} is not"
            ' "true". It was ended by another run, or never begun; begin with state: entering.',
        )
    edit = _edit(
        node,
        prefix,
        {prefix + STATE_ANNOTATION: IN_MAINTENANCE, prefix + MESSAGE_ANNOTATION: message or None},
    )
    if found.state == IN_MAINTENANCE:
        return NodeDecision(SKIPPED, "already_in_maintenance", "", edit)
    return NodeDecision(DONE, "in_maintenance", "", edit)


def wait(node: Node, prefix: str, message: str) -> NodeDecision:
    """Says on a node that enters what it waits for; elsewhere nothing: this is no request."""
    found = read_maintenance(node, prefix)
    if not found.requested:
        return NodeDecision(SKIPPED, "not_requested")
    if found.state == IN_MAINTENANCE:
        return NodeDecision(SKIPPED, "already_in_maintenance")
    edit = _edit(node, prefix, {prefix + MESSAGE_ANNOTATION: message or None})
    return NodeDecision(SKIPPED if edit.empty else DONE, "waiting", "", edit)


def withdraw(node: Node, prefix: str) -> NodeDecision:
    """Takes the request away, and nothing else."""
    edit = _edit(node, prefix, {prefix + REQUEST_ANNOTATION: None})
    if edit.empty:
        return NodeDecision(SKIPPED, "not_in_maintenance")
    return NodeDecision(DONE, "withdrawn", "", edit)


def leave(node: Node, prefix: str) -> NodeDecision:
    """Removes all that maintenance wrote, and of the protections what is still as it was set."""
    found = read_maintenance(node, prefix)
    kept = []
    wanted: dict[str, Optional[str]] = {prefix + key: None for key in _OURS}
    for protection in found.record.protections if found.record else ():
        current = node.meta.annotations.get(protection.key)
        if current == protection.value:
            wanted[protection.key] = protection.found
        elif current is not None:
            kept.append(f"{protection.key} was changed to {current!r} meanwhile and stays.")
    edit = _edit(node, prefix, wanted)
    if edit.empty:
        return NodeDecision(SKIPPED, "not_in_maintenance")
    return NodeDecision(DONE, "left_maintenance", " ".join(kept), edit)


def _edit(node: Node, prefix: str, wanted: Mapping[str, Optional[str]]) -> NodeEdit:
    """The message is written over blindly; every other key must still be as it was decided from."""
    guarded = {prefix + REQUEST_ANNOTATION, prefix + STATE_ANNOTATION, prefix + RECORD_ANNOTATION}
    guarded |= set(wanted) - {prefix + MESSAGE_ANNOTATION}
    return NodeEdit(needed(node, wanted), guarded=tuple(sorted(guarded)))


def _protections(node: Node, record: Optional[Record], protect: bool) -> tuple[Protection, ...]:
    """Those recorded, and those still to be set. One recorded and then removed is not set again."""
    recorded = record.protections if record else ()
    if not protect:
        return recorded
    known = {protection.key for protection in recorded}
    return recorded + tuple(
        Protection(key, "true", node.meta.annotations.get(key))
        for key in PROTECTIONS
        if key not in known and node.meta.annotations.get(key) != "true"
    )


def _new(record: Optional[Record], protections: tuple[Protection, ...]) -> tuple[Protection, ...]:
    return protections[len(record.protections) if record else 0 :]


def _record(
    node: Node, found: Maintenance, request: Request, protections: tuple[Protection, ...]
) -> Record:
    """A request that goes on keeps its boot ID and start; one made anew has its own."""
    if found.record is not None and found.requested:
        return Record(found.record.boot_id, protections, found.record.run, found.record.since)
    return Record(node.boot_id, protections, request.run, request.since)


def _dump(record: Record) -> str:
    return json.dumps(
        {
            "bootID": record.boot_id,
            "protections": [
                {"key": protection.key, "set": protection.value, "found": protection.found}
                for protection in record.protections
            ],
            "run": record.run,
            "since": record.since,
        },
        separators=(",", ":"),
    )


def _parse_record(node: str, prefix: str, text: str) -> Record:
    try:
        raw = json.loads(text)
        return Record(
            boot_id=str(raw["bootID"]),
            protections=tuple(
                Protection(str(row["key"]), str(row["set"]), _optional_text(row["found"]))
                for row in raw["protections"]
            ),
            run=str(raw["run"]),
            since=str(raw["since"]),
        )
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        key = prefix + RECORD_ANNOTATION
        raise Refused(
            f"Node {node}",
            "malformed_record",
            f"its annotation {key} cannot be read: {text[:80]!r}.",
            f"Repair it, or remove it with `kubectl annotate node {node} {key}-` and then remove"
            f" {' and '.join(PROTECTIONS)} by hand where maintenance set them.",
        ) from error


def _optional_text(value: object) -> Optional[str]:
    return None if value is None else str(value)
