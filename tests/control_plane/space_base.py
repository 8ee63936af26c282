# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What the parts of a Space share: its names, its client, objects to delete at the end, waiting."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from .api import Api, Document
from .objects import SPACE_LABEL
from .plane import Plane

T = TypeVar("T")

NODES = "/api/v1/nodes"
WAIT_SECONDS = 60.0


class SpaceBase:
    """`scratch` is a directory for kubeconfigs and the like."""

    def __init__(self, plane: Plane, scratch: Path) -> None:
        self.plane = plane
        self.id = uuid.uuid4().hex[:6]
        self.api: Api = plane.api()
        self.namespace = f"t-{self.id}"
        self._scratch = scratch
        self._namespaces: list[str] = []
        self._added: list[str] = []
        self.add_namespace(self.namespace)

    def path(self, api_version: str, plural: str, name: str = "", namespace: str = "") -> str:
        """The API path of a collection or an object in a namespace of the space."""
        root = "/api" if "/" not in api_version else "/apis"
        parts = [root, api_version, "namespaces", namespace or self.namespace, plural]
        return "/".join([*parts, name] if name else parts)

    def add(self, path: str, document: Document) -> Document:
        """Creates an object outside the space's namespaces and deletes it at the end."""
        created = self.api.create(path, document)
        self._added.append(f"{path}/{created['metadata']['name']}")
        return created

    def add_namespace(self, name: str, labels: Mapping[str, str] | None = None) -> str:
        """A further namespace; begin its name with the space's id, as all planes are shared."""
        metadata = {"name": name, "labels": {SPACE_LABEL: self.id, **(labels or {})}}
        self.api.create("/api/v1/namespaces", {"metadata": metadata})
        self._namespaces.append(name)
        return name

    def wait(
        self, condition: Callable[[], T | None], what: str = "", seconds: float = WAIT_SECONDS
    ) -> T:
        """The first true value of `condition`; TimeoutError with `what` after `seconds`."""
        deadline = time.monotonic() + seconds
        while True:
            value = condition()
            if value:
                return value
            if time.monotonic() > deadline:
                raise TimeoutError(f"not within {seconds:g} s: {what or condition}")
            time.sleep(0.05)


def is_ready(document: Document) -> bool:
    """Of a Node or a Pod: whether its Ready condition is True."""
    conditions = document.get("status", {}).get("conditions", [])
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)
