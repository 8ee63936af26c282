# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A small raw client of the Kubernetes API for tests: paths in, parsed JSON out.

It shares no code with the collection: what the collection did is judged with other eyes.
"""

from __future__ import annotations

import http.client
import json
import ssl
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

Document = dict[str, Any]

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json"


class Unreachable(Exception):
    """No answer came: connection refused, reset, or timed out."""


class ApiError(Exception):
    """The server answered with an error: `status` is the HTTP status, `body` its Status object."""

    def __init__(self, method: str, path: str, status: int, body: Document) -> None:
        super().__init__(f"{method} {path}: {status} {body.get('message', '')}")
        self.status = status
        self.body = body


@dataclass(frozen=True)
class Answer:
    """An HTTP status and the body: parsed JSON, or {"text": ...}."""

    status: int
    body: Document


class Api:
    """One user's view of one server; safe for threads, each of which keeps its own connection."""

    def __init__(
        self,
        server: str,
        token: str,
        certificate: Path | None,
        user_agent: str = "evenkeel-tests",
        timeout: float = 60.0,
    ) -> None:
        """`certificate` None: the server is not verified (it has not written its own yet)."""
        parts = urlsplit(server)
        self._host, self._port = parts.hostname or "", parts.port or 443
        self._headers = {
            "Authorization": f"Bearer {token}",
            "User-Agent": user_agent,
            "Accept": "application/json",
        }
        self._timeout = timeout
        self._context = ssl.create_default_context(cafile=str(certificate) if certificate else None)
        if certificate is None:
            self._context.check_hostname = False
            self._context.verify_mode = ssl.CERT_NONE
        self._local = threading.local()

    def request(
        self,
        method: str,
        path: str,
        body: object = None,
        content_type: str = "application/json",
    ) -> Answer:
        """One request. A connection that the server has closed meanwhile is opened once more."""
        data = None if body is None else json.dumps(body).encode()
        headers = {**self._headers, "Content-Type": content_type}
        for attempt in (1, 2):
            reused = getattr(self._local, "connection", None) is not None
            try:
                response = self._exchange(method, path, data, headers)
                return Answer(response.status, _parsed(response.read()))
            except (OSError, http.client.HTTPException) as error:
                self.close()
                if attempt == 2 or not reused:
                    raise Unreachable(f"{method} {path}: {error}") from error
        raise AssertionError("both attempts return or raise")

    def _exchange(
        self, method: str, path: str, data: bytes | None, headers: Document
    ) -> http.client.HTTPResponse:
        if getattr(self._local, "connection", None) is None:
            self._local.connection = http.client.HTTPSConnection(
                self._host, self._port, timeout=self._timeout, context=self._context
            )
        self._local.connection.request(method, path, data, headers)
        response = self._local.connection.getresponse()
        assert isinstance(response, http.client.HTTPResponse)
        return response

    def close(self) -> None:
        """Closes this thread's connection."""
        connection = getattr(self._local, "connection", None)
        if connection is not None:
            connection.close()
            self._local.connection = None

    def _done(self, method: str, path: str, body: object = None, **options: str) -> Document:
        answer = self.request(method, path, body, **options)
        if answer.status >= 400:
            raise ApiError(method, path, answer.status, answer.body)
        return answer.body

    def get(self, path: str, **parameters: object) -> Document:
        """Raises ApiError, also for 404; `find` does not."""
        return self._done("GET", _with_query(path, parameters))

    def find(self, path: str) -> Document | None:
        """The object, or None when there is none."""
        answer = self.request("GET", path)
        if answer.status == 404:
            return None
        if answer.status >= 400:
            raise ApiError("GET", path, answer.status, answer.body)
        return answer.body

    def list(self, path: str, **parameters: object) -> list[Document]:
        """The items; parameters are the API's: labelSelector="a=b", fieldSelector=..."""
        items = self.get(path, **parameters)["items"]
        assert isinstance(items, list)
        return items

    def create(self, path: str, body: Document) -> Document:
        return self._done("POST", path, body)

    def replace(self, path: str, body: Document) -> Document:
        return self._done("PUT", path, body)

    def patch(self, path: str, body: object, kind: str = MERGE_PATCH) -> Document:
        """A merge patch, or `kind`: JSON_PATCH, STRATEGIC_MERGE_PATCH."""
        return self._done("PATCH", path, body, content_type=kind)

    def delete(self, path: str, body: Document | None = None) -> bool:
        """False when there was nothing to delete; `body` is a DeleteOptions object."""
        answer = self.request("DELETE", path, body)
        if answer.status >= 400 and answer.status != 404:
            raise ApiError("DELETE", path, answer.status, answer.body)
        return answer.status != 404

    def evict(self, namespace: str, pod: str) -> Answer:
        """What the Eviction API says, refusals included."""
        body = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": pod, "namespace": namespace},
        }
        path = f"/api/v1/namespaces/{namespace}/pods/{quote(pod)}/eviction"
        return self.request("POST", path, body)


def _with_query(path: str, parameters: Document) -> str:
    return f"{path}?{urlencode(parameters)}" if parameters else path


def _parsed(data: bytes) -> Document:
    try:
        document = json.loads(data)
    except ValueError:
        return {"text": data.decode(errors="replace")}
    return document if isinstance(document, dict) else {"text": data.decode(errors="replace")}
