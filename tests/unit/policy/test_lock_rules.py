# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Rules: when a node's Lease may be taken. Cases C23, C29."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from typing import Optional

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.lease import Lease
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.lock_rules import (
    Claimant,
    Sighting,
    Step,
    decide,
    lease_name,
    sight,
)
from tests.unit.builders import metadata

PREFIX = "fleet.evenkeel.dev/"
NOW = datetime(2026, 11, 30, 22, 0, 0, tzinfo=timezone.utc)
ME = Claimant("me@host:1:1", "maintenance", "space", 30)


def lease(
    holder: str = "a@other:2:2",
    renewed: float = 5,
    purpose: str = "maintenance",
    duration: int = 30,
) -> Lease:
    """renewed: seconds before now."""
    return Lease(
        meta=metadata("Lease", "fleet-node-n1", annotations={PREFIX + "lock-purpose": purpose}),
        holder=holder,
        duration_seconds=duration,
        acquired_at=NOW - timedelta(hours=1),
        renewed_at=NOW - timedelta(seconds=renewed),
        transitions=4,
    )


@pytest.mark.parametrize(
    ("found", "unmoved", "dead", "expected"),
    [
        pytest.param(None, 0, False, Step.CREATE, id="there is none"),
        pytest.param(lease(holder=""), 0, False, Step.TAKE, id="it was freed"),
        pytest.param(lease(holder="me@host:1:1"), 0, False, Step.KEEP, id="it is ours already"),
        pytest.param(lease(), 0, False, Step.WAIT, id="C29 held for the same purpose: join"),
        pytest.param(
            lease(purpose="evict"), 0, False, Step.REFUSE, id="C29 held for another purpose: told"
        ),
        pytest.param(lease(), 0, True, Step.TAKE_OVER, id="its holder ran here and is gone"),
        pytest.param(
            lease(renewed=31), 0, False, Step.WAIT, id="expired by a clock that may be wrong"
        ),
        pytest.param(
            lease(renewed=31, purpose="evict"),
            0,
            False,
            Step.WAIT,
            id="expired, another purpose: watched before it is refused",
        ),
        pytest.param(
            lease(renewed=31), 9.9, False, Step.WAIT, id="expired, one more renewal may still come"
        ),
        pytest.param(
            lease(renewed=31),
            10,
            False,
            Step.TAKE_OVER,
            id="C23 expired and silent for a renewal interval",
        ),
        pytest.param(
            lease(renewed=-3600),
            29.9,
            False,
            Step.WAIT,
            id="its holder's clock is an hour ahead: not yet",
        ),
        pytest.param(
            lease(renewed=-3600),
            30,
            False,
            Step.TAKE_OVER,
            id="its holder's clock is an hour ahead: silent for the whole duration",
        ),
        pytest.param(
            lease(renewed=-3600, purpose="evict"),
            0,
            False,
            Step.WAIT,
            id="its holder's clock is an hour ahead, another purpose: watched first",
        ),
        pytest.param(
            lease(renewed=-5, purpose="evict"),
            0,
            False,
            Step.REFUSE,
            id="clocks that differ by seconds refuse at once",
        ),
        pytest.param(
            lease(renewed=31, duration=0), 10, False, Step.TAKE_OVER, id="one without a duration"
        ),
    ],
)
def test_what_to_do_about_a_lease(
    found: Optional[Lease], unmoved: float, dead: bool, expected: Step
) -> None:
    step = decide(
        found, ME, prefix=PREFIX, now=NOW, unmoved=unmoved, moved=False, holder_is_dead=dead
    )
    assert step is expected


@pytest.mark.parametrize(
    ("purpose", "expected"),
    [
        pytest.param("maintenance", Step.WAIT, id="the same purpose goes on waiting"),
        pytest.param("evict", Step.REFUSE, id="another purpose is told"),
    ],
)
@pytest.mark.parametrize("renewed", [31, 5, -3600], ids=["behind", "right", "ahead"])
def test_a_holder_that_is_seen_to_renew_lives_whatever_its_clock_says(
    renewed: float, purpose: str, expected: Step
) -> None:
    found = lease(renewed=renewed, purpose=purpose)
    step = decide(found, ME, prefix=PREFIX, now=NOW, unmoved=1, moved=True, holder_is_dead=False)
    assert step is expected


@given(
    renewed=st.floats(-7200, 7200),
    duration=st.integers(1, 120),
    unmoved=st.floats(0, 119),
    purpose=st.sampled_from(["maintenance", "evict"]),
)
def test_a_holder_that_may_be_alive_is_never_robbed_before_a_renewal_was_due(
    renewed: float, duration: int, unmoved: float, purpose: str
) -> None:
    found = lease(renewed=renewed, duration=duration, purpose=purpose)
    step = decide(
        found, ME, prefix=PREFIX, now=NOW, unmoved=unmoved, moved=False, holder_is_dead=False
    )
    if unmoved < min(ME.renew_interval, duration):
        assert step in (Step.WAIT, Step.REFUSE)


def test_a_sighting_lasts_until_the_lease_moves() -> None:
    first = sight(lease(), None, 100.0)
    assert first == Sighting("1", 100.0)
    assert sight(lease(), first, 107.0) == first
    assert sight(lease(), Sighting("0", 100.0), 107.0) == Sighting("1", 107.0, moved=True)


def test_the_claim_ends_for_us_before_it_ends_for_others() -> None:
    assert ME.renew_interval < ME.validity < ME.ttl


_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\Z")


@given(st.from_regex(_SUBDOMAIN, fullmatch=True).filter(lambda name: len(name) <= 253))
def test_a_lease_name_is_valid_for_every_node_name(node: str) -> None:
    assert _SUBDOMAIN.match(lease_name(node))
    assert len(lease_name(node)) <= 253


@pytest.mark.parametrize("cut_at", ["." * 0, ".", "-"])
def test_long_names_are_cut_to_valid_and_distinct_ones(cut_at: str) -> None:
    stem = "a" * (229 - len(cut_at)) + cut_at
    one, other = lease_name(f"{stem}{'b' * 20}"), lease_name(f"{stem}{'b' * 19}c")
    assert one != other
    assert all(_SUBDOMAIN.match(name) and len(name) <= 253 for name in (one, other))


def test_a_usual_name_is_kept() -> None:
    assert lease_name("worker-2.example.org") == "fleet-node-worker-2.example.org"
