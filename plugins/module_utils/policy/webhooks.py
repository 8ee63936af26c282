# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Which admission webhooks the API server asks about an eviction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterable, Mapping

# Of "*/*" and its kin: a bare "*" means resources without their subresources.
_RESOURCES = ("pods/eviction", "pods/*", "*/eviction", "*/*")
_KUBEVIRT = "virt-launcher-eviction-interceptor.kubevirt.io"


@dataclass(frozen=True)
class EvictionWebhook:
    """name: of the webhook. configuration: of the object that holds it. fails_closed: an eviction
    is refused while the webhook does not answer (failurePolicy Fail, the default)."""

    name: str
    configuration: str
    fails_closed: bool

    @property
    def is_kubevirts(self) -> bool:
        return self.name == _KUBEVIRT


def eviction_webhooks(configurations: Iterable[Mapping[str, Any]]) -> tuple[EvictionWebhook, ...]:
    """Returns, by name, the webhooks of raw ValidatingWebhookConfigurations that see evictions."""
    found = [
        EvictionWebhook(
            name=webhook.get("name", ""),
            configuration=(configuration.get("metadata") or {}).get("name", ""),
            fails_closed=webhook.get("failurePolicy", "Fail") == "Fail",
        )
        for configuration in configurations
        for webhook in configuration.get("webhooks") or ()
        if any(_sees_evictions(rule) for rule in webhook.get("rules") or ())
    ]
    return tuple(sorted(found, key=lambda one: (one.name, one.configuration)))


def _sees_evictions(rule: Mapping[str, Any]) -> bool:
    """An eviction is a create of pods/eviction, a namespaced subresource of the core group's v1."""
    return (
        _has(rule, "apiGroups", "")
        and _has(rule, "apiVersions", "v1")
        and _has(rule, "operations", "CREATE")
        and rule.get("scope", "*") in ("*", "Namespaced")
        and any(resource in _RESOURCES for resource in rule.get("resources") or ())
    )


def _has(rule: Mapping[str, Any], key: str, value: str) -> bool:
    values = rule.get(key) or ()
    return value in values or "*" in values
