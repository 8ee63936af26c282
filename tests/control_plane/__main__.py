# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""python -m tests.control_plane build | up | down | status"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from . import plane, sample
from .build import BuildError, cache_directory, programs

DEFAULT_STATE = cache_directory().parent / "cluster"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.control_plane")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("build", help="build what is not there yet, and say where it is")
    for name, text in (("up", "start a plane"), ("down", "end it"), ("status", "look at it")):
        command = commands.add_parser(name, help=text)
        command.add_argument("--state", type=Path, default=DEFAULT_STATE, metavar="DIRECTORY")
        if name == "up":
            command.add_argument("--sample", action="store_true", help="with nodes and workloads")
    options = parser.parse_args(arguments)
    try:
        return {"build": _build, "up": _up, "down": _down, "status": _status}[options.command](
            options
        )
    except (BuildError, plane.PlaneError) as error:
        print(error, file=sys.stderr)
        return 1


def _build(options: argparse.Namespace) -> int:
    for name, path in programs().items():
        print(f"{name}: {path}")
    return 0


def _up(options: argparse.Namespace) -> int:
    state = options.state.resolve()
    running = plane.find(state)
    if running is None:
        running = plane.start(state, programs(), stay=True)
        if options.sample:
            sample.create(running.api())
    print(f"# Kubernetes {running.version} at {running.server}")
    print(f"export KUBECONFIG={running.kubeconfig}")
    return 0


def _down(options: argparse.Namespace) -> int:
    print("ended" if plane.stop(options.state.resolve()) else "nothing was running")
    return 0


def _status(options: argparse.Namespace) -> int:
    running = plane.find(options.state.resolve())
    if running is None:
        print("no control plane runs here")
        return 1
    print(f"Kubernetes {running.version} at {running.server}, KUBECONFIG={running.kubeconfig}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
