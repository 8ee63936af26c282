# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""`make demo`: a node goes through maintenance on a real control plane, in about a minute.

Kubernetes is real (API server, controllers, scheduler); only the kubelets are played. It runs in a
directory of its own, which is gone at the end, and touches no other cluster.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.control_plane import plane as planes
from tests.control_plane.build import BuildError, programs

from . import screen
from .fleet import DRAINED, NODES, Fleet
from .screen import Failed, Terminal, chapter, command, say, show


def main() -> int:
    try:
        found = programs()
    except BuildError as error:
        print(f"The demo needs a Kubernetes control plane, which could not be had: {error}")
        return 1
    with tempfile.TemporaryDirectory(prefix="evenkeel-demo-") as scratch:
        say("Starting a Kubernetes control plane for this demo ...")
        running = planes.start(Path(scratch) / "plane", found, stay=False)
        # When this process ends, however it ends, so does the control plane.
        with running.hold():
            try:
                _tell(Fleet(running.api()), Terminal(Path(scratch), running.kubeconfig))
            except Failed as unexpected:
                print(f"\nThis was not to happen; all that Ansible said:\n{unexpected}")
                return 1
            except KeyboardInterrupt:
                return 130
            finally:
                planes.stop(running.state)
    return 0


def _tell(fleet: Fleet, terminal: Terminal) -> None:
    fleet.create()
    say(f"Three nodes ({', '.join(NODES)}); the pods of a shop are on {DRAINED}:")
    show(fleet.pods(DRAINED))
    before = _standing(fleet)

    chapter(1, "Would a drain work? The doctor looks, and writes nothing.")
    terminal.play("doctor", f"nodes={DRAINED}", "delete_emptydir_data=true", fails=True)
    say("   One replica of which one must stay can never leave. The remedy:")
    command("kubectl -n shop scale deployment ledger --replicas=2")
    fleet.scale("ledger", 2)

    chapter(2, "What would be lost needs consent: cache has an emptyDir. Nothing was changed.")
    terminal.play("maintenance_enter", f"nodes={DRAINED}", fails=True)

    chapter(3, "With consent. web's budget lets one pod go at a time: see it wait for the next.")
    terminal.play(
        "maintenance_enter", f"nodes={DRAINED}", "delete_emptydir_data=true", "reason=kernel-update"
    )

    chapter(4, "Where the node stands is on the node, for everybody to see.")
    command(f"kubectl describe node {DRAINED}")
    show(_described(fleet))

    chapter(5, "Patched and done: give it back.")
    terminal.play("maintenance_exit", f"nodes={DRAINED}")
    if _standing(fleet) != before:
        raise Failed(f"{DRAINED} is not as it was: {_standing(fleet)}, it was {before}")
    say(f"   {DRAINED} is exactly as it was: same annotations, same labels, open to pods.")
    say("\nNext: `make cluster` starts a cluster to play with; the guides are in docs/guides.")


def _standing(fleet: Fleet) -> tuple[object, ...]:
    node = fleet.node(DRAINED)
    metadata, spec = node["metadata"], node["spec"]
    return metadata.get("annotations"), metadata.get("labels"), bool(spec.get("unschedulable"))


def _described(fleet: Fleet) -> list[str]:
    node = fleet.node(DRAINED)
    annotations = node["metadata"]["annotations"]
    ours = ("fleet.evenkeel.dev/", "karpenter.sh/", "cluster-autoscaler.kubernetes.io/")
    shown = [f"{key}: {value}" for key, value in annotations.items() if key.startswith(ours)]
    pods = fleet.pods(DRAINED)
    lines = [f"Name:           {DRAINED}"]
    titles = ["Annotations:", *[""] * len(shown)]
    lines += [f"{title:<16}{line}" for title, line in zip(titles, sorted(shown))]
    lines += [f"Unschedulable:  {str(bool(node['spec'].get('unschedulable'))).lower()}"]
    lines += [f"Pods:           {', '.join(pods) or 'none'}"]
    for event in fleet.events(DRAINED):
        lines += [f"Event:          {event['type']}  {event['reason']}  {event['message']}"]
    return [screen.cut(line) for line in lines]


if __name__ == "__main__":
    sys.exit(main())
