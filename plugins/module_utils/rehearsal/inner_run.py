# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Runs a playbook of this collection against a twin, in an environment that knows nothing else.

No variable of the environment is passed on but those below, and Ansible reads neither the user's
configuration nor an inventory: so no credential, no notification and no callback of the outside
reaches the inner run. HOME is an empty directory, so there is no ~/.kube/config either.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Iterator, Mapping, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import FleetError
from ansible_collections.evenkeel.fleet.plugins.module_utils.rehearsal.options import Hook
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.asking import Asking

# Where programs and libraries are, and how text is written.
_PASSED_ON = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR")
_FILES = {"ansible.cfg": "", "inventory.yml": "all: {}\n"}
# Seconds that an inner run has to end by itself.
_PATIENCE = 5.0
# Seconds for which a hook may be waited, of real time: a week of the twin's passes sooner.
_HOOK_LIMIT = 600


class InnerRun:
    """directory: an empty one of its own, of which nothing is used afterwards."""

    def __init__(self, directory: Path, kubeconfig: str) -> None:
        self._directory = directory
        self._kubeconfig = kubeconfig
        self._process: Optional[subprocess.Popen[bytes]] = None
        self._read = 0
        for name, content in _FILES.items():
            (directory / name).write_text(content, encoding="utf-8")
        for name in ("home", "tmp"):
            (directory / name).mkdir()

    def hook_files(self, hooks: tuple[Hook, ...]) -> dict[str, str]:
        """By hook, a task file that lets its seconds pass on the twin; none for no seconds."""
        with open(self._kubeconfig, encoding="utf-8") as file:
            asking = Asking(json.load(file))
        authority = self._write("authority.pem", asking.authority)
        return {
            hook.name: self._write(f"{hook.name}.yml", json.dumps([_wait(hook, asking, authority)]))
            for hook in hooks
            if hook.seconds > 0
        }

    def start(self, playbook: str, variables: Mapping[str, Any]) -> None:
        given = self._write("variables.json", json.dumps(variables))
        command = [sys.executable, "-m", "ansible", "playbook", f"evenkeel.fleet.{playbook}"]
        command += ["-i", str(self._directory / "inventory.yml"), "-e", f"@{given}"]
        output = os.open(self._directory / "output", os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            # run_command of AnsibleModule waits for the end of what it starts.
            self._process = subprocess.Popen(  # pylint: disable=ansible-bad-function
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=self._directory,
                env=self.environment(),
                start_new_session=True,
            )
        finally:
            os.close(output)

    def environment(self) -> dict[str, str]:
        """All of it."""
        kept = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        home, scratch = str(self._directory / "home"), str(self._directory / "tmp")
        return {
            **kept,
            "HOME": home,
            "KUBECONFIG": self._kubeconfig,
            "ANSIBLE_CONFIG": str(self._directory / "ansible.cfg"),
            "ANSIBLE_HOME": home,
            "ANSIBLE_LOCAL_TEMP": scratch,
            "ANSIBLE_REMOTE_TEMP": scratch,
            "ANSIBLE_COLLECTIONS_PATH": str(collections_root()),
            "ANSIBLE_CALLBACKS_ENABLED": "evenkeel.fleet.rehearsed",
            "EVENKEEL_FLEET_REHEARSED": str(self._directory / "record.jsonl"),
            "ANSIBLE_LOCALHOST_WARNING": "false",
            "ANSIBLE_INVENTORY_UNPARSED_WARNING": "false",
            "ANSIBLE_DEPRECATION_WARNINGS": "false",
            "ANSIBLE_NOCOLOR": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    @property
    def over(self) -> bool:
        return self._process is not None and self._process.poll() is not None

    @property
    def succeeded(self) -> bool:
        return self._process is not None and self._process.poll() == 0

    def news(self) -> Iterator[dict[str, Any]]:
        """What it recorded since the last call: tasks that began, and results."""
        path = self._directory / "record.jsonl"
        if not path.exists():
            return
        with path.open("rb") as file:
            file.seek(self._read)
            for line in file:
                if not line.endswith(b"\n"):
                    return
                self._read += len(line)
                yield json.loads(line)

    def last_words(self) -> str:
        text = (self._directory / "output").read_text(encoding="utf-8", errors="replace")
        return "\n".join(text.splitlines()[-20:])

    def stop(self) -> None:
        """Ends it with all that it started; returns once it is gone."""
        process = self._process
        if process is None or process.poll() is not None:
            return
        for number in (signal.SIGTERM, signal.SIGKILL):
            os.killpg(process.pid, number)
            try:
                process.wait(_PATIENCE)
                return
            except subprocess.TimeoutExpired:
                continue

    def _write(self, name: str, content: str) -> str:
        path = self._directory / name
        number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(number, "w", encoding="utf-8") as file:
            file.write(content)
        return str(path)


def collections_root() -> Path:
    """The directory that holds ansible_collections with this collection, as it is installed.

    Raises FleetError where only a module's own program is there.
    """
    root = Path(os.path.abspath(__file__)).parents[6]
    if not (root / "ansible_collections" / "evenkeel" / "fleet" / "playbooks").is_dir():
        raise FleetError(
            "A rehearsal runs a playbook of this collection, which is not installed here.",
            "Run the task on the controller, without delegate_to.",
        )
    return root


def _wait(hook: Hook, asking: Asking, authority: str) -> dict[str, Any]:
    return {
        "name": f"Wait for as long as {hook.name} takes",
        "ansible.builtin.uri": {
            "url": asking.pass_url,
            "method": "POST",
            "body_format": "json",
            "body": {"seconds": hook.seconds},
            "headers": {"Authorization": f"Bearer {asking.token}"},
            "ca_path": authority,
            "use_proxy": False,
            "timeout": _HOOK_LIMIT,
        },
    }
