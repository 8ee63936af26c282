# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Batches in a play of the user's own: one node at a time, settled in between. Case C23."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from tests.control_plane.space import Space

from .playbooks import ENTER, Playbooks
from .standing import clean, counted, is_closed

# The patching of the last node ends when somebody says so.
PATCHING = """
cd DIRECTORY
echo {{ maintenance_batch_nodes | join(',') }} >> told
if [ {{ maintenance_batch_nodes | first }} = LAST ]; then
  touch reached
  for try in $(seq 1200); do [ -e go ] && exit 0; sleep 0.1; done; exit 1
fi
"""


class ReadyAtFirst:
    """A webhook's answer: notes how many pods of a Deployment are Ready when the first eviction
    from each node is asked for, and lets all go. `gone`: vanishes when `second` is begun with."""

    def __init__(self, space: Space, deployment: str, second: str, gone: str) -> None:
        self.space, self.second, self.gone = space, second, gone
        self.path = space.path("apps/v1", "deployments", deployment)
        self.ready: dict[str, int] = {}

    def __call__(self, request: dict[str, Any]) -> None:
        pod = self.space.pod(request["name"])
        assert pod is not None
        node = pod["spec"]["nodeName"]
        if node in self.ready:
            return
        status = self.space.api.get(self.path)["status"]
        self.ready[node] = status.get("readyReplicas", 0)
        if node == self.second:
            self.space.remove_node(self.gone)


def test_c23_batches_of_one_settle_in_between_and_go_on_without_nodes_that_vanish(
    space: Space, tmp_path: Path
) -> None:
    """The third of four nodes vanishes while the second is emptied, the last while the user's
    tasks run. What left the first is Ready again before anything leaves the second."""
    first, _spare = space.nodes(2, labels={"pool": space.id})
    second, third, last = space.nodes(3)
    # It moves once: not to the second node.
    apart = {"nodeSelector": {"pool": space.id}}
    space.deployment("web", 2, node=first, start_seconds=4, spec=apart)
    space.deployment("db", 1, node=second, start_seconds=1)
    space.wait_running()
    seen = ReadyAtFirst(space, "web", second, third)
    space.webhook(seen)
    patching = PATCHING.replace("DIRECTORY", str(tmp_path)).replace("LAST", last)
    hook = [{"name": "Patch", "ansible.builtin.shell": patching}]
    (tmp_path / "during.yml").write_text(yaml.safe_dump(hook), encoding="utf-8")
    site = [
        {"ansible.builtin.import_playbook": f"evenkeel.fleet.{ENTER}"},
        {
            "hosts": "localhost",
            "gather_facts": False,
            "tasks": [{"name": "Go on", "ansible.builtin.debug": {"msg": "next play"}}],
        },
    ]
    (tmp_path / "site.yml").write_text(yaml.safe_dump(site), encoding="utf-8")
    options = {
        "nodes": ",".join((first, second, third, last)),
        "batch": "1",
        "exit_after": "true",
        "maintenance_tasks": "during.yml",
    }
    books = Playbooks(tmp_path, space.kubeconfig())
    with (
        counted(space, is_closed) as counts,
        books.start(str(tmp_path / "site.yml"), options) as entering,
    ):
        reached = tmp_path / "reached"
        space.wait(lambda: reached.exists() or entering.process.poll(), "the last node", 180)
        assert reached.exists(), entering.stdout
        space.remove_node(last)
        (tmp_path / "go").touch()
        ran = entering.end().good()

    assert (seen.ready[first], seen.ready[second]) == (2, 2)
    told = (tmp_path / "told").read_text(encoding="utf-8").splitlines()
    assert told == [first, second, last]
    assert max(counts) == 1
    assert [task.result["msg"] for task in ran.named("which nodes were removed")] == [
        f"Removed from the cluster meanwhile, and left out: {name}." for name in (third, last)
    ]
    assert ran.named("Go on")
    assert clean(space, first)
    assert clean(space, second)
