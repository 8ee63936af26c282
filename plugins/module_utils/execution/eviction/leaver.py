# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""One pod that is to leave, from the verdict to the outcome."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.pod import Pod
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.report import Outcome

# Six tries, 1 + 2 + 4 + 8 + 16 seconds apart, span the restart of an API server or a webhook.
TRIES = 6
FIRST_DELAY = 1.0
# Seconds for which what can never pass is still waited for once something has moved: a pod left, or
# it could pass a moment ago. Some budgets are opened by an operator when the last of the pods that
# they stand for is gone (C12); an owner that was scaled down deletes its pods a little later.
LAST_CHANCE = 10.0


class Stage(Enum):
    """WAITING -> POSTED -> LEAVING -> SETTLED; the others are detours.

    WAITING   nothing is on its way: not tried yet, refused for now, or held
    POSTED    an eviction (or a deletion) is in flight
    READING   a lost answer or a conflict is being cleared up by reading the pod
    LEAVING   it terminates: its eviction was accepted, or somebody else deleted it
    ROLLING   the rollout of its owner replaces it
    SETTLED   `outcome` says what became of it
    """

    WAITING = "waiting"
    POSTED = "posted"
    READING = "reading"
    LEAVING = "leaving"
    ROLLING = "rolling"
    SETTLED = "settled"


@dataclass(frozen=True)
class Hurdle:
    """Why a pod does not leave right now: a code of model.codes and a sentence.

    for_good: nothing that the cluster does by itself is expected to change it.
    """

    code: str
    detail: str
    for_good: bool = False


@dataclass
class Leaver:
    """`pod` is its newest state; `hurdle` is the last refusal or the reason for holding it.

    fragile: its leaving takes away something that no budget guards.
    owner: whom one-at-a-time counts by, "Deployment shop/web"; "" when it has none.
    rolled: a rollout of its owner was started to replace it.
    accepted: the API took our eviction or deletion. lost: an answer to it never came.
    vanished: the watch showed that it is gone.
    not_before: Clock.monotonic() before which it is not tried again; tries: how often that was.
    denials: refusals by budgets that nothing explained, in a row.
    refusal: what stands against its eviction since it was judged again.
    seen: the ledger's count of budget events when it was posted.
    waiting_since: Clock.monotonic() when it began to wait for what it waits for.
    chance_until: Clock.monotonic() before which a hurdle that is for good fails nothing yet.
    bucket: the report's list that `outcome` belongs to.
    """

    pod: Pod
    fragile: bool = False
    owner: str = ""
    stage: Stage = Stage.WAITING
    rolled: bool = False
    accepted: bool = False
    lost: bool = False
    vanished: bool = False
    not_before: float = 0.0
    tries: int = 0
    denials: int = 0
    seen: int = 0
    waiting_since: float = 0.0
    chance_until: float = 0.0
    hurdle: Optional[Hurdle] = None
    refusal: Optional[Hurdle] = None
    bucket: str = ""
    outcome: Optional[Outcome] = None

    @property
    def uid(self) -> str:
        return self.pod.meta.uid

    @property
    def node(self) -> str:
        return self.pod.node

    @property
    def place(self) -> tuple[str, str]:
        """Where pods of its kind come back to: its node, and its owner or its own name."""
        return self.node, self.owner or self.pod.key

    @property
    def settled(self) -> bool:
        return self.stage is Stage.SETTLED

    @property
    def on_its_way(self) -> bool:
        """Its room is as good as given up: it counts against max_parallel and its owner's turn."""
        return self.stage in (Stage.POSTED, Stage.READING, Stage.LEAVING)

    def settle(self, bucket: str, action: str, code: str, detail: str = "") -> None:
        self.stage = Stage.SETTLED
        self.bucket = bucket
        self.outcome = Outcome(self.pod.key, self.node, action, code, detail)

    def leave(self, now: float) -> None:
        """It terminates from here on."""
        self.stage = Stage.LEAVING
        self.waiting_since = now

    def hold(self, hurdle: Hurdle, now: float) -> None:
        """Back to waiting, with the reason; the wait began with the first hold of this kind."""
        if self.hurdle is None or self.hurdle.code != hurdle.code:
            self.waiting_since = now
        if hurdle.for_good and self.hurdle is not None and not self.hurdle.for_good:
            self.chance_until = now + LAST_CHANCE
        self.hurdle = hurdle
        self.stage = Stage.WAITING

    def retry_later(self, hurdle: Hurdle, now: float, at_least: float = 0.0) -> bool:
        """Holds with a growing delay; False, and nothing held, once its tries are used up."""
        self.tries += 1
        if self.tries >= TRIES:
            return False
        delay = FIRST_DELAY * 2 ** (self.tries - 1)
        self.not_before = now + max(delay, at_least)
        self.hold(hurdle, now)
        return True
