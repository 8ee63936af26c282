# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The consents of a drain, which `evict` asks for and `preflight` predicts by."""

from __future__ import annotations

from typing import Protocol

from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.consent import (
    Consent,
    parse_pod_selector,
)


class Consents(Protocol):
    """Options with the names of kubectl drain."""

    @property
    def pod_selector(self) -> str: ...

    @property
    def namespaces(self) -> tuple[str, ...]: ...

    @property
    def delete_emptydir_data(self) -> bool: ...

    @property
    def ignore_daemonsets(self) -> bool: ...

    @property
    def force(self) -> bool: ...

    @property
    def fragile(self) -> str: ...


def consent_of(options: Consents, prefix: str) -> Consent:
    """What policy/consent judges by. Raises InvalidOption for a selector it cannot read."""
    return Consent(
        delete_emptydir_data=options.delete_emptydir_data,
        ignore_daemonsets=options.ignore_daemonsets,
        force=options.force,
        pod_selector=parse_pod_selector(options.pod_selector),
        namespaces=options.namespaces,
        fragile=options.fragile,
        prefix=prefix,
    )
