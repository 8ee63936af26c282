# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Credentials: the official client reads and renews them; here is when, and by whom.

The client's own renewal hook is not used: it takes a token for expired five minutes ahead, so that
with tokens of a minute it would run the exec plugin before every request. Here a source is read
again when a token is near its end (a fifth of its life, at most a minute), and when the server
answers 401: once per credential, whatever number of threads see the 401 at the same time.
"""

from __future__ import annotations

import os
import sys
import threading
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, Mapping, Optional, Protocol

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.kubernetes.connection import (
    Connection,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import (
    InvalidOption,
    MissingLibrary,
    Refused,
    Unauthorized,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.twin_protocol import (
    VIRTUAL_TIME,
)

# One for each thread of execution's worker pools, and the watches beside them.
POOL_SIZE = 32
_TOKEN_FILE = "/var/run/secrets/kubernetes.io/serviceaccount/token"
# The kubelet rotates the token file: the client reads it again every minute, and so do we.
_TOKEN_FILE_PERIOD = timedelta(minutes=1)
_MOST_LEEWAY = timedelta(minutes=1)


class WallClock(Protocol):
    def now(self) -> datetime:
        """Aware, UTC."""


@dataclass(frozen=True)
class Source:
    """What one reading of the credential source gave. `names`: the context's and the cluster's."""

    configuration: Any
    context: str
    names: tuple[str, ...]
    expires_at: Optional[datetime] = None
    virtual_time: bool = False


@dataclass(frozen=True)
class Access:
    """How to send a request now. `authorization` is the header's value, "" with certificates.

    `key` changes when the pool must: other certificates, another server, another proxy.
    virtual_time: the server is a twin whose clock the run has to follow.
    """

    server: str
    context: str
    authorization: str
    pool: Any
    key: tuple[Any, ...]
    renew_at: Optional[datetime]
    virtual_time: bool = False


class Credentials:
    """Thread-safe. Reads the source at once, so that a wrong option is found before anything."""

    def __init__(self, connection: Connection, clock: WallClock) -> None:
        _require_client()
        self._connection = connection
        self._clock = clock
        self._lock = threading.Lock()
        self._refused: Optional[Access] = None
        self._access = self._read(None)

    def current(self) -> Access:
        """The credential to use now; reads the source again when it is about to expire."""
        access = self._access
        if access.renew_at is None or self._clock.now() < access.renew_at:
            return access
        with self._lock:
            if self._access is access:
                self._access = self._read(access)
            return self._access

    def renew(self, refused: Access) -> Access:
        """The credential to use after the server refused this one with 401.

        Raises Unauthorized when the source has nothing newer.
        """
        with self._lock:
            if self._access is not refused:
                return self._access
            if self._refused is not refused:
                fresh = self._read(refused)
                if (fresh.authorization, fresh.key) != (refused.authorization, refused.key):
                    self._access = fresh
                    return fresh
                self._refused = refused
        raise Unauthorized(
            f"The API server {refused.server} does not accept the credentials of "
            f"{refused.context or 'the options given'} (401); read again, they are the same.",
            "Log in again, or correct the token, the certificate or the exec plugin of this user.",
            status=401,
            reason="Unauthorized",
        )

    def close(self) -> None:
        self._access.pool.clear()

    def _read(self, previous: Optional[Access]) -> Access:
        source = _load(self._connection, self._clock.now())
        _check_cluster(self._connection.cluster, source)
        configuration = source.configuration
        key = _pool_key(configuration)
        reuse = previous is not None and previous.key == key
        return Access(
            server=configuration.host.rstrip("/"),
            context=source.context,
            authorization=_authorization(configuration),
            pool=previous.pool if previous is not None and reuse else _pool(configuration),
            key=key,
            renew_at=_renewal(source.expires_at, self._clock.now()),
            virtual_time=source.virtual_time,
        )


def _require_client() -> None:
    """Raises MissingLibrary, naming the interpreter, when the client library cannot be imported."""
    try:
        import kubernetes  # noqa: F401
    except ImportError as error:
        raise MissingLibrary("kubernetes", sys.executable, str(error)) from error


def _load(connection: Connection, now: datetime) -> Source:
    """Options first, then KUBECONFIG, then the pod that we run in, then ~/.kube/config."""
    if connection.complete:
        source = Source(_blank(), "", ())
    elif connection.kubeconfig or connection.context or os.environ.get("KUBECONFIG"):
        source = _from_kubeconfig(connection)
    elif os.environ.get("KUBERNETES_SERVICE_HOST") and os.path.exists(_TOKEN_FILE):
        source = _from_pod(now)
    else:
        source = _from_kubeconfig(connection)
    _apply(connection, source.configuration)
    return source


def _blank() -> Any:
    from kubernetes.client import Configuration

    # Configuration() may copy a process-wide default that others have set; this never does.
    return type.__call__(Configuration)


def _from_pod(now: datetime) -> Source:
    from kubernetes.config import ConfigException, load_incluster_config

    configuration = _blank()
    try:
        load_incluster_config(client_configuration=configuration, try_refresh_token=False)
    except (ConfigException, OSError) as error:
        raise Unauthorized(
            f"The service account of this pod cannot be read: {str(error).rstrip('.')}.",
            "Set automountServiceAccountToken, or give kubeconfig or host with api_key.",
        ) from error
    return Source(configuration, "in-cluster", ("in-cluster",), now + _TOKEN_FILE_PERIOD)


def _from_kubeconfig(connection: Connection) -> Source:
    """Raises InvalidOption for a file or context that is not there, Unauthorized for a plugin."""
    from kubernetes.config import ConfigException
    from kubernetes.config.kube_config import KubeConfigLoader

    try:
        config, persist = _kubeconfig(connection)
        loader = KubeConfigLoader(
            config_dict=config,
            active_context=connection.context or None,
            config_base_path=None,
            config_persister=persist if connection.persist_config else None,
        )
        configuration = _blank()
        loader.load_and_set(configuration)
    except ConfigException as error:
        raise InvalidOption(
            "context" if connection.context else "kubeconfig",
            f"{str(error).rstrip('.')}.",
            "Give kubeconfig (or K8S_AUTH_KUBECONFIG, KUBECONFIG) and context, "
            "or host with api_key.",
        ) from error
    context = loader.current_context
    _check_plugin(config, context, configuration)
    cluster = str(context["context"]["cluster"])
    return Source(
        configuration,
        str(context["name"]),
        (str(context["name"]), cluster),
        _expiry(loader),
        _has_virtual_time(config, cluster),
    )


def _has_virtual_time(config: Any, cluster: str) -> bool:
    """A twin says so in the extensions of its cluster's entry, which other clients do not read."""
    from kubernetes.config.kube_config import ConfigNode

    root = config if isinstance(config, ConfigNode) else ConfigNode("kubeconfig", config)
    entry = root["clusters"].get_with_name(cluster)["cluster"]
    extensions = entry.safe_get("extensions") or ()
    return any(extension.get("name") == VIRTUAL_TIME for extension in extensions)


def _kubeconfig(connection: Connection) -> tuple[Any, Any]:
    """The merged kubeconfig, and what saves renewed tokens in it."""
    import yaml
    from kubernetes.config import ConfigException
    from kubernetes.config.kube_config import KubeConfigMerger

    if isinstance(connection.kubeconfig, Mapping):
        return dict(connection.kubeconfig), None
    paths = str(connection.kubeconfig or os.environ.get("KUBECONFIG") or "~/.kube/config")
    try:
        merger = KubeConfigMerger(paths)
    except (OSError, yaml.YAMLError) as error:
        raise ConfigException(f"{paths} cannot be read: {error}") from error
    if merger.config is None:
        raise ConfigException(f"there is no kubeconfig at {paths}")
    return merger.config, merger.save_changes


def _check_plugin(config: Any, context: Mapping[str, Any], configuration: Any) -> None:
    """The client only logs a failed exec plugin, and goes on as nobody: run it for its words."""
    from kubernetes.config import ConfigException
    from kubernetes.config.exec_provider import ExecProvider
    from kubernetes.config.kube_config import ConfigNode

    root = config if isinstance(config, ConfigNode) else ConfigNode("kubeconfig", config)
    name = context["context"].get("user")
    users = root["users"] if name and root.safe_get("users") else None
    entry = None if users is None else users.get_with_name(name, safe=True)
    if entry is None or not entry.safe_get("user") or "exec" not in entry["user"]:
        return
    if _authorization(configuration) or configuration.cert_file:
        return
    problem = "it gave neither a token nor a certificate"
    try:
        ExecProvider(entry["user"]["exec"], None).run()
    except (ConfigException, OSError) as error:
        problem = str(error)
    raise Unauthorized(
        f"The exec plugin of user {name} in the kubeconfig failed: {problem.rstrip('.')}.",
        "Run its command by hand, as this user and on this machine.",
    )


def _expiry(loader: Any) -> Optional[datetime]:
    expiry = getattr(loader, "expiry", None)
    if expiry is None:
        return None
    return expiry if expiry.tzinfo else expiry.replace(tzinfo=timezone.utc)


def _renewal(expires_at: Optional[datetime], now: datetime) -> Optional[datetime]:
    """Before the end, by a fifth of what is left, so that a token of a minute is used for 48 s."""
    if expires_at is None:
        return None
    return expires_at - min(_MOST_LEEWAY, max(timedelta(0), expires_at - now) / 5)


def _apply(connection: Connection, configuration: Any) -> None:
    """Options win over what the kubeconfig says."""
    from urllib3.util import make_headers

    renamed = (
        ("host", connection.host),
        ("ssl_ca_cert", connection.ca_cert),
        ("cert_file", connection.client_cert),
        ("key_file", connection.client_key),
        ("proxy", connection.proxy),
        ("no_proxy", connection.no_proxy),
    )
    for attribute, value in renamed:
        if value:
            setattr(configuration, attribute, value)
    if connection.validate_certs is not None:
        configuration.verify_ssl = connection.validate_certs
    if connection.api_key:
        configuration.api_key = {"authorization": f"Bearer {connection.api_key}"}
    elif connection.username:
        pair = f"{connection.username}:{connection.password}"
        configuration.api_key = {"authorization": make_headers(basic_auth=pair)["authorization"]}
    if connection.proxy_headers:
        configuration.proxy_headers = make_headers(**connection.proxy_headers)
    configuration.connection_pool_maxsize = POOL_SIZE


def _authorization(configuration: Any) -> str:
    """The client keeps it under "BearerToken" since version 36, under "authorization" before."""
    keys = configuration.api_key
    return str(keys.get("BearerToken") or keys.get("authorization") or "").strip()


def _pool_key(configuration: Any) -> tuple[Any, ...]:
    names = ("host", "verify_ssl", "ssl_ca_cert", "cert_file", "key_file", "proxy", "no_proxy")
    return tuple(getattr(configuration, name, None) for name in names)


def _pool(configuration: Any) -> Any:
    """The client's own pool manager: TLS, client certificates and proxies as it sets them up."""
    import urllib3
    from kubernetes.client import ApiClient

    if not configuration.verify_ssl:
        # The user has said so; a warning per connection would drown what matters.
        urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
    return ApiClient(configuration).rest_client.pool_manager


def _check_cluster(wanted: str, source: Source) -> None:
    if wanted and wanted not in source.names:
        found = " / ".join(source.names) or f"server {source.configuration.host}"
        raise Refused(
            f"Cluster {wanted}",
            "wrong_cluster",
            f"the connection leads to {found}.",
            "Choose the context that leads there, or correct the option cluster.",
        )
