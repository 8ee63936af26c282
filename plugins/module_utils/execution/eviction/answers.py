# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What an answer of the API does to the pod that it is about.

Each kind of policy/eviction_answer has one row in HANDLERS. A handler returns True when the pod has
to be read before anything more can be said.
"""

from __future__ import annotations

from typing import Callable, Mapping

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.events import (
    Answered,
    Now,
    Read,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.leaver import (
    Hurdle,
    Leaver,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.ledger import (
    FIRST_PAUSE,
    LONGEST_PAUSE,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.state import (
    DrainState,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import Forbidden
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eviction_answer import (
    AnswerKind,
    EvictionVerdict,
    classify,
)

# Seconds between two tries where only somebody else's work can change the answer.
SLOW = 10.0
# Seconds for which a throttled call pauses when the server named none.
BREATHER = 1.0

# KubeVirt's webhook denies the eviction of a launcher pod and starts to migrate the machine.
_UNDER_WAY = ("evacuation in progress", "triggered evacuation")

Handler = Callable[[DrainState, Leaver, EvictionVerdict, Now], bool]


def answered(state: DrainState, leaver: Leaver, answer: Answered, now: Now) -> bool:
    """Applies the answer to an eviction or a deletion. Raises Forbidden where RBAC said no."""
    verdict = classify(answer)
    leaver.lost = False
    if verdict.kind is not AnswerKind.ACCEPTED:
        state.ledger.release(leaver.uid)
    return HANDLERS[verdict.kind](state, leaver, verdict, now)


def read(state: DrainState, leaver: Leaver, answer: Read, now: Now) -> bool:
    """Applies what was found under the pod's name: identity is the UID.

    True when it could not be read, and has to be again.
    """
    if answer.problem:
        hurdle = Hurdle("retrying", f"what became of it could not be read: {answer.problem}")
        return _later(state, leaver, hurdle, now)
    if answer.pod is None or answer.pod.meta.uid != leaver.uid:
        state.world.drop(leaver.pod)
        state.depart(leaver, now.mono)
        return False
    if answer.pod.terminating:
        leaver.pod = answer.pod
        if leaver.lost:
            state.accept(leaver, now.mono)
        else:
            leaver.leave(now.mono)
        return False
    # It was not carried out. Posting again is safe: the UID is its precondition.
    leaver.lost = False
    state.ledger.release(leaver.uid)
    _later(state, leaver, Hurdle("retrying", "its eviction was not carried out"), now)
    return False


def _accepted(state: DrainState, leaver: Leaver, _verdict: EvictionVerdict, now: Now) -> bool:
    state.accept(leaver, now.mono)
    return False


def _gone(state: DrainState, leaver: Leaver, _verdict: EvictionVerdict, now: Now) -> bool:
    """C14: deleted between the list and the eviction."""
    state.world.drop(leaver.pod)
    state.depart(leaver, now.mono)
    return False


def _read_it(_state: DrainState, _leaver: Leaver, _verdict: EvictionVerdict, _now: Now) -> bool:
    return True


def _budget(state: DrainState, leaver: Leaver, verdict: EvictionVerdict, now: Now) -> bool:
    """Its budgets close until the watch tells more; then the order decides anew who goes.

    Where what is known of the budgets would let it pass again at once (none is known, or the pod
    is not Ready), the pod itself pauses, twice as long each time.
    """
    budgets = state.budgets_of(leaver.pod)
    state.ledger.refused(budgets, leaver.seen, now.mono)
    if not budgets or not leaver.pod.ready:
        leaver.not_before = now.mono + min(LONGEST_PAUSE, FIRST_PAUSE * 2**leaver.denials)
        leaver.denials += 1
    detail = f"waits for PDB {verdict.name}: {verdict.text}"
    leaver.hold(Hurdle("budget_exhausted", detail), now.mono)
    return False


def _throttled(state: DrainState, leaver: Leaver, verdict: EvictionVerdict, now: Now) -> bool:
    """The server asks this user, not this pod, to slow down."""
    pause = max(BREATHER, verdict.retry_after or 0.0)
    state.paused_until = max(state.paused_until, now.mono + pause)
    leaver.hold(Hurdle("throttled", f"the API server asked for a pause of {pause:g} s"), now.mono)
    return False


def _webhook(state: DrainState, leaver: Leaver, verdict: EvictionVerdict, now: Now) -> bool:
    """A denial stands, unless its text says that the pod is on its way out by other means."""
    detail = f"admission webhook {verdict.name} denied it: {verdict.text}"
    if any(words in verdict.text.lower() for words in _UNDER_WAY):
        leaver.not_before = now.mono + SLOW
        leaver.hold(Hurdle("evacuating", detail), now.mono)
    else:
        remedy = "Ask whoever runs that webhook, or leave the pod out with pod_selector."
        state.fail(leaver, "webhook_denied", f"{detail.rstrip('.')}. {remedy}")
    return False


def _policy(state: DrainState, leaver: Leaver, verdict: EvictionVerdict, _now: Now) -> bool:
    detail = f"ValidatingAdmissionPolicy {verdict.name} denied it: {verdict.text}"
    state.fail(leaver, "policy_denied", detail)
    return False


def _namespace(_state: DrainState, leaver: Leaver, verdict: EvictionVerdict, now: Now) -> bool:
    leaver.not_before = now.mono + SLOW
    detail = f"its namespace {verdict.name} is being deleted, and its pods with it"
    leaver.hold(Hurdle("namespace_terminating", detail), now.mono)
    return False


def _forbidden(_state: DrainState, leaver: Leaver, verdict: EvictionVerdict, now: Now) -> bool:
    """No other pod would fare better: the call ends."""
    leaver.hold(Hurdle("forbidden", verdict.text), now.mono)
    verb, _unused, resource = (verdict.name or "create pods/eviction").partition(" ")
    raise Forbidden(
        f"This user may not {verb} {resource} in namespace {leaver.pod.meta.namespace}:"
        f" {verdict.text}",
        f'Grant {verb} on "{resource}".',
        verb=verb,
        resource=resource,
    )


def _retry(state: DrainState, leaver: Leaver, verdict: EvictionVerdict, now: Now) -> bool:
    hurdle = Hurdle("retrying", f"HTTP {verdict.status}: {verdict.text}")
    _later(state, leaver, hurdle, now, verdict.retry_after or 0.0)
    return False


def _several(state: DrainState, leaver: Leaver, verdict: EvictionVerdict, _now: Now) -> bool:
    """C07, where the budgets appeared only after the pod was judged."""
    keys = ", ".join(budget.key for budget in state.budgets_of(leaver.pod))
    detail = f"{verdict.text} ({keys}). Change their selectors so that one selects the pod."
    state.fail(leaver, "several_budgets", detail)
    return False


def _failed(state: DrainState, leaver: Leaver, verdict: EvictionVerdict, _now: Now) -> bool:
    state.fail(leaver, "api_failure", f"HTTP {verdict.status}: {verdict.text}")
    return False


def _later(
    state: DrainState, leaver: Leaver, hurdle: Hurdle, now: Now, at_least: float = 0.0
) -> bool:
    """Tries again later; after the last try the pod fails, and False is returned."""
    if leaver.retry_later(hurdle, now.mono, at_least):
        return True
    state.fail(leaver, "api_failure", f"given up after {leaver.tries} tries: {hurdle.detail}")
    return False


HANDLERS: Mapping[AnswerKind, Handler] = {
    AnswerKind.ACCEPTED: _accepted,
    AnswerKind.GONE: _gone,
    AnswerKind.REPLACED: _read_it,
    AnswerKind.BUDGET: _budget,
    AnswerKind.DISRUPTED_FULL: _budget,
    AnswerKind.SEVERAL_BUDGETS: _several,
    AnswerKind.THROTTLED: _throttled,
    AnswerKind.WEBHOOK: _webhook,
    AnswerKind.WEBHOOK_FAILED: _retry,
    AnswerKind.ADMISSION_POLICY: _policy,
    AnswerKind.NAMESPACE_TERMINATING: _namespace,
    AnswerKind.FORBIDDEN: _forbidden,
    AnswerKind.RETRY: _retry,
    AnswerKind.FAILED: _failed,
}
