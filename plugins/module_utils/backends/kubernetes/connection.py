# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How to reach a Kubernetes API: kubernetes.core's option names and its environment variables."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Mapping, Optional, Union

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import InvalidOption

# kubernetes.core reads K8S_AUTH_ + the name that the client library has for the option, then
# K8S_AUTH_ + the option's own name.
_LIBRARY_NAMES = {
    "validate_certs": "VERIFY_SSL",
    "ca_cert": "SSL_CA_CERT",
    "client_cert": "CERT_FILE",
    "client_key": "KEY_FILE",
}
_BOOLEANS = ("validate_certs", "persist_config")
_FALSE = ("0", "false", "no")
_PROXY_HEADERS = ("proxy_basic_auth", "basic_auth", "user_agent")


@dataclass(frozen=True)
class Connection:
    """None and "" mean: not given. `kubeconfig` is a path (several joined with ":") or its content.

    cluster: the name of the context or cluster that must be reached, or "": any. A run that would
    talk to another one is refused.
    """

    kubeconfig: Union[str, Mapping[str, Any], None] = None
    context: str = ""
    host: str = ""
    api_key: str = ""
    username: str = ""
    password: str = ""
    validate_certs: Optional[bool] = None
    ca_cert: str = ""
    client_cert: str = ""
    client_key: str = ""
    proxy: str = ""
    no_proxy: str = ""
    proxy_headers: Optional[Mapping[str, Any]] = None
    persist_config: Optional[bool] = None
    impersonate_user: str = ""
    impersonate_groups: tuple[str, ...] = ()
    cluster: str = ""

    def __repr__(self) -> str:
        """Names what is given without its value: some are secrets."""
        given = [item.name for item in fields(self) if getattr(self, item.name)]
        return f"Connection({', '.join(given)})"

    @property
    def complete(self) -> bool:
        """Server and credentials are given one by one: no kubeconfig is needed."""
        credentials = (
            self.api_key
            or (self.username and self.password)
            or (self.client_cert and self.client_key)
        )
        return bool(self.host and credentials)


def with_environment(given: Connection, environment: Mapping[str, str]) -> Connection:
    """Returns `given`, what it leaves open filled from K8S_AUTH_*.

    Raises InvalidOption when only half of a pair is there.
    """
    found: dict[str, Any] = {}
    for item in fields(given):
        if getattr(given, item.name) in (None, "", ()):
            value = _variable(item.name, environment)
            if value not in (None, ""):
                found[item.name] = value
    full = replace(given, **found)
    _check_pair(full, "client_cert", "client_key")
    _check_pair(full, "username", "password")
    return full


def _variable(option: str, environment: Mapping[str, str]) -> Any:
    if option == "cluster":  # Ours, not kubernetes.core's: a guard that is typed, never inherited.
        return None
    if option == "proxy_headers":
        return _proxy_headers(environment)
    names = (_LIBRARY_NAMES.get(option, option.upper()), option.upper())
    text = next(
        (environment[f"K8S_AUTH_{name}"] for name in names if environment.get(f"K8S_AUTH_{name}")),
        "",
    )
    if option in _BOOLEANS:
        return text.lower() not in _FALSE if text else None
    if option == "impersonate_groups":
        return tuple(group.strip() for group in text.split(",") if group.strip()) or None
    return text


def _proxy_headers(environment: Mapping[str, str]) -> Optional[dict[str, str]]:
    found = {
        name: environment[f"K8S_AUTH_PROXY_HEADERS_{name.upper()}"]
        for name in _PROXY_HEADERS
        if environment.get(f"K8S_AUTH_PROXY_HEADERS_{name.upper()}")
    }
    return found or None


def _check_pair(connection: Connection, first: str, second: str) -> None:
    for one, other in ((first, second), (second, first)):
        if getattr(connection, one) and not getattr(connection, other):
            raise InvalidOption(one, f"{other} is missing.", f"Give {one} and {other} together.")
