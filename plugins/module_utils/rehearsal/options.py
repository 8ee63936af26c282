# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What is to be rehearsed, and which of it is only waited for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Mapping, Optional, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.duration import parse_duration
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import InvalidOption
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.pace import parse_pace

_COLLECTION = "evenkeel.fleet."
# The playbooks that can be rehearsed, each with the variables that name task files of the user's.
# Such tasks act on the world, so a rehearsal waits for them instead.
HOOKS: Mapping[str, tuple[str, ...]] = {
    "maintenance_enter": (
        "maintenance_before_tasks",
        "maintenance_tasks",
        "maintenance_after_tasks",
    ),
    "maintenance_exit": (),
}
# Variables of a playbook that lead to a cluster: in a rehearsal there is only the twin.
CONNECTION = ("kubeconfig", "context", "cluster")


@dataclass(frozen=True)
class RehearsalOptions:
    """variables: the playbook's own. hook_durations: seconds or durations by hook.
    snapshot, spec: what the twin is made of; without either, of the live cluster. pace: how long
    pods take, in the form of twin/behaviour/pace."""

    playbook: str
    variables: Mapping[str, Any] = field(default_factory=dict)
    hook_durations: Mapping[str, Any] = field(default_factory=dict)
    seeds: Sequence[int] = (1, 2, 3)
    snapshot: str = ""
    spec: Optional[Mapping[str, Any]] = None
    pace: Mapping[str, Any] = field(default_factory=dict)
    fail_on: str = "failure"


@dataclass(frozen=True)
class Hook:
    """Waited for so many seconds wherever it would run. given: whether somebody said how many."""

    name: str
    seconds: float
    given: bool


def playbook_of(options: RehearsalOptions) -> str:
    """The name without that of the collection. Raises InvalidOption for one that is not known."""
    name = options.playbook
    short = name[len(_COLLECTION) :] if name.startswith(_COLLECTION) else name
    if short not in HOOKS:
        raise InvalidOption(
            "playbook",
            f"{name} cannot be rehearsed: only playbooks of which it is known that nothing in them"
            " touches anything but the cluster can.",
            f"Use one of {', '.join(HOOKS)}.",
        )
    return short


def hooks_of(options: RehearsalOptions) -> tuple[Hook, ...]:
    """Those of the playbook that have a duration, or were given as a variable.

    Raises InvalidOption for a duration that is none, or of a hook that the playbook has not.
    """
    known = HOOKS[playbook_of(options)]
    for name in options.hook_durations:
        if name not in known:
            raise InvalidOption(
                "hook_durations",
                f"{name} is no hook of {options.playbook}.",
                f"It has {', '.join(known)}." if known else "It has none.",
            )
    return tuple(
        Hook(name, _seconds(options.hook_durations, name), name in options.hook_durations)
        for name in known
        if name in options.hook_durations or options.variables.get(name)
    )


def variables_of(options: RehearsalOptions, files: Mapping[str, str], kubeconfig: str) -> Any:
    """What the inner run is given: the same variables, but the twin's kubeconfig, and for each hook
    the file that waits for it, or none."""
    hooks = HOOKS[playbook_of(options)]
    left_out = (*CONNECTION, *hooks)
    kept = {name: value for name, value in options.variables.items() if name not in left_out}
    return {**kept, **{name: files.get(name, "") for name in hooks}, "kubeconfig": kubeconfig}


def needs_cluster(options: RehearsalOptions) -> bool:
    """Whether the live cluster is to be copied. Raises as check() does: a wrong option is told
    before a connection is looked for."""
    check(options)
    return not options.snapshot and options.spec is None


def check(options: RehearsalOptions) -> None:
    """Raises InvalidOption for what can be seen to be wrong before anything is read."""
    hooks_of(options)
    if options.snapshot and options.spec is not None:
        raise InvalidOption("spec", "snapshot is given, too.", "Give one of them.")
    if not options.seeds:
        raise InvalidOption("seeds", "there is none.", "Give at least one number.")
    try:
        parse_pace(options.pace)
    except ValueError as error:
        raise InvalidOption("pace", str(error)) from error


def _seconds(durations: Mapping[str, Any], name: str) -> float:
    try:
        return parse_duration(durations.get(name, 0))
    except ValueError as error:
        raise InvalidOption(
            "hook_durations", f"{name}: {error}.", "Write 90, 20m or 1h."
        ) from error
