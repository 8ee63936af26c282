# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""May an owner bring up replacements first, by a rollout restart, without a gap in between?"""

from __future__ import annotations

from typing import Iterable, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.budget import IntOrPercent
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.controller import (
    Autoscaler,
    Controller,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.reason import Reason

# What the API server fills in for a Deployment that does not say.
DEFAULT_BOUND: IntOrPercent = "25%"

_INSTEAD = "Use fragile: evict to let its pods go one at a time, or fragile: defer to leave them."


def surge_refusal(
    owner: str, controller: Optional[Controller], autoscalers: Iterable[Autoscaler]
) -> Optional[Reason]:
    """Returns why this owner cannot be surged, or None when a rollout restart leaves no gap.

    owner: how a person names it; controller: None where its kind is unknown, or nothing owns the
    pod.
    """
    if controller is None or controller.kind != "Deployment":
        what = owner or "A pod without a controller"
        return Reason(
            "surge_needs_deployment",
            f"{what} cannot bring up a replacement first: only a Deployment's rollout can.",
            _INSTEAD,
        )
    return _strategy_refusal(controller) or _autoscaler_refusal(controller, autoscalers)


def rolling_bounds(controller: Controller) -> tuple[int, int]:
    """Returns (surge, unavailable) in pods, as the deployment controller works them out.

    Of a percentage, surge is rounded up and unavailable down; where both come to 0 one pod may be
    unavailable, or the rollout would never move.
    """
    surge = _pods(controller.max_surge, controller.replicas, round_up=True)
    unavailable = _pods(controller.max_unavailable, controller.replicas, round_up=False)
    return (surge, unavailable) if surge or unavailable else (0, 1)


def _strategy_refusal(controller: Controller) -> Optional[Reason]:
    if controller.update_strategy != "RollingUpdate":
        return Reason(
            "surge_strategy",
            f"{controller.key} has update strategy {controller.update_strategy or 'none'}: its"
            " rollout stops the old pods first.",
            f"Set strategy.type: RollingUpdate. {_INSTEAD}",
        )
    if controller.paused:
        return Reason(
            "surge_paused",
            f"{controller.key} is paused: a restart would not roll out.",
            f"Resume its rollout. {_INSTEAD}",
        )
    if controller.replicas < 1:
        return Reason("surge_no_replicas", f"{controller.key} is scaled to 0.", _INSTEAD)
    return _bounds_refusal(controller)


def _bounds_refusal(controller: Controller) -> Optional[Reason]:
    surge, unavailable = rolling_bounds(controller)
    if surge > 0 and unavailable == 0:
        return None
    return Reason(
        "surge_gap",
        f"The rollout of {controller.key} may run {surge} pods above and {unavailable} below its"
        f" {controller.replicas}; without a gap it must start one above and go none below.",
        f"Set rollingUpdate maxSurge: 1 and maxUnavailable: 0. {_INSTEAD}",
    )


def _autoscaler_refusal(
    controller: Controller, autoscalers: Iterable[Autoscaler]
) -> Optional[Reason]:
    for autoscaler in autoscalers:
        wanted = max(autoscaler.current_replicas, autoscaler.desired_replicas)
        if autoscaler.target == controller.key and wanted >= autoscaler.max_replicas:
            return Reason(
                "surge_autoscaler_at_maximum",
                f"{controller.key} is driven by HorizontalPodAutoscaler {autoscaler.meta.key},"
                f" which is at its maximum of {autoscaler.max_replicas} replicas.",
                f"Raise maxReplicas, or wait for less load. {_INSTEAD}",
            )
    return None


def _pods(bound: Optional[IntOrPercent], replicas: int, *, round_up: bool) -> int:
    value = DEFAULT_BOUND if bound is None else bound
    if isinstance(value, int):
        return value
    hundredths = int(value.rstrip("%")) * replicas
    return -(-hundredths // 100) if round_up else hundredths // 100
