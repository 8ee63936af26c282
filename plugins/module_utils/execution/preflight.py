# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Reads the fleet and tells what a drain would meet. Writes nothing, asks no eviction on trial."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, Mapping, Optional, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.base import Cluster
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.consents import consent_of
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.run import Progress, Run
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.scheduling import (
    read_scheduling,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import (
    Forbidden,
    InvalidOption,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.fleet import Fleet
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import Node
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.report import Report
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.resources import (
    VALIDATING_WEBHOOKS,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.findings import (
    ERROR,
    LEVELS,
    WARNING,
    Finding,
    Findings,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.preflight import (
    PreflightQuestion,
    assess,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.consent import Consent
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.node_selection import (
    NodeSelection,
    check_selection,
    select,
)

NEVER_FAIL = "never"
FAIL_ON = (ERROR, WARNING, NEVER_FAIL)

_TOLD_PER_KIND = 10


@dataclass(frozen=True)
class PreflightOptions:
    """The consents as `evict` has them: preflight predicts what evict would do with them.

    selection None: the whole cluster, each node as if it were drained alone; otherwise the
    selected nodes together. fail_on: error, warning (fails on errors too) or never.
    """

    selection: Optional[NodeSelection] = None
    pod_selector: str = ""
    namespaces: tuple[str, ...] = ()
    delete_emptydir_data: bool = False
    ignore_daemonsets: bool = False
    force: bool = False
    fragile: str = "evict"
    allow_last: bool = False
    fail_on: str = ERROR


def preflight(options: PreflightOptions, cluster: Cluster, run: Run) -> Report:
    """Returns the findings, the forecast of every pod, the room elsewhere and counts, in `extra`.

    The report's failure is `findings` when there is one at the level of fail_on. Raises
    InvalidOption before anything is read, Refused when a node is unknown or none matches.
    """
    consent = _checked(options, run)
    found_there = read_scheduling(cluster)
    reading = found_there.reading
    run.check()
    batches = _batches(options.selection, reading.fleet)
    webhooks, problem = _read_webhooks(cluster)
    run.check()
    found = assess(
        reading.fleet,
        PreflightQuestion(
            batches=batches,
            now=run.clock.now(),
            facts=found_there.facts,
            facts_unread=found_there.unread,
            consent=consent,
            allow_last=options.allow_last,
            webhooks=webhooks,
            webhooks_problem=problem,
            unread=reading.unread,
        ),
    )
    for line in told(found.findings):
        run.progress(Progress("", line, urgent=True))
    return _report(found, options.fail_on)


def told(findings: Sequence[Finding]) -> list[str]:
    """Returns the findings as a person reads them: level, sentence, remedy.

    Of one kind so many, then how many more: a cluster of 5,000 pods without budgets is one news.
    """
    lines, kinds = [], Counter[tuple[str, str]]()
    for finding in findings:
        kinds[finding.level, finding.code] += 1
        if kinds[finding.level, finding.code] <= _TOLD_PER_KIND:
            lines.append(_line(finding))
    for (level, code), count in kinds.items():
        if count > _TOLD_PER_KIND:
            lines.append(f"{level:<7}  {count - _TOLD_PER_KIND} more of this kind ({code})")
    return lines


def _line(finding: Finding) -> str:
    """The subject comes first, unless the sentence names it anyway."""
    name = finding.subject.rpartition(" ")[2]
    subject = "" if name in finding.sentence else f"{finding.subject}: "
    return f"{finding.level:<7}  {subject}{finding.sentence} {finding.remedy}".rstrip()


def _checked(options: PreflightOptions, run: Run) -> Consent:
    if options.fail_on not in FAIL_ON:
        raise InvalidOption("fail_on", f"{options.fail_on!r} is none of {', '.join(FAIL_ON)}.")
    if options.selection is not None:
        check_selection(options.selection)
    return consent_of(options, run.prefix)


def _batches(selection: Optional[NodeSelection], fleet: Fleet) -> tuple[tuple[Node, ...], ...]:
    if selection is None:
        return tuple((node,) for node in fleet.nodes)
    return (select(selection, fleet),)


def _read_webhooks(cluster: Cluster) -> tuple[Optional[Sequence[Mapping[str, Any]]], str]:
    """None and why, when the user may not read them: the rest of a preflight is worth having."""
    try:
        return cluster.list(VALIDATING_WEBHOOKS).items, ""
    except Forbidden as refusal:
        return None, refusal.problem


def _report(found: Findings, fail_on: str) -> Report:
    failing = () if fail_on == NEVER_FAIL else found.at_least(fail_on)
    return Report(
        msg=_message(found),
        failure="findings" if failing else "",
        extra={
            "findings": [finding.document() for finding in found.findings],
            "pods": [pod.document() for pod in found.pods],
            "capacity": found.capacity_document(),
            "summary": found.summary(),
        },
    )


def _message(found: Findings) -> str:
    counts = found.summary()
    where = f"{_count(counts['pods'], 'pod')} on {_count(counts['nodes'], 'node')}"
    told = [_count(counts[level], level) for level in LEVELS if counts[level]]
    if not told:
        return f"Nothing stands in the way of draining {where}."
    first = found.findings[0]
    return f"{', '.join(told)} for {where}; the first: {first.sentence} {first.remedy}".strip()


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 or word == "info" else f"{number} {word}s"
