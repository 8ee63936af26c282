# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Asks a twin about what lies beside the API: its time, and its journal."""

from __future__ import annotations

import base64
import http.client
import json
import ssl
from typing import Any, Mapping, Optional
from urllib.parse import urlsplit

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.journal import (
    Entry,
    parse_entry,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.twin_protocol import TIME_PATH

# Seconds of real time: hours of virtual time pass meanwhile.
_PATIENCE = 600.0


class Asking:
    """kubeconfig: a twin's, as a document. Raises OSError when it does not answer."""

    def __init__(self, kubeconfig: Mapping[str, Any]) -> None:
        cluster = kubeconfig["clusters"][0]["cluster"]
        self.server: str = cluster["server"]
        self.token: str = kubeconfig["users"][0]["user"]["token"]
        self.authority = base64.b64decode(cluster["certificate-authority-data"]).decode()

    @property
    def pass_url(self) -> str:
        """Where to POST {"seconds": ...} so that they pass."""
        return f"{self.server}{TIME_PATH}pass"

    def journal(self) -> tuple[float, tuple[Entry, ...]]:
        """The twin's time now, and what happened until then."""
        _status, body = self._ask("GET", f"{TIME_PATH}journal")
        return float(body["now"]), tuple(map(parse_entry, body["entries"]))

    def let_pass(self, seconds: float) -> None:
        self._ask("POST", f"{TIME_PATH}pass", {"seconds": seconds})

    def post(self, path: str, document: Mapping[str, Any]) -> tuple[int, Any]:
        """The status and the body of the answer to a request of its API."""
        return self._ask("POST", path, document)

    def _ask(
        self, method: str, path: str, document: Optional[Mapping[str, Any]] = None
    ) -> tuple[int, Any]:
        context = ssl.create_default_context(cadata=self.authority)
        address = urlsplit(self.server).netloc
        connection = http.client.HTTPSConnection(address, timeout=_PATIENCE, context=context)
        try:
            body = None if document is None else json.dumps(document).encode()
            headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()
