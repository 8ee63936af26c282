# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The options that several modules share, as argument specifications, one group per meaning.

Each group has a documentation fragment of the same name in plugins/doc_fragments. The defaults that
a user reads stand here; a test compares them with those of the options' dataclasses.
"""

from __future__ import annotations

from typing import Any, Mapping

Specification = dict[str, dict[str, Any]]

# Options that are durations: seconds, or text such as 6m and 1h30m. Ansible sees them as text.
DURATIONS = frozenset({"wait_timeout", "lifetime"})
# Options that map names to texts, as annotations are: YAML's true means "true" there.
TEXT_MAPPINGS = frozenset({"only_while"})


def merge(*groups: Mapping[str, dict[str, Any]]) -> Specification:
    """Returns one specification. An option that two groups declare is a mistake of ours."""
    merged: Specification = {}
    for group in groups:
        twice = merged.keys() & group.keys()
        if twice:
            raise AssertionError(f"declared twice: {', '.join(sorted(twice))}")
        merged.update(group)
    return merged


# kubernetes.core's names. What is not given falls back to its K8S_AUTH_* variables in
# backends/kubernetes/connection, whose dataclass has these fields.
AUTH: Specification = {
    "kubeconfig": {"type": "raw"},
    "context": {"type": "str"},
    "host": {"type": "str"},
    "api_key": {"type": "str", "no_log": True},
    "username": {"type": "str"},
    "password": {"type": "str", "no_log": True},
    "validate_certs": {"type": "bool", "aliases": ["verify_ssl"]},
    "ca_cert": {"type": "path", "aliases": ["ssl_ca_cert"]},
    "client_cert": {"type": "path", "aliases": ["cert_file"]},
    "client_key": {"type": "path", "aliases": ["key_file"], "no_log": False},
    "proxy": {"type": "str"},
    "no_proxy": {"type": "str"},
    "proxy_headers": {
        "type": "dict",
        "options": {
            "proxy_basic_auth": {"type": "str", "no_log": True},
            "basic_auth": {"type": "str", "no_log": True},
            "user_agent": {"type": "str"},
        },
    },
    "persist_config": {"type": "bool"},
    "impersonate_user": {"type": "str"},
    "impersonate_groups": {"type": "list", "elements": "str"},
}

# Which cluster this call may touch, and where its records live.
COMMON: Specification = {
    "cluster": {"type": "str"},
    "annotation_prefix": {"type": "str", "default": "fleet.evenkeel.dev/"},
    "state_namespace": {"type": "str", "default": "kube-system"},
}

SELECTION: Specification = {
    "nodes": {"type": "list", "elements": "str"},
    "node_selector": {"type": "raw"},
    "where": {"type": "str"},
}

# For steps of a run that has found its nodes before.
GONE: Specification = {"ignore_not_found": {"type": "bool", "default": False}}

# What a drain may touch, in kubectl's words. Preflight predicts with the same consents.
CONSENT: Specification = {
    "delete_emptydir_data": {"type": "bool", "default": False},
    "ignore_daemonsets": {"type": "bool", "default": False},
    "force": {"type": "bool", "default": False},
    "fragile": {
        "type": "str",
        "choices": ["evict", "defer", "refuse", "surge"],
        "default": "evict",
    },
}

# How fast, and when to stop before the end.
PACE: Specification = {
    "grace_period_seconds": {"type": "int"},
    "max_parallel": {"type": "int", "default": 0},
    "on_refusal": {"type": "str", "choices": ["continue", "fail_fast"], "default": "continue"},
    "only_while": {"type": "dict", "default": {}},
}

WAIT: Specification = {
    "wait": {"type": "bool", "default": True},
    "wait_timeout": {"type": "str", "default": "30m"},
}
