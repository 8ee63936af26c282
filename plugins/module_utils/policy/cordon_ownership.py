# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Who holds a node closed. It may be cordoned for several owners, and opens when the last leaves.

The owners stand in one annotation, oldest first. A cordon that nobody signed belongs to
`someone-else`: an admin's `kubectl cordon`, another tool. It is written down beside the claim that
joins it, and stays when that one leaves (C19, C20).

Drift (C25): somebody opened a node that an owner still holds. That was a decision, so nothing
closes the node again for the same owner: `claim` refuses with the code `drifted` and writes
nothing, and a drain does not start on a node that new pods go on landing on. Two ways out, both the
user's: close the node by hand (`kubectl cordon`), after which the claim holds as before; or give
the claim up (`state: uncordoned`, which leaves the node open and forgets the claim) and ask anew.
Another owner's first claim is a new wish, not a fight: it closes the node.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Optional

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

MAINTENANCE = "maintenance"
SOMEONE_ELSE = "someone-else"
OWNERS_ANNOTATION = "cordon-owners"
MARK_ANNOTATION = "maintenance-cordoned"


@dataclass(frozen=True)
class Claim:
    """`since` is RFC 3339, or empty where it is not known."""

    owner: str
    reason: str = ""
    since: str = ""


@dataclass(frozen=True)
class Cordon:
    """closed: spec.unschedulable. claims: oldest first, one per owner.

    marked: the owner `maintenance` itself closed the node.
    """

    closed: bool = False
    claims: tuple[Claim, ...] = ()
    marked: bool = False

    @property
    def owners(self) -> tuple[str, ...]:
        return tuple(claim.owner for claim in self.claims)

    @property
    def drifted(self) -> bool:
        """Open, though an owner holds it closed."""
        return bool(self.claims) and not self.closed


@dataclass(frozen=True)
class Ruling:
    """`after` is the cordon that the rule wants; equal to what was found when nothing is to do."""

    result: str
    code: str
    detail: str
    after: Cordon


def read_cordon(node: Node, prefix: str) -> Cordon:
    """Returns who holds the node, as its annotations and spec.unschedulable say.

    A closed node with maintenance's mark and no list of owners was closed by another program that
    keeps these annotations; its owner is maintenance. A closed node that nobody signed belongs to
    someone else. Raises Refused (malformed_owners) when the annotation cannot be read.
    """
    annotations = node.meta.annotations
    marked = annotations.get(prefix + MARK_ANNOTATION) == "true"
    text = annotations.get(prefix + OWNERS_ANNOTATION)
    claims = () if text is None else _parse_claims(node.name, prefix, text)
    if node.unschedulable and not claims:
        claims = (Claim(MAINTENANCE if marked else SOMEONE_ELSE),)
    if not node.unschedulable:
        # Whoever closed it without signing has opened it again: that claim is settled.
        claims = tuple(claim for claim in claims if claim.owner != SOMEONE_ELSE)
    return Cordon(node.unschedulable, claims, marked)


def claim(found: Cordon, wish: Claim) -> Ruling:
    """Rules on closing a node for an owner."""
    mine = next((held for held in found.claims if held.owner == wish.owner), None)
    if mine is None:
        return _first_claim(found, wish)
    if not found.closed:
        return Ruling(
            FAILED,
            "drifted",
            f"Somebody uncordoned it while {wish.owner} holds it; it was not closed again. Close"
            " it with `kubectl cordon` to go on, or give the claim up (state: uncordoned) and ask"
            " anew.",
            found,
        )
    if wish.reason and wish.reason != mine.reason:
        renewed = Claim(mine.owner, wish.reason, mine.since)
        claims = tuple(renewed if held is mine else held for held in found.claims)
        after = Cordon(True, claims, found.marked)
        return Ruling(SKIPPED, "already_cordoned", _held_by(claims), after)
    return Ruling(SKIPPED, "already_cordoned", _held_by(found.claims), found)


def _first_claim(found: Cordon, wish: Claim) -> Ruling:
    claims = (*found.claims, wish)
    if found.closed:
        # A mark without a claim of maintenance is a leftover: it tells of an earlier cordon.
        marked = found.marked and MAINTENANCE in found.owners
        after = Cordon(True, claims, marked)
        return Ruling(SKIPPED, "already_cordoned", _held_by(found.claims), after)
    return Ruling(DONE, "cordoned", "", Cordon(True, claims, wish.owner == MAINTENANCE))


def release(found: Cordon, owner: str) -> Ruling:
    """Rules on an owner's leaving: the node opens when no claim is left."""
    left = tuple(held for held in found.claims if held.owner != owner)
    if left == found.claims:
        return _nothing_to_release(found, owner)
    marked = found.marked and owner != MAINTENANCE
    if not found.closed:
        detail = f"{owner} gave up its claim; somebody had opened the node before."
        return Ruling(SKIPPED, "already_uncordoned", detail, Cordon(False, left, marked))
    if left:
        after = Cordon(True, left, marked)
        return Ruling(SKIPPED, "held_by_others", f"It stays closed. {_held_by(left)}", after)
    return Ruling(DONE, "uncordoned", "", Cordon())


def _nothing_to_release(found: Cordon, owner: str) -> Ruling:
    if not found.claims:
        # A mark without a claim on an open node is what a foreign opener left behind.
        after = Cordon(False, (), found.marked and owner != MAINTENANCE)
        return Ruling(SKIPPED, "already_uncordoned", "", after)
    detail = f"{owner} does not hold it. {_held_by(found.claims)}"
    return Ruling(SKIPPED, "not_owner", detail, found)


def release_all(found: Cordon) -> Ruling:
    """Rules on opening a node whoever holds it."""
    if found.closed:
        return Ruling(DONE, "uncordoned", f"Dropped: {_held_by(found.claims)}", Cordon())
    return Ruling(SKIPPED, "already_uncordoned", "", Cordon())


def decide(node: Node, prefix: str, found: Cordon, ruling: Ruling) -> NodeDecision:
    """Returns the ruling as a decision, with the edit that makes it true on the node."""
    return NodeDecision(
        ruling.result, ruling.code, ruling.detail, _edit(node, prefix, found, ruling.after)
    )


def _edit(node: Node, prefix: str, found: Cordon, after: Cordon) -> NodeEdit:
    keys = (prefix + OWNERS_ANNOTATION, prefix + MARK_ANNOTATION)
    if after == found:
        # Nothing to do, and a list that only reads differently is left as somebody wrote it.
        return NodeEdit(guarded=keys, guards_unschedulable=True)
    wanted = (_dump_claims(after), "true" if after.marked else None)
    return NodeEdit(
        annotations=needed(node, dict(zip(keys, wanted))),
        unschedulable=after.closed if after.closed != found.closed else None,
        guarded=keys,
        guards_unschedulable=True,
    )


def _dump_claims(cordon: Cordon) -> Optional[str]:
    """None when only someone else is left: the node is then as it was found."""
    if not set(cordon.owners) - {SOMEONE_ELSE}:
        return None
    rows = [
        {"owner": held.owner, "reason": held.reason, "since": held.since} for held in cordon.claims
    ]
    return json.dumps(rows, separators=(",", ":"))


def _parse_claims(node: str, prefix: str, text: str) -> tuple[Claim, ...]:
    try:
        rows = json.loads(text)
        return tuple(
            Claim(_text(row["owner"]), _text(row.get("reason", "")), _text(row.get("since", "")))
            for row in rows
        )
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        key = prefix + OWNERS_ANNOTATION
        raise Refused(
            f"Node {node}",
            "malformed_owners",
            f"its annotation {key} is not a list of owners: {text[:80]!r}.",
            f"Repair it, or remove it with `kubectl annotate node {node} {key}-`; a closed node"
            " then belongs to someone else.",
        ) from error


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _held_by(claims: tuple[Claim, ...]) -> str:
    """Held by admin-team (disk swap) since 2026-11-30T22:00:00Z, someone-else."""
    return f"Held by {', '.join(_claim_words(held) for held in claims)}."


def _claim_words(held: Claim) -> str:
    reason = f" ({held.reason})" if held.reason else ""
    since = f" since {held.since}" if held.since else ""
    return f"{held.owner}{reason}{since}"
