# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Pod templates: are two the same, and a short name for one that may be a label's value.

The real hash is FNV-1a over Go's own printing of the template, which nobody else can print. This
one is as stable and as short, and written in the same letters.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any, Mapping

HASH_LABEL = "pod-template-hash"
# As Kubernetes' rand.SafeEncodeString: no vowels, nothing that looks like another letter.
_LETTERS = "bcdfghjklmnpqrstvwxz2456789"


def hash_of(template: Mapping[str, Any], collisions: int = 0) -> str:
    text = json.dumps([without_hash(template), collisions], sort_keys=True)
    return "".join(_LETTERS[byte % len(_LETTERS)] for byte in sha256(text.encode()).digest()[:10])


def same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return without_hash(one) == without_hash(other)


def without_hash(template: Mapping[str, Any]) -> dict[str, Any]:
    metadata = template.get("metadata") or {}
    labels = dict(metadata.get("labels") or {})
    labels.pop(HASH_LABEL, None)
    return {**template, "metadata": {**metadata, "labels": labels}}


def with_hash(template: Mapping[str, Any], name: str) -> dict[str, Any]:
    metadata = template.get("metadata") or {}
    labels = {**(metadata.get("labels") or {}), HASH_LABEL: name}
    return {**template, "metadata": {**metadata, "labels": labels}}
