# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""`make build`: the Galaxy tarball in build/, and the proof that it installs and works offline."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tools import tree

BIN = Path(sys.executable).parent
OUTPUT = tree.CHECKOUT / "build"


def main() -> int:
    # From a copy of what git would commit: nothing that lies about gets into the tarball.
    build = ["ansible-galaxy", "collection", "build", "--force", "--output-path", str(OUTPUT)]
    _run(build, tree.copy_tree("build"), OUTPUT)
    tarball = max(OUTPUT.glob(f"{tree.NAMESPACE}-{tree.NAME}-*.tar.gz"), key=_modified)
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        install = ["ansible-galaxy", "collection", "install", str(tarball), "--offline"]
        _run([*install, "-p", name], place, place)
        _see_that_it_works(place)
    print(f"{tarball.relative_to(tree.CHECKOUT)} ({tarball.stat().st_size // 1024} KiB)")
    return 0


def _see_that_it_works(place: Path) -> None:
    """Every playbook of the checkout is found by its name in the installed collection."""
    for playbook in sorted((tree.CHECKOUT / "playbooks").glob("*.yml")):
        name = f"{tree.NAMESPACE}.{tree.NAME}.{playbook.stem}"
        _run(["ansible-playbook", "--syntax-check", "-i", "localhost,", name], place, place)


def _run(command: list[str], cwd: Path, collections: Path) -> None:
    """Run a program of this environment that sees the collections of one directory only."""
    environment = {
        **os.environ,
        "ANSIBLE_COLLECTIONS_PATH": str(collections),
        "ANSIBLE_COLLECTIONS_SCAN_SYS_PATH": "false",
    }
    subprocess.run([str(BIN / command[0]), *command[1:]], cwd=cwd, env=environment, check=True)


def _modified(path: Path) -> float:
    return path.stat().st_mtime


if __name__ == "__main__":
    sys.exit(main())
