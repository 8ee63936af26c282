# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""`make demo`: a node goes through maintenance on a twin, in a few seconds.

A twin is an API server with controllers and kubelets, in a process of its own. It lives in a
directory that is gone at the end, and no other cluster is touched.
"""

from __future__ import annotations

import sys
import tempfile
from contextlib import closing
from pathlib import Path

from . import screen
from .fleet import DRAINED, NODES, Fleet
from .screen import Failed, Terminal, chapter, command, say, show


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="evenkeel-demo-") as scratch:
        say("Starting a twin, a cluster in a process, for this demo ...")
        with closing(Fleet(Path(scratch) / "twin")) as fleet:
            try:
                _tell(fleet, Terminal(Path(scratch), fleet.kubeconfig))
            except Failed as unexpected:
                print(f"\nThis was not to happen; all that Ansible said:\n{unexpected}")
                return 1
            except KeyboardInterrupt:
                return 130
    return 0


def _tell(fleet: Fleet, terminal: Terminal) -> None:
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
    say("\nNext: a twin of your own cluster (docs/guides/twin.md), and a run on it (rehearse.md).")


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
