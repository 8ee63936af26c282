# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Requests and answers of the twin's API, apart from how they travel."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Iterator, Mapping, Optional, Protocol
from urllib.parse import parse_qsl, unquote, urlsplit

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.answers import bad_request
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.rbac import User

JSON = "application/json"
PLAIN = "text/plain; charset=utf-8"


@dataclass(frozen=True)
class Request:
    """path: decoded, without the query. headers: by lower-case name."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    user: User

    @classmethod
    def parse(
        cls, method: str, target: str, headers: Mapping[str, str], body: bytes, user: User
    ) -> Request:
        parts = urlsplit(target)
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        return cls(method, unquote(parts.path), query, headers, body, user)

    @property
    def wants_watch(self) -> bool:
        return self.query.get("watch") in ("1", "true")

    @property
    def wants_table(self) -> bool:
        return "as=Table" in self.headers.get("accept", "")

    @property
    def dry_run(self) -> bool:
        return bool(self.query.get("dryRun"))

    def flag(self, name: str) -> bool:
        return self.query.get(name) in ("1", "true")

    def number(self, name: str) -> Optional[int]:
        """Raises Refusal (400) for what is no number."""
        text = self.query.get(name, "")
        if not text:
            return None
        if not text.lstrip("-").isdigit():
            raise bad_request(f'strconv.ParseInt: parsing "{text}": invalid syntax')
        return int(text)

    def document(self) -> Any:
        """The body as JSON, {} when there is none. Raises Refusal (400)."""
        if not self.body:
            return {}
        try:
            return json.loads(self.body)
        except ValueError as error:
            raise bad_request(f"the object provided is unrecognized: {error}") from error


class Stream(Protocol):
    """The lines of a watch, until it ends or close() is called from any thread."""

    def __iter__(self) -> Iterator[bytes]: ...

    def close(self) -> None: ...


@dataclass(frozen=True)
class Response:
    """stream: the body comes line by line, as long as it lasts.

    share: less than 1 for an answer that breaks off: so much of the body is sent, then the
    connection is reset; with 0 nothing is. A stream is reset at its end.
    """

    status: int
    body: bytes = b""
    stream: Optional[Stream] = None
    headers: tuple[tuple[str, str], ...] = field(default=())
    content_type: str = JSON
    share: float = 1.0


def encoded(document: Any) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode() + b"\n"


def answered(document: Any, status: int = 200) -> Response:
    return Response(status, encoded(document))
