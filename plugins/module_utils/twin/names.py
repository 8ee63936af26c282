# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Names of objects: what the API server accepts, and what it makes of generateName.

Source: k8s.io/apimachinery pkg/util/validation and k8s.io/apiserver pkg/storage/names, 1.37.
"""

from __future__ import annotations

import re
from random import Random

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.answers import invalid
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.kinds import Kind

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
_SUFFIX = 5
_LONGEST_BASE = 58
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?\Z")
_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\Z")
_LABELLED = ("namespaces", "services")
# Roles and bindings may be named as a path segment may be: system:node.
_FREE = "rbac.authorization.k8s.io"

_LABEL_RULE = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must"
    " start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for"
    " validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
_SUBDOMAIN_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.',"
    " and must start and end with an alphanumeric character (e.g. 'example.com', regex used for"
    " validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)


def generated(base: str, draw: Random) -> str:
    return base[:_LONGEST_BASE] + "".join(draw.choice(_ALPHABET) for _place in range(_SUFFIX))


def check(kind: Kind, name: str) -> None:
    """Raises Refusal (422) for a name that the API server would not take."""
    if not name:
        raise invalid(kind, "", [("metadata.name", "FieldValueRequired", _required())])
    problem = _problem(kind, name)
    if problem:
        text = f'Invalid value: "{name}": {problem}'
        raise invalid(kind, name, [("metadata.name", "FieldValueInvalid", text)])


def _required() -> str:
    return "Required value: name or generateName is required"


def _problem(kind: Kind, name: str) -> str:
    if kind.group == _FREE:
        return "may not contain '/'" if "/" in name else ""
    if kind.resource in _LABELLED:
        if len(name) > 63:
            return "must be no more than 63 characters"
        return "" if _LABEL.match(name) else _LABEL_RULE
    if len(name) > 253:
        return "must be no more than 253 characters"
    return "" if _SUBDOMAIN.match(name) else _SUBDOMAIN_RULE
