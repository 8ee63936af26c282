# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The virtual environments: what each holds, which interpreters carry it, and when it is stale.

`.venv` in the checkout is the user's. The others are kept in the cache, named after their
contents, so that checkouts share them.
"""

from __future__ import annotations

import fcntl
import hashlib
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Iterator

from tools import tree
from tools.bootstrap import make_environment
from tools.interpreters import Interpreter, newest

STAMP = ".evenkeel-stamp"
REQUIREMENTS = tree.CHECKOUT / "tools" / "requirements"
Say = Callable[[str], None]


@dataclass(frozen=True)
class Environment:
    """What a virtual environment holds.

    lowest, highest: minor versions of Python that carry it, the newest found is taken;
    pins: requirements beside the file's.
    """

    name: str
    requirements: str
    lowest: tuple[int, int]
    highest: tuple[int, int]
    pins: tuple[str, ...] = ()

    def interpreter(self, interpreters: list[Interpreter]) -> Interpreter | None:
        return newest(interpreters, self.lowest, self.highest)


# ansible-core's own bounds: 2.19 runs on 3.11 to 3.13, 2.21 on 3.12 to 3.14.
DEV = Environment("dev", "dev.txt", (3, 11), (3, 14))
CORE_219 = Environment("core-2.19", "core.txt", (3, 11), (3, 11), ("ansible-core==2.19.*",))
# The lowest Python of a managed node. ansible-core is for the import of AnsibleModule only.
PYTHON_39 = Environment("python-3.9", "units.txt", (3, 9), (3, 9))


def prepare(environment: Environment, interpreters: list[Interpreter], say: Say) -> Path:
    """Make the environment, or keep it where its stamp is right; returns its bin directory.

    Raises LookupError when no interpreter carries it, NoPip, or CalledProcessError of pip.
    """
    interpreter = environment.interpreter(interpreters)
    if interpreter is None:
        raise LookupError(f"no interpreter for {environment.name}")
    stamp = _stamp(environment, interpreter)
    target = _place(environment, stamp)
    with _lock(target):
        if not _fresh(target, stamp):
            _install(environment, interpreter, interpreters, target, say)
            (target / STAMP).write_text(stamp)
    if environment == DEV:
        _show_tree(target)
    return target / "bin"


def _place(environment: Environment, stamp: str) -> Path:
    if environment == DEV:
        return tree.CHECKOUT / ".venv"
    return tree.cache_directory() / "environments" / f"{environment.name}-{stamp[:12]}"


def _stamp(environment: Environment, interpreter: Interpreter) -> str:
    """A hash of all that decides the contents, and of where they are (scripts hold their path)."""
    texts = [environment.requirements, *environment.pins, str(interpreter), str(tree.CHECKOUT)]
    if environment != DEV:
        texts.pop()
    texts += [path.read_text() for path in sorted(REQUIREMENTS.glob("*.txt"))]
    texts.append((tree.CHECKOUT / "requirements.txt").read_text())
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def _fresh(target: Path, stamp: str) -> bool:
    kept = target / STAMP
    return kept.is_file() and kept.read_text() == stamp and (target / "bin" / "python").exists()


def _install(
    environment: Environment,
    interpreter: Interpreter,
    interpreters: list[Interpreter],
    target: Path,
    say: Say,
) -> None:
    say(f"making the environment {environment.name} with {interpreter}: a minute or two")
    others = [one for one in interpreters if one != interpreter]
    python = make_environment(target, interpreter, others, say)
    pip = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    subprocess.run([*pip, "--upgrade", "pip"], check=True)
    requirements = str(REQUIREMENTS / environment.requirements)
    subprocess.run([*pip, *environment.pins, "-r", requirements], check=True)


def _show_tree(target: Path) -> None:
    """Let this environment's Python, and so its Ansible, find the checkout as a collection."""
    root = tree.link_tree()
    for packages in (target / "lib").glob("python3*/site-packages"):
        (packages / "evenkeel-fleet.pth").write_text(f"{root}\n")


@contextmanager
def _lock(target: Path) -> Iterator[None]:
    """Two runs at a time must not install into one environment."""
    locks = tree.cache_directory() / "locks"
    locks.mkdir(parents=True, exist_ok=True)
    name = hashlib.sha256(str(target).encode()).hexdigest()[:12]
    with (locks / name).open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
