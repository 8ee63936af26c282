# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The user's own part of a maintenance: a task file that tells this test when it runs."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

_TASKS = """\
---
- name: Patch the nodes
  ansible.builtin.uri:
    url: "{url}/{{{{ maintenance_batch_nodes | join(',') }}}}"
"""


class Hook:
    """`calls` are what `look(nodes)` returned at each run of the task file `tasks`, which asks for
    `url`/NODES."""

    def __init__(self, look: Callable[[list[str]], list[str]], directory: Path) -> None:
        self.calls: list[list[str]] = []
        self._look = look
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self.tasks = directory / "patching.yml"
        self.tasks.write_text(_TASKS.format(url=self.url))

    def call(self, nodes: list[str]) -> None:
        self.calls.append(self._look(nodes))

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def _handler(hook: Hook) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            hook.call(self.path.strip("/").split(","))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *arguments: Any) -> None:
            """`Hook.calls` is the log."""

    return Handler
