# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Give the checkout the path ansible_collections/evenkeel/fleet, wherever it lies.

Ansible, mypy and pytest take a link outside the checkout. ansible-test, molecule and ansible-lint
want a real directory, and write into it or beside it: they get a copy.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path
from typing import Iterator

CHECKOUT = Path(__file__).resolve().parent.parent
NAMESPACE, NAME = "evenkeel", "fleet"
COLLECTION = Path("ansible_collections", NAMESPACE, NAME)
# What a checkout without git holds beside its own files.
NEVER_COPIED = frozenset(
    [".git", ".venv", ".ansible", ".cache", "__pycache__", "build", "collections", "output"]
    + [".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".import_linter_cache"]
)


def cache_directory() -> Path:
    """Where everything lives that is kept between runs and is not a part of the checkout."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base, "evenkeel-fleet")


def checkout_key(checkout: Path = CHECKOUT) -> str:
    """A short name for this checkout, so that two of them never share a link or a copy."""
    return hashlib.sha256(str(checkout).encode()).hexdigest()[:12]


def link_tree(checkout: Path = CHECKOUT) -> Path:
    """Make (or keep) the linked tree; returns its root, which holds ansible_collections."""
    root = cache_directory() / "trees" / checkout_key(checkout)
    link = root / COLLECTION
    link.parent.mkdir(parents=True, exist_ok=True)
    if not (link.is_symlink() and os.readlink(link) == str(checkout)):
        if link.is_symlink() or link.exists():
            link.unlink()
        link.symlink_to(checkout, target_is_directory=True)
    return root


def copy_tree(purpose: str, checkout: Path = CHECKOUT) -> Path:
    """Make a real copy for one tool; returns the collection's directory in it.

    The copy is brought up to date, not made anew: what the tool keeps beside the files (its
    caches) stays, and files that are gone from the checkout are removed.
    """
    target = cache_directory() / "copies" / f"{checkout_key(checkout)}-{purpose}" / COLLECTION
    target.mkdir(parents=True, exist_ok=True)
    wanted = collection_files(checkout)
    _remove_strangers(target, wanted)
    for name in wanted:
        _copy_if_changed(checkout / name, target / name)
    return target


def collection_files(checkout: Path = CHECKOUT) -> list[str]:
    """The files of the checkout that git would commit, or, without git, all but known caches."""
    if (checkout / ".git").exists() and shutil.which("git"):
        command = ["git", "-c", f"safe.directory={checkout}", "-C", str(checkout)]
        command += ["ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        # A file that git knows may be deleted in the work tree.
        return sorted(name for name in listed.split("\0") if name and (checkout / name).exists())
    return sorted(_walk(checkout))


def installed_copies(checkout: Path = CHECKOUT) -> list[Path]:
    """Installed collections evenkeel.fleet that Ansible would take instead of this checkout."""
    configured = os.environ.get("ANSIBLE_COLLECTIONS_PATH", "")
    paths = configured.split(os.pathsep) if configured else []
    if not paths:
        paths = [os.path.expanduser("~/.ansible/collections"), "/usr/share/ansible/collections"]
    found = (Path(path, COLLECTION) for path in paths if path)
    return [path for path in found if path.exists() and path.resolve() != checkout.resolve()]


def _walk(root: Path) -> Iterator[str]:
    """The files below root by their relative names, known caches left out."""
    for directory, names, files in os.walk(root):
        names[:] = [name for name in names if name not in NEVER_COPIED]
        for name in files:
            yield os.path.relpath(os.path.join(directory, name), root)


def _remove_strangers(target: Path, wanted: list[str]) -> None:
    for name in set(_walk(target)) - set(wanted):
        (target / name).unlink()


def _copy_if_changed(source: Path, target: Path) -> None:
    if target.exists() and not target.is_symlink() and _signature(target) == _signature(source):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.is_symlink():
        target.unlink()
    shutil.copy2(source, target, follow_symlinks=False)


def _signature(path: Path) -> tuple[int, int, int]:
    facts = path.stat()
    return facts.st_size, facts.st_mtime_ns, facts.st_mode
