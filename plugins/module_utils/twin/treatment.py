# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What becomes of one request, where it is not simply answered."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Callable, Iterator, Mapping, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.messages import (
    Request,
    Response,
    Stream,
    encoded,
)


def _nothing() -> None:
    """The default act."""


@dataclass(frozen=True)
class Treatment:
    """The default is to carry the request out and to give its answer.

    before, after: done before it is carried out, and after it. delay, silence: seconds of the
    twin's time that pass then. instead: an answer; the request is not carried out. lost: neither
    carried out nor answered: the connection is reset. share: the part of the answer's body that is
    given before the connection is reset; with 0 not even its head. events: so many lines of a watch
    are given, then it is reset, or ends with `last`, a Status, as an ERROR event.
    """

    before: Callable[[], None] = _nothing
    after: Callable[[], None] = _nothing
    delay: float = 0.0
    silence: float = 0.0
    instead: Optional[Response] = None
    lost: bool = False
    share: float = 1.0
    events: Optional[int] = None
    last: Optional[Mapping[str, Any]] = None

    def applied(self, response: Response) -> Response:
        """The answer as it is given."""
        if response.stream is None:
            return replace(response, share=self.share)
        events = 0 if self.share < 1.0 else self.events
        if events is None:
            return response
        share = 1.0 if self.last is not None else 0.0
        return replace(response, stream=_Shortened(response.stream, events, self.last), share=share)


UNDISTURBED = Treatment()
LOST = Response(0, share=0.0)

# Is asked about each request for objects, in the order of arrival, in the request's own thread.
Script = Callable[[Request], Treatment]


class _Shortened:
    """messages.Stream: the first lines of another one."""

    def __init__(self, stream: Stream, events: int, last: Optional[Mapping[str, Any]]) -> None:
        self._stream = stream
        self._events = events
        self._last = last

    def __iter__(self) -> Iterator[bytes]:
        left = self._events
        lines = iter(self._stream)
        while left > 0:
            line = next(lines, None)
            if line is None:
                return
            yield line
            left -= 1
        if self._last is not None:
            yield encoded({"type": "ERROR", "object": self._last})

    def close(self) -> None:
        self._stream.close()
