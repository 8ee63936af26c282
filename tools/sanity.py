# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Give `ansible-test sanity` the world it wants, without touching the user's.

It wants a real path ansible_collections/evenkeel/fleet (a copy, see tools/tree.py), interpreters
on PATH that are no pyenv shims (a directory of links), and a bootstrap script for pip that it
would download from a host of its own (written here; it runs a wheel of pip). All of it lies in
the cache: ansible-test keeps its files under HOME, so it is given a home there.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from tools import tree
from tools.interpreters import Interpreter

# Options of the real bootstrap script that pip does not know.
GET_PIP = '''\
"""Stands for the get-pip.py that ansible-test would download: runs the wheel beside it."""
import glob
import os
import sys

wheel = glob.glob(os.path.join(os.path.dirname(os.path.abspath(__file__)), "pip-*.whl"))[0]
sys.path.insert(0, wheel)
from pip._internal.cli.main import main

arguments = [text for text in sys.argv[1:] if text not in ("--no-setuptools", "--no-wheel")]
sys.exit(main(["install", "--quiet"] + arguments))
'''
# What ansible-test's pip, which sees no environment variables, must know of the user's settings.
PIP_SETTINGS = ("cert", "extra-index-url", "find-links", "index-url", "proxy", "timeout")
LOWEST_PYTHON = "3.9"


def home() -> Path:
    """The HOME that tools get which would install things into the user's."""
    path = tree.cache_directory() / "home"
    path.mkdir(parents=True, exist_ok=True)
    return path


def prepare_home(bin_directory: Path) -> Path:
    """Put ansible-test's bootstrap script, a pip for it and pip's settings into the home."""
    cache = home() / ".ansible" / "test" / "cache"
    cache.mkdir(parents=True, exist_ok=True)
    if not list(cache.glob("pip-*.whl")):
        # One wheel for all interpreters: the newest that the lowest of them carries.
        pip = [str(bin_directory / "pip"), "download", "-q", "--no-deps", "--only-binary=:all:"]
        pip += ["--python-version", LOWEST_PYTHON, "-d", str(cache), "pip"]
        subprocess.run(pip, check=True)
    for version in _bootstrap_versions(bin_directory):
        (cache / f"get_pip_{version.replace('.', '_')}.py").write_text(GET_PIP)
    _write_pip_settings(bin_directory)
    return home()


def link_interpreters(interpreters: list[Interpreter]) -> Path:
    """A directory to put first on PATH: python3.9, python3.10, ... as links to the real ones."""
    directory = tree.cache_directory() / "interpreters"
    directory.mkdir(parents=True, exist_ok=True)
    for interpreter in interpreters:
        link = directory / interpreter.name
        if not (link.is_symlink() and os.readlink(link) == interpreter.path):
            link.unlink(missing_ok=True)
            link.symlink_to(interpreter.path)
    return directory


def _bootstrap_versions(bin_directory: Path) -> list[str]:
    """The versions of pip for which this ansible-test wants a bootstrap script."""
    pattern = "python3*/site-packages/ansible_test/_internal/python_requirements.py"
    source = next((bin_directory.parent / "lib").glob(pattern)).read_text()
    return re.findall(r"pip='([\d.]+)'", source)


def _write_pip_settings(bin_directory: Path) -> None:
    command = [str(bin_directory / "pip"), "config", "list"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    settings = {}
    for scope, name, value in re.findall(r"^(:env:|\w+)\.([\w-]+)='(.*)'$", listed, re.MULTILINE):
        if name in PIP_SETTINGS and (scope == ":env:" or name not in settings):
            settings[name] = value
    cache = subprocess.run(
        [str(bin_directory / "pip"), "cache", "dir"], capture_output=True, text=True, check=False
    ).stdout.strip()
    if cache:
        settings["cache-dir"] = cache
    target = home() / ".config" / "pip" / "pip.conf"
    target.parent.mkdir(parents=True, exist_ok=True)
    lines = [f"{name} = {value}" for name, value in sorted(settings.items())]
    target.write_text("\n".join(["[global]", *lines, ""]))
