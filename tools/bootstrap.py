# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Make a virtual environment with pip in it, also where the system cannot.

Debian and Ubuntu keep the stdlib's ensurepip in a package of its own (python3-venv). Without it,
pip comes from the first source that has it:

1. the ensurepip of another interpreter on this machine,
2. a pip that another interpreter has,
3. Debian's package python3-pip-whl, downloaded and unpacked in a temporary directory: needs
   neither root nor an installation,
4. the package index that pip is configured for (PIP_INDEX_URL or a pip.conf).
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Callable

from tools.index import download_pip
from tools.interpreters import Interpreter

BUNDLED = """
import ensurepip, glob, os, sysconfig
where = [os.path.join(os.path.dirname(ensurepip.__file__), "_bundled")]
where.append(sysconfig.get_config_var("WHEEL_PKG_DIR") or "/usr/share/python-wheels")
print(next(iter(glob.glob(os.path.join(place, "pip-*.whl")) for place in where if place), [""])[0])
"""


class NoPip(Exception):
    """No source of pip is left; the text names what was tried and what would help."""


def make_environment(
    target: Path, interpreter: Interpreter, others: list[Interpreter], say: Callable[[str], None]
) -> Path:
    """Make a fresh virtual environment with pip; returns its python. Raises NoPip."""
    command = [interpreter.path, "-m", "venv", "--clear", str(target)]
    python = target / "bin" / "python"
    if interpreter.ensurepip:
        subprocess.run(command, check=True)
        return python
    subprocess.run([*command, "--without-pip"], check=True)
    failures = []
    for title, source in SOURCES:
        try:
            source(python, others)
        except (OSError, subprocess.SubprocessError, LookupError) as error:
            failures.append(f"  {title}: {_reason(error)}")
            continue
        say(f"{interpreter} has no ensurepip; pip came from {title}")
        return python
    raise NoPip(
        f"{interpreter} cannot install pip, and no other source has it:\n"
        + "\n".join(failures)
        + "\nInstall the system's package for it (Debian: python3-venv), then try again"
    )


def _from_ensurepip(python: Path, others: list[Interpreter]) -> None:
    for other in others:
        if other.ensurepip:
            answer = subprocess.run(
                [other.path, "-I", "-c", BUNDLED], capture_output=True, text=True, check=True
            )
            if answer.stdout.strip():
                return _install_wheel(python, Path(answer.stdout.strip()))
    raise LookupError("no interpreter here has it")


def _from_other_pip(python: Path, others: list[Interpreter]) -> None:
    for other in others:
        command = [other.path, "-m", "pip", "--python", str(python), "install", "-q", "pip"]
        if subprocess.run(command, capture_output=True, check=False).returncode == 0:
            return
    raise LookupError("no interpreter here has pip 22.3 or newer")


def _from_debian(python: Path, _others: list[Interpreter]) -> None:
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        raise LookupError("this is no Debian")
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        _apt_download(place, "python3-pip-whl")
        package = next(place.glob("python3-pip-whl_*.deb"))
        subprocess.run(["dpkg-deb", "-x", str(package), str(place / "files")], check=True)
        _install_wheel(python, next((place / "files").rglob("pip-*.whl")))


def _apt_download(place: Path, package: str) -> None:
    """Download a package as any user, with the system's lists or, if there are none, fresh ones.

    Fresh lists go to the temporary directory; nothing of the system's state is touched.
    """
    (place / "lists" / "partial").mkdir(parents=True)
    (place / "cache" / "archives" / "partial").mkdir(parents=True)
    own = ["-o", f"Dir::State::lists={place}/lists", "-o", f"Dir::Cache={place}/cache"]
    # As root, apt gives up its rights for downloads, and then cannot write here.
    own += ["-o", "APT::Sandbox::User=root"]
    download = ["apt-get", "-q", "download", package]
    if _quiet(download, place) != 0:
        _quiet(["apt-get", "-q", *own, "update"], place)
        if _quiet(["apt-get", "-q", *own, *download[2:]], place) != 0:
            raise LookupError(f"apt-get cannot download {package}")


def _quiet(command: list[str], place: Path) -> int:
    return subprocess.run(command, cwd=place, capture_output=True, check=False).returncode


def _from_index(python: Path, _others: list[Interpreter]) -> None:
    with tempfile.TemporaryDirectory() as name:
        _install_wheel(python, download_pip(Path(name)))


def _install_wheel(python: Path, wheel: Path) -> None:
    """A wheel of pip can be run as it is, and installs itself."""
    pip = [str(python), str(wheel / "pip"), "install", "-q", "--no-index", "--no-deps"]
    subprocess.run([*pip, str(wheel)], check=True, stdout=sys.stderr)


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if not isinstance(error, LookupError) else str(error)


SOURCES: tuple[tuple[str, Callable[[Path, list[Interpreter]], None]], ...] = (
    ("the ensurepip of another interpreter", _from_ensurepip),
    ("the pip of another interpreter", _from_other_pip),
    ("Debian's package python3-pip-whl", _from_debian),
    ("the configured package index", _from_index),
)
