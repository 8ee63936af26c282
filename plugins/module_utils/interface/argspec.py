# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The options that several modules share, as argument specifications, one group per meaning.

Each group has a documentation fragment of the same name in plugins/doc_fragments. The defaults that
a user reads stand here; a test compares them with those of the options' dataclasses.
"""

from __future__ import annotations

from typing import Any, Mapping

from ansible.module_utils.basic import env_fallback

Specification = dict[str, dict[str, Any]]

# Options that are durations: seconds, or text such as 6m and 1h30m. Ansible sees them as text.
DURATIONS = frozenset({"wait_timeout"})


def merge(*groups: Mapping[str, dict[str, Any]]) -> Specification:
    """Returns one specification. An option that two groups declare is a mistake of ours."""
    merged: Specification = {}
    for group in groups:
        twice = merged.keys() & group.keys()
        if twice:
            raise AssertionError(f"declared twice: {', '.join(sorted(twice))}")
        merged.update(group)
    return merged


def _auth(*variables: str, **declaration: Any) -> dict[str, Any]:
    """An option of kubernetes.core with the environment variables that it falls back to there."""
    names = [f"K8S_AUTH_{name}" for name in variables]
    return {"fallback": (env_fallback, names), **declaration}


AUTH: Specification = {
    "kubeconfig": _auth("KUBECONFIG", type="raw"),
    "context": _auth("CONTEXT", type="str"),
    "host": _auth("HOST", type="str"),
    "api_key": _auth("API_KEY", type="str", no_log=True),
    "username": _auth("USERNAME", type="str"),
    "password": _auth("PASSWORD", type="str", no_log=True),
    "validate_certs": _auth("VERIFY_SSL", "VALIDATE_CERTS", type="bool", aliases=["verify_ssl"]),
    "ca_cert": _auth("SSL_CA_CERT", "CA_CERT", type="path", aliases=["ssl_ca_cert"]),
    "client_cert": _auth("CERT_FILE", "CLIENT_CERT", type="path", aliases=["cert_file"]),
    "client_key": _auth(
        "KEY_FILE", "CLIENT_KEY", type="path", aliases=["key_file"], no_log=False
    ),
    "proxy": _auth("PROXY", type="str"),
    "no_proxy": _auth("NO_PROXY", type="str"),
    "impersonate_user": _auth("IMPERSONATE_USER", type="str"),
    "impersonate_groups": _auth("IMPERSONATE_GROUPS", type="list", elements="str"),
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
