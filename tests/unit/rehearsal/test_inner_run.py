# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What the rehearsed run is started with."""

from __future__ import annotations

import json
import os

import pytest
import yaml

from ansible_collections.evenkeel.fleet.plugins.module_utils.rehearsal.inner_run import InnerRun
from ansible_collections.evenkeel.fleet.plugins.module_utils.rehearsal.options import Hook

SECRETS = {
    "KUBECONFIG": "/home/me/.kube/config",
    "K8S_AUTH_KUBECONFIG": "/home/me/prod",
    "K8S_AUTH_API_KEY": "secret",
    "KUBERNETES_SERVICE_HOST": "10.0.0.1",
    "AWS_SECRET_ACCESS_KEY": "secret",
    "SSH_AUTH_SOCK": "/tmp/agent",
    "ANSIBLE_CONFIG": "/home/me/ansible.cfg",
    "ANSIBLE_VAULT_PASSWORD_FILE": "/home/me/vault",
    "AWX_HOST": "https://awx.example.com",
    "HTTPS_PROXY": "http://me:secret@proxy.example.com",
}
KUBECONFIG = {
    "clusters": [
        {
            "cluster": {
                "server": "https://127.0.0.1:4711",
                "certificate-authority-data": "Y2VydGlmaWNhdGU=",
            }
        }
    ],
    "users": [{"user": {"token": "token-of-the-twin"}}],
}


@pytest.fixture
def inner(tmp_path):
    (tmp_path / "kubeconfig").write_text(json.dumps(KUBECONFIG))
    (tmp_path / "room").mkdir()
    return InnerRun(tmp_path / "room", str(tmp_path / "kubeconfig"))


def test_its_environment_has_no_credential_but_the_twins(inner, tmp_path, monkeypatch):
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    environment = inner.environment()
    assert environment["KUBECONFIG"] == str(tmp_path / "kubeconfig")
    assert set(environment) & set(SECRETS) == {"KUBECONFIG", "ANSIBLE_CONFIG"}
    assert not set(environment.values()) & set(SECRETS.values())
    assert os.listdir(environment["HOME"]) == []


def test_a_hook_is_a_request_to_the_twin_and_nothing_else(inner):
    files = inner.hook_files((Hook("maintenance_tasks", 1200.0, True), Hook("other", 0.0, False)))
    assert list(files) == ["maintenance_tasks"]
    with open(files["maintenance_tasks"], encoding="utf-8") as file:
        (task,) = yaml.safe_load(file)
    asked = task["ansible.builtin.uri"]
    assert asked["url"] == "https://127.0.0.1:4711/twin/v1/pass"
    assert asked["body"] == {"seconds": 1200.0}
    assert os.stat(files["maintenance_tasks"]).st_mode & 0o077 == 0


def test_news_are_whole_lines_each_told_once(inner, tmp_path):
    record = tmp_path / "room" / "record.jsonl"
    assert list(inner.news()) == []
    record.write_text('{"begins": "one"}\n{"beg')
    assert list(inner.news()) == [{"begins": "one"}]
    record.write_text('{"begins": "one"}\n{"begins": "two"}\n')
    assert list(inner.news()) == [{"begins": "two"}]


def test_stopping_it_ends_all_that_it_started(inner, monkeypatch):
    pytest.importorskip("ansible", reason="the rehearsed run is one of ansible-core's")
    inner.start("maintenance_enter", {"kubeconfig": "/nowhere"})
    assert not inner.over
    inner.stop()
    assert inner.over
    assert not inner.succeeded
