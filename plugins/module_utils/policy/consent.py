# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a drain may touch: each pod is judged by an ordered tuple of rules.

The options have kubectl's names, and the rules its order: a rule that settles a pod (it is out of
scope, it goes by itself, it is not a pod to evict at all) comes before those that ask for consent,
and those that ask for consent are all heard, so that a user learns of every missing one at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Iterable, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import InvalidOption
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.fleet import Fleet
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.pod import Pod
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.selector import (
    InvalidSelector,
    LabelSelector,
    parse_selector_text,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.fragility import (
    FRAGILE_CODES,
    fragile_reasons,
    owner_key,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.reason import Reason
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.surge import surge_refusal

# Decisions, from the mildest to the strictest: where several rules speak, the strictest holds.
EVICT = "evict"
AWAIT = "await"
LEAVE = "leave"
REFUSE = "refuse"
DECISIONS = (EVICT, AWAIT, LEAVE, REFUSE)

FRAGILE_EVICT = "evict"
FRAGILE_DEFER = "defer"
FRAGILE_REFUSE = "refuse"
FRAGILE_SURGE = "surge"
FRAGILE_POLICIES = (FRAGILE_EVICT, FRAGILE_DEFER, FRAGILE_REFUSE, FRAGILE_SURGE)

KUBEVIRT_LABEL = "kubevirt.io"


@dataclass(frozen=True)
class Consent:
    """What the user allows, and which pods are meant at all.

    pod_selector None and namespaces () mean every pod.
    fragile: evict (one at a time per owner), defer (leave and list), refuse, or surge (bring up a
    replacement first). prefix: of our annotations, as Run.prefix.
    """

    delete_emptydir_data: bool = False
    ignore_daemonsets: bool = False
    force: bool = False
    pod_selector: Optional[LabelSelector] = None
    namespaces: tuple[str, ...] = ()
    fragile: str = FRAGILE_EVICT
    prefix: str = "fleet.evenkeel.dev/"


@dataclass(frozen=True)
class Verdict:
    """One pod's judgement.

    decision: evict; await (it is going already: wait for its UID, C01); leave; refuse (nothing may
    be written while one pod is refused). decisive: the reasons that led to it. further: all others
    that apply, such as what a consent overrode.
    """

    pod: Pod
    decision: str
    decisive: tuple[Reason, ...] = ()
    further: tuple[Reason, ...] = ()

    @property
    def reasons(self) -> tuple[Reason, ...]:
        return self.decisive + self.further

    @property
    def code(self) -> str:
        """The code of the first reason, "" when the pod is unremarkable."""
        return self.reasons[0].code if self.reasons else ""

    @property
    def detail(self) -> str:
        """Sentences and remedies of what decided, or all where nothing had to be decided.

        A remedy for what refuses nothing would hide the one that helps.
        """
        return " ".join(str(reason) for reason in self.decisive or self.reasons)

    @property
    def fragile(self) -> bool:
        """Its eviction is paced: one at a time per owner."""
        return any(reason.code in FRAGILE_CODES for reason in self.reasons)


@dataclass(frozen=True)
class Case:
    """What every rule is given."""

    pod: Pod
    fleet: Fleet
    consent: Consent


@dataclass(frozen=True)
class Ruling:
    """One rule's word on a pod. `final`: no later rule is asked."""

    decision: str
    reasons: tuple[Reason, ...]
    final: bool = False


Rule = Callable[[Case], Optional[Ruling]]


def parse_pod_selector(text: str) -> Optional[LabelSelector]:
    """Returns the selector of the option `pod_selector`, None for "": every pod is meant.

    Raises InvalidOption.
    """
    try:
        return parse_selector_text(text) if text else None
    except InvalidSelector as problem:
        raise InvalidOption(
            "pod_selector", f"{problem}.", "kubectl's form is a=b,c in (d,e),!f."
        ) from problem


def judge(pod: Pod, fleet: Fleet, consent: Consent) -> Verdict:
    """Returns the verdict on one pod; `fleet` gives its owner, siblings and budgets."""
    case = Case(pod, fleet, consent)
    rulings: list[Ruling] = []
    for rule in RULES:
        ruling = rule(case)
        if ruling is not None:
            rulings.append(ruling)
            if ruling.final:
                break
    return _combined(pod, rulings)


def _combined(pod: Pod, rulings: list[Ruling]) -> Verdict:
    decisions = [EVICT] + [ruling.decision for ruling in rulings]
    decision = max(decisions, key=DECISIONS.index)
    return Verdict(
        pod,
        decision,
        decisive=_reasons(ruling for ruling in rulings if ruling.decision == decision),
        further=_reasons(ruling for ruling in rulings if ruling.decision != decision),
    )


def _reasons(rulings: Iterable[Ruling]) -> tuple[Reason, ...]:
    return tuple(reason for ruling in rulings for reason in ruling.reasons)


def _settled(decision: str, code: str, sentence: str, remedy: str = "") -> Ruling:
    return Ruling(decision, (Reason(code, sentence, remedy),), final=True)


def _needs(consented: bool, code: str, sentence: str, remedy: str) -> Ruling:
    """A ruling that one consent turns from refuse to evict; the reason stays in the verdict."""
    if consented:
        return Ruling(EVICT, (Reason(code, sentence),))
    return Ruling(REFUSE, (Reason(code, sentence, remedy),))


def _out_of_scope(case: Case) -> Optional[Ruling]:
    """Pods that the user did not mean."""
    pod, consent = case.pod, case.consent
    if consent.namespaces and pod.meta.namespace not in consent.namespaces:
        named = ", ".join(consent.namespaces)
        return _settled(LEAVE, "out_of_scope", f"{pod.key} is not in namespaces {named}.")
    if consent.pod_selector is not None and not consent.pod_selector.matches(pod.meta.labels):
        return _settled(
            LEAVE, "out_of_scope", f"{pod.key} does not match pod_selector {consent.pod_selector}."
        )
    return None


def _mirror(case: Case) -> Optional[Ruling]:
    """C05. The API server holds only a copy: the kubelet runs the pod from a file."""
    pod = case.pod
    if not pod.is_mirror:
        return None
    return _settled(LEAVE, "mirror_pod", f"{pod.key} is a static pod: its kubelet runs it.")


def _daemon(case: Case) -> Optional[Ruling]:
    """C05. Its DaemonSet ignores the cordon and would bring it back at once."""
    pod = case.pod
    if not pod.is_daemon or pod.finished or not _owner_exists(pod, case.fleet):
        return None
    sentence = (
        f"{pod.key} is managed by {owner_key(pod, case.fleet)}, which would recreate it at once."
    )
    if case.consent.ignore_daemonsets:
        return _settled(LEAVE, "daemonset_pod", sentence)
    return _settled(
        REFUSE,
        "daemonset_pod",
        sentence,
        "Set ignore_daemonsets: true to leave DaemonSet pods where they are.",
    )


def _terminating(case: Case) -> Optional[Ruling]:
    """C01. A second request would only spend the budget once more."""
    pod = case.pod
    if not pod.terminating:
        return None
    return _settled(AWAIT, "terminating", f"{pod.key} is terminating already.")


def _finished(case: Case) -> Optional[Ruling]:
    """C04. Nothing runs in it and no data is in use: never a reason to stop."""
    pod = case.pod
    if not pod.finished:
        return None
    return _settled(EVICT, "finished", f"{pod.key} has finished ({pod.phase}).")


def _machine(case: Case) -> Optional[Ruling]:
    """A guest is behind these pods: they leave by migration, never by eviction as pods."""
    pod = case.pod
    role = pod.meta.labels.get(KUBEVIRT_LABEL, "")
    if role == "virt-launcher":
        return _settled(
            REFUSE,
            "machine_pod",
            f"{pod.key} runs a virtual machine of KubeVirt: evicting the pod may stop the guest.",
            "Migrate or stop the machine first, or leave it out with pod_selector:"
            " kubevirt.io!=virt-launcher.",
        )
    if role == "hotplug-disk":
        return _settled(
            REFUSE,
            "hotplug_pod",
            f"{pod.key} holds a hot-plugged disk of a KubeVirt machine, and moves with it.",
            "Migrate or stop the machine first, or leave it out with pod_selector:"
            " kubevirt.io!=hotplug-disk.",
        )
    return None


def _unmanaged(case: Case) -> Optional[Ruling]:
    """C06. No controller reference, or (as kubectl has it) a DaemonSet that is gone.

    A controller of a kind that is not known here counts as a controller.
    """
    pod = case.pod
    if pod.is_daemon and not _owner_exists(pod, case.fleet):
        sentence = f"{pod.key} belongs to {owner_key(pod, case.fleet)}, which does not exist."
        code = "daemonset_gone"
    elif pod.meta.owner is None:
        sentence = f"{pod.key} has no controller: nothing recreates it."
        code = "unmanaged"
    else:
        return None
    return _needs(case.consent.force, code, sentence, "Set force: true to evict it for good.")


def _empty_dir(case: Case) -> Optional[Ruling]:
    """C05, C06. The data in an emptyDir goes with the pod."""
    pod = case.pod
    if not pod.has_empty_dir:
        return None
    return _needs(
        case.consent.delete_emptydir_data,
        "empty_dir",
        f"{pod.key} has an emptyDir volume, whose data is lost with the pod.",
        "Set delete_emptydir_data: true to accept that.",
    )


def _fragile(case: Case) -> Optional[Ruling]:
    """C34, C35. What the policy makes of pods whose absence hurts."""
    pod, consent = case.pod, case.consent
    reasons = fragile_reasons(pod, case.fleet, consent.prefix)
    if not reasons:
        return None
    if consent.fragile == FRAGILE_SURGE:
        refusal = surge_refusal(
            owner_key(pod, case.fleet), case.fleet.controller_of(pod), case.fleet.autoscalers
        )
        return Ruling(EVICT, reasons) if refusal is None else Ruling(REFUSE, (refusal, *reasons))
    decisions = {FRAGILE_EVICT: EVICT, FRAGILE_DEFER: LEAVE, FRAGILE_REFUSE: REFUSE}
    return Ruling(decisions[consent.fragile], reasons)


def _owner_exists(pod: Pod, fleet: Fleet) -> bool:
    owner = pod.meta.owner
    return owner is not None and owner.uid in fleet.controller_by_uid


# The order matters. Scope first: a pod that is not meant is never a reason to refuse. DaemonSet
# before terminating, as kubectl: their pods are not waited for. Terminating and finished before
# the consents: such a pod loses nothing more. Machines before the consents: no consent of a pod's
# makes their eviction right.
RULES: tuple[Rule, ...] = (
    _out_of_scope,
    _mirror,
    _daemon,
    _terminating,
    _finished,
    _machine,
    _unmanaged,
    _empty_dir,
    _fragile,
)
