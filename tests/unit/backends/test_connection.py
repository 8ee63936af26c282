# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Where the connection's options come from, and when credentials are read again."""

from __future__ import annotations

import json
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.kubernetes.auth import (
    Credentials,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.kubernetes.connection import (
    Connection,
    with_environment,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import (
    FleetError,
    InvalidOption,
    Refused,
    Unauthorized,
)

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=timezone.utc)

# Counts its runs in the file of its first argument; its token is that number.
PLUGIN = """
import json, sys
with open(sys.argv[1], "a") as log: log.write("x")
number = len(open(sys.argv[1]).read())
status = {"token": f"token-{number}", "expirationTimestamp": sys.argv[2]}
print(json.dumps({"apiVersion": sys.argv[3], "kind": "ExecCredential", "status": status}))
"""
VERSION = "client.authentication.k8s.io/v1"


class Wall:
    def __init__(self) -> None:
        self.time = NOON

    def now(self) -> datetime:
        return self.time


def kubeconfig(user: dict[str, Any]) -> dict[str, Any]:
    return {
        "current-context": "work",
        "contexts": [{"name": "work", "context": {"cluster": "prod", "user": "ada"}}],
        "clusters": [{"name": "prod", "cluster": {"server": "http://127.0.0.1:1"}}],
        "users": [{"name": "ada", "user": user}],
    }


def plugin(tmp_path: Path, expires: datetime) -> dict[str, Any]:
    program = tmp_path / "plugin.py"
    program.write_text(PLUGIN)
    arguments = [str(program), str(tmp_path / "runs"), expires.strftime("%Y-%m-%dT%H:%M:%SZ")]
    return {"exec": {"apiVersion": VERSION, "command": sys.executable,
                     "args": [*arguments, VERSION]}}  # fmt: skip


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        pytest.param(
            {"K8S_AUTH_KUBECONFIG": "/k", "K8S_AUTH_CONTEXT": "c"},
            Connection(kubeconfig="/k", context="c"),
            id="kubeconfig-and-context",
        ),
        pytest.param(
            {"K8S_AUTH_HOST": "https://h", "K8S_AUTH_API_KEY": "t", "K8S_AUTH_VERIFY_SSL": "no"},
            Connection(host="https://h", api_key="t", validate_certs=False),
            id="token-and-the-client's-name-of-validate_certs",
        ),
        pytest.param(
            {"K8S_AUTH_VALIDATE_CERTS": "true", "K8S_AUTH_CA_CERT": "/ca"},
            Connection(validate_certs=True, ca_cert="/ca"),
            id="the-options'-own-names",
        ),
        pytest.param(
            {"K8S_AUTH_CERT_FILE": "/c", "K8S_AUTH_KEY_FILE": "/k"},
            Connection(client_cert="/c", client_key="/k"),
            id="client-certificate",
        ),
        pytest.param(
            {"K8S_AUTH_PROXY_HEADERS_BASIC_AUTH": "u:p", "K8S_AUTH_IMPERSONATE_GROUPS": "a, b"},
            Connection(proxy_headers={"basic_auth": "u:p"}, impersonate_groups=("a", "b")),
            id="proxy-headers-and-groups",
        ),
        pytest.param({"K8S_AUTH_CLUSTER": "prod"}, Connection(), id="the-guard-is-never-inherited"),
    ],
)
def test_what_is_not_given_comes_from_the_environment(environment, expected):
    assert with_environment(Connection(), environment) == expected


def test_what_is_given_wins_over_the_environment():
    given = Connection(context="mine", validate_certs=False)
    environment = {"K8S_AUTH_CONTEXT": "other", "K8S_AUTH_VERIFY_SSL": "yes"}
    assert with_environment(given, environment) == given


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (Connection(client_cert="/c"), "client_cert: client_key is missing."),
        (Connection(username="ada"), "username: password is missing."),
    ],
    ids=["certificate-without-key", "user-without-password"],
)
def test_half_of_a_pair_is_refused(given, words):
    with pytest.raises(InvalidOption, match=words):
        with_environment(given, {})


def test_a_connection_shows_no_secret():
    assert repr(Connection(host="h", api_key="very secret")) == "Connection(host, api_key)"


@pytest.mark.parametrize("name", ["work", "prod"], ids=["context", "cluster"])
def test_the_cluster_may_be_named_by_its_context_or_itself(name):
    connection = Connection(kubeconfig=kubeconfig({"token": "t"}), cluster=name)
    access = Credentials(connection, Wall()).current()
    assert (access.context, access.server) == ("work", "http://127.0.0.1:1")


def test_another_cluster_is_refused():
    connection = Connection(kubeconfig=kubeconfig({"token": "t"}), cluster="test")
    with pytest.raises(Refused, match="Cluster test: the connection leads to work / prod"):
        Credentials(connection, Wall())


def test_a_name_and_a_password_are_sent_as_basic_authentication():
    connection = Connection(host="http://h", username="ada", password="s")
    assert Credentials(connection, Wall()).current().authorization == "Basic YWRhOnM="


def test_a_plugin_runs_once_until_a_fifth_before_the_end_of_its_token(tmp_path):
    wall = Wall()
    user = plugin(tmp_path, NOON + timedelta(seconds=60))
    credentials = Credentials(Connection(kubeconfig=kubeconfig(user)), wall)
    seen = []
    for seconds in (0, 30, 47, 49):
        wall.time = NOON + timedelta(seconds=seconds)
        seen.append(credentials.current().authorization)
    assert seen == ["Bearer token-1"] * 3 + ["Bearer token-2"]


def test_many_threads_that_see_a_401_renew_once(tmp_path):
    user = plugin(tmp_path, NOON + timedelta(hours=1))
    credentials = Credentials(Connection(kubeconfig=kubeconfig(user)), Wall())
    refused = credentials.current()
    together = threading.Barrier(8)

    def renew(_number):
        together.wait()
        return credentials.renew(refused).authorization

    with ThreadPoolExecutor(8) as workers:
        assert set(workers.map(renew, range(8))) == {"Bearer token-2"}
    assert (tmp_path / "runs").read_text() == "xx"


def test_the_pool_of_connections_stays_when_only_the_token_changes(tmp_path):
    user = plugin(tmp_path, NOON + timedelta(hours=1))
    credentials = Credentials(Connection(kubeconfig=kubeconfig(user)), Wall())
    refused = credentials.current()
    assert credentials.renew(refused).pool is refused.pool


def test_a_source_with_nothing_newer_is_not_asked_twice(tmp_path):
    path = tmp_path / "kubeconfig"
    path.write_text(json.dumps(kubeconfig({"token": "t"})))
    credentials = Credentials(Connection(kubeconfig=str(path)), Wall())
    refused = credentials.current()
    for _each in range(2):
        with pytest.raises(Unauthorized, match="read again, they are the same"):
            credentials.renew(refused)
        path.unlink(missing_ok=True)  # The second time does not read it: this shows it.


def test_a_token_that_was_changed_in_the_kubeconfig_is_taken_after_a_401(tmp_path):
    path = tmp_path / "kubeconfig"
    path.write_text(json.dumps(kubeconfig({"token": "old"})))
    credentials = Credentials(Connection(kubeconfig=str(path)), Wall())
    refused = credentials.current()
    path.write_text(json.dumps(kubeconfig({"token": "new"})))
    assert credentials.renew(refused).authorization == "Bearer new"


def test_a_plugin_that_fails_is_told_in_its_own_words():
    program = "import sys; sys.exit('log in first')"
    user = {"exec": {"apiVersion": VERSION, "command": sys.executable, "args": ["-c", program]}}
    with pytest.raises(Unauthorized, match=r"exec plugin of user ada .*log in first"):
        Credentials(Connection(kubeconfig=kubeconfig(user)), Wall())


def test_a_missing_client_library_names_the_interpreter(monkeypatch):
    monkeypatch.setitem(sys.modules, "kubernetes", None)
    with pytest.raises(FleetError, match=f"missing for {sys.executable}"):
        Credentials(Connection(host="http://h", api_key="t"), Wall())
