# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Plans at random, of all that a document can hold."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from hypothesis import strategies as st

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.plan import document as d
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.plan import status
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.plan.money import exact
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.plan.settings import (
    AggressiveModeConfig,
)

NOW = datetime(2026, 12, 1, 12, 0, 0, tzinfo=timezone.utc)

texts = st.text(min_size=1, max_size=8)
counts = st.integers(0, 9)
prices = st.decimals(min_value=0, max_value=9, places=4).map(exact)
instants = st.integers(0, 10**6).map(lambda seconds: NOW + timedelta(seconds=seconds))


def lists(strategy):
    return st.lists(strategy, max_size=2).map(tuple)


totals = st.builds(d.Totals, counts, counts, counts, counts, counts, prices, prices, counts, counts)
diffs = st.builds(d.Diff, prices, prices, prices, prices)
nodes = st.builds(
    d.ConfigurationNode, texts, counts, counts, st.booleans(), st.none() | prices, st.none() | texts
)
attempts = st.builds(d.FailedAttempt, texts, texts)
failed = st.builds(d.FailedNode, texts, lists(attempts))
configurations = st.builds(
    d.Configurations,
    st.builds(d.Configuration, lists(nodes), totals, totals),
    st.builds(d.Configuration, lists(nodes), totals, totals, lists(failed)),
    diffs,
    st.none() | diffs,
    st.none() | st.builds(d.ConfigurationTotals, totals, totals),
    st.builds(d.Recommendations, st.booleans()),
)
steps = st.builds(
    d.Step,
    texts,
    texts,
    texts,
    texts,
    wave=st.integers(0, 9),
    state=st.sampled_from(d.STEP_STATES),
    forced=st.booleans(),
    intent_time=st.none() | instants,
    detail=st.just("") | texts,
)
plans = st.builds(
    d.Plan,
    id=texts,
    organization_id=texts,
    cluster_id=texts,
    status=st.sampled_from(status.STATUSES),
    create_time=instants,
    update_time=instants,
    kind=st.sampled_from(status.KINDS),
    aggressive_mode_config=st.builds(AggressiveModeConfig, st.booleans()),
    execute_time=st.none() | instants,
    errors=lists(st.builds(d.RebalancingError, st.sampled_from(status.ERROR_CODES), texts)),
    configurations=st.none() | configurations,
    rebalancing_nodes=lists(st.builds(d.RebalancingNode, texts)),
    execution_progress=st.none() | st.builds(d.ExecutionProgress, counts, counts),
    warnings=lists(st.builds(d.RebalancingWarning, texts)),
    skipped_reason=st.none() | st.sampled_from(status.SKIPPED_REASONS),
    steps=st.lists(steps, max_size=3, unique_by=lambda step: step.id).map(tuple),
    refusals=lists(st.builds(d.Refusal, texts, texts, texts, texts)),
    unpriced_nodes=counts,
)
