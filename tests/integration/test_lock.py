# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The lock of a node on a real API server: runners in threads and processes. Cases C23, C29."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Optional

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.base import Cluster
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.clock import SystemClock
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.lock import hold
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.run import Run
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import (
    Forbidden,
    Interrupted,
    LockHeld,
    LockLost,
    Refused,
    Unreachable,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import Node
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.resources import NODES
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.times import (
    format_micro_instant,
    parse_instant,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.lock_rules import lease_name
from tests.control_plane.space import Space

from .calling import Listener, cluster_of, run_of

LEASE_PATH = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"


@pytest.fixture
def cluster(space: Space) -> Iterator[Cluster]:
    with cluster_of(space) as opened:
        yield opened


def nodes_of(space: Space, cluster: Cluster, count: int = 1) -> list[Node]:
    return [cluster.get(NODES, name) for name in space.nodes(count)]


def lease(space: Space, node: Node) -> dict[str, Any]:
    return dict(space.api.get(f"{LEASE_PATH}/{lease_name(node.name)}"))


def holder_of(space: Space, node: Node) -> Optional[str]:
    found = space.api.find(f"{LEASE_PATH}/{lease_name(node.name)}")
    return found["spec"].get("holderIdentity") if found else None


class Runner:
    """A process of lock_runner.py."""

    def __init__(
        self, kubeconfig: Path, nodes: list[Node], purpose: str, ttl: int, join: float = 60
    ) -> None:
        program = Path(__file__).with_name("lock_runner.py")
        names = ",".join(node.name for node in nodes)
        arguments = [str(kubeconfig), names, purpose, str(ttl), str(join)]
        self.process = subprocess.Popen(
            [sys.executable, str(program), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.holder = self.hear()

    def hear(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def ask(self, order: str) -> str:
        self.say(order)
        return self.hear()

    def say(self, order: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(order + "\n")
        self.process.stdin.flush()

    def stop(self) -> None:
        self.process.send_signal(signal.SIGCONT)
        self.process.kill()
        self.process.wait()


@pytest.fixture
def start(space: Space) -> Iterator[Any]:
    runners: list[Runner] = []

    def started(nodes: list[Node], purpose: str = "maintenance", ttl: int = 3) -> Runner:
        runners.append(Runner(space.kubeconfig(), nodes, purpose, ttl))
        return runners[-1]

    yield started
    for runner in runners:
        runner.stop()


def test_a_lease_names_holder_purpose_and_node_and_is_free_afterwards(
    space: Space, cluster: Cluster
) -> None:
    (node,) = nodes_of(space, cluster)
    with hold([node], cluster, run_of("a"), purpose="maintenance", ttl=30) as locks:
        locks.check(node.name)
        found = lease(space, node)
        assert found["spec"]["holderIdentity"] == "a"
        assert found["spec"]["leaseDurationSeconds"] == 30
        assert found["spec"]["leaseTransitions"] == 1
        assert found["metadata"]["annotations"]["fleet.evenkeel.dev/lock-purpose"] == "maintenance"
        (reference,) = found["metadata"]["ownerReferences"]
        assert (reference["kind"], reference["uid"]) == ("Node", node.meta.uid)
    assert holder_of(space, node) is None
    with hold([node], cluster, run_of("b"), purpose="evict", ttl=30):
        assert lease(space, node)["spec"]["leaseTransitions"] == 2


def test_a_lease_goes_with_its_node(space: Space, cluster: Cluster) -> None:
    (node,) = nodes_of(space, cluster)
    with hold([node], cluster, run_of("a"), purpose="maintenance"):
        pass
    space.remove_node(node.name)
    path = f"{LEASE_PATH}/{lease_name(node.name)}"
    space.wait(lambda: space.api.find(path) is None, "the garbage collector removes the Lease")


def test_it_is_renewed_in_the_background_and_check_asks_nobody(
    space: Space, cluster: Cluster
) -> None:
    nodes = nodes_of(space, cluster, 3)
    with hold(nodes, cluster, run_of("a"), purpose="maintenance", ttl=1) as locks:
        time.sleep(2.5)
        assert all(holder_of(space, node) == "a" for node in nodes)
        renewals = space.writes()
        mark = space.audit.mark()
        for node in nodes:
            locks.check(node.name)
        assert len([each for each in space.requests(since=mark) if each.verb == "get"]) == 0
    assert len(renewals) >= 3 * 5


def test_c29_before_the_expiry_another_purpose_is_told_by_whom_and_until_when(
    space: Space, cluster: Cluster
) -> None:
    (node,) = nodes_of(space, cluster)
    with hold([node], cluster, run_of("a"), purpose="maintenance"):
        with pytest.raises(LockHeld) as refusal:
            hold([node], cluster, run_of("b"), purpose="evict").__enter__()
        left = parse_instant(refusal.value.until) - datetime.now(timezone.utc)
        assert refusal.value.holder == "a"
        assert 20 < left.total_seconds() <= 30
        assert holder_of(space, node) == "a"


def test_the_same_purpose_waits_tells_and_goes_on_when_the_lock_is_freed(
    space: Space, cluster: Cluster
) -> None:
    (node,) = nodes_of(space, cluster)
    first = hold([node], cluster, run_of("a"), purpose="maintenance")
    first.__enter__()
    listener = Listener()
    free = threading.Timer(1.5, lambda: first.__exit__(None, None, None))
    free.start()
    began = time.monotonic()
    with hold([node], cluster, run_of("b", progress=listener), purpose="maintenance"):
        assert 1.4 < time.monotonic() - began < 6
        assert holder_of(space, node) == "b"
    free.join()
    assert any(text.startswith("held by a until ") for text in listener.texts())


def test_a_wait_for_the_same_purpose_ends_at_its_timeout(space: Space, cluster: Cluster) -> None:
    (node,) = nodes_of(space, cluster)
    with hold([node], cluster, run_of("a"), purpose="maintenance"):
        with pytest.raises(LockHeld):
            hold([node], cluster, run_of("b"), purpose="maintenance", join_timeout=1).__enter__()


def test_an_interrupted_wait_ends_within_seconds_and_leaves_nothing_held(
    space: Space, cluster: Cluster
) -> None:
    first, second = nodes_of(space, cluster, 2)
    with hold([second], cluster, run_of("a"), purpose="maintenance"):
        began = time.monotonic()

        def cause() -> str:
            return "SIGTERM" if time.monotonic() - began > 1 else ""

        with pytest.raises(Interrupted):
            hold(
                [first, second], cluster, run_of("b", interruption=cause), purpose="maintenance"
            ).__enter__()
        assert time.monotonic() - began < 4
        assert holder_of(space, first) is None


def test_what_was_taken_is_freed_when_a_later_node_is_held_by_another(
    space: Space, cluster: Cluster
) -> None:
    first, second = nodes_of(space, cluster, 2)
    with hold([second], cluster, run_of("a"), purpose="evict"):
        with pytest.raises(LockHeld):
            hold([first, second], cluster, run_of("b"), purpose="maintenance").__enter__()
    assert holder_of(space, first) is None


def test_a_lock_is_freed_when_the_work_ends_by_an_error(space: Space, cluster: Cluster) -> None:
    (node,) = nodes_of(space, cluster)
    with pytest.raises(Interrupted):
        with hold([node], cluster, run_of("a"), purpose="maintenance"):
            raise Interrupted("SIGTERM")
    assert holder_of(space, node) is None


def test_c23_a_holder_that_was_killed_here_loses_the_node_at_once(
    space: Space, cluster: Cluster, start: Any
) -> None:
    (node,) = nodes_of(space, cluster)
    runner = start([node], ttl=600)
    assert runner.hear() == "holding"
    runner.process.kill()
    runner.process.wait()
    began = time.monotonic()
    with hold([node], cluster, run_of("b"), purpose="evict") as locks:
        locks.check(node.name)
        assert time.monotonic() - began < 3
        assert lease(space, node)["spec"]["leaseTransitions"] == 2


def test_c23_a_holder_of_another_machine_that_is_gone_loses_the_node_after_its_ttl(
    space: Space, cluster: Cluster
) -> None:
    (node,) = nodes_of(space, cluster)
    with hold([node], cluster, run_of("gone@elsewhere:1:1"), purpose="maintenance", ttl=2):
        pass
    # What that runner left when its machine was switched off.
    left = {
        "holderIdentity": "gone@elsewhere:1:1",
        "renewTime": format_micro_instant(datetime.now(timezone.utc)),
    }
    space.api.patch(f"{LEASE_PATH}/{lease_name(node.name)}", {"spec": left})
    began = time.monotonic()
    with hold([node], cluster, run_of("b"), purpose="maintenance", ttl=2):
        assert 1.5 < time.monotonic() - began < 6


def test_c29_a_runner_that_was_silent_past_its_ttl_is_stopped_by_name_of_its_successor(
    space: Space, cluster: Cluster, start: Any
) -> None:
    nodes = nodes_of(space, cluster, 2)
    runner = start(nodes, ttl=2)
    assert runner.hear() == "holding"
    assert runner.ask(f"check {nodes[0].name}") == "ok"
    runner.process.send_signal(signal.SIGSTOP)
    with pytest.raises(LockHeld):
        hold(nodes, cluster, run_of("b"), purpose="evict").__enter__()
    with hold(nodes, cluster, run_of("b"), purpose="maintenance", ttl=5) as locks:
        runner.process.send_signal(signal.SIGCONT)
        for node in nodes:
            answer = runner.ask(f"check {node.name}")
            assert answer.startswith(f"lock_lost: Node {node.name} was taken over by b ")
            locks.check(node.name)
        # Its end does not free what is not its own any more.
        runner.say("end")
        runner.process.wait(timeout=20)
        assert [holder_of(space, node) for node in nodes] == ["b", "b"]


def test_a_runner_that_was_silent_but_not_replaced_goes_on(
    space: Space, cluster: Cluster, start: Any
) -> None:
    (node,) = nodes_of(space, cluster)
    runner = start([node], ttl=1)
    assert runner.hear() == "holding"
    runner.process.send_signal(signal.SIGSTOP)
    time.sleep(2)
    runner.process.send_signal(signal.SIGCONT)
    assert runner.ask(f"check {node.name}") == "ok"
    assert holder_of(space, node) == runner.holder


def test_two_processes_that_contend_never_hold_a_node_at_once(
    space: Space, cluster: Cluster, start: Any
) -> None:
    nodes = nodes_of(space, cluster, 2)
    first = start(nodes, ttl=30)
    assert first.hear() == "holding"
    second = start(list(reversed(nodes)), ttl=30)
    time.sleep(1)
    assert [holder_of(space, node) for node in nodes] == [first.holder] * 2
    first.say("end")
    assert second.hear() == "holding"
    assert [holder_of(space, node) for node in nodes] == [second.holder] * 2
    assert first.process.wait(timeout=20) == 0


def test_threads_that_contend_take_turns(space: Space, cluster: Cluster) -> None:
    nodes = nodes_of(space, cluster, 2)
    inside: list[str] = []
    seen: list[int] = []

    def work(name: str) -> None:
        for _round in range(3):
            with hold(nodes, cluster, run_of(name), purpose="maintenance") as locks:
                inside.append(name)
                locks.check(nodes[0].name)
                seen.append(len(inside))
                inside.remove(name)

    threads = [threading.Thread(target=work, args=(name,)) for name in ("a", "b", "c")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert seen == [1] * 9
    assert lease(space, nodes[0])["spec"]["leaseTransitions"] == 9


class SlowClock(SystemClock):
    """The wall clock of a machine that is an hour behind."""

    def now(self) -> datetime:
        return super().now() - timedelta(hours=1)


def test_a_holder_whose_clock_is_an_hour_behind_is_not_robbed(
    space: Space, cluster: Cluster
) -> None:
    (node,) = nodes_of(space, cluster)
    behind = Run(holder="a", clock=SlowClock())
    with hold([node], cluster, behind, purpose="maintenance", ttl=3) as locks:
        with pytest.raises(LockHeld) as refusal:
            hold([node], cluster, run_of("b"), purpose="evict", ttl=3).__enter__()
        assert refusal.value.holder == "a"
        locks.check(node.name)


class Cut:
    """A cluster whose writes fail while `cut` is set."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.cut = threading.Event()

    def patch(self, *arguments: Any, **named: Any) -> Any:
        if self.cut.is_set():
            raise Unreachable("The API server did not answer.")
        return self._cluster.patch(*arguments, **named)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cluster, name)


def test_without_a_connection_it_acts_until_its_claim_ends_and_goes_on_once_renewed(
    space: Space, cluster: Cluster
) -> None:
    (node,) = nodes_of(space, cluster)
    cut: Any = Cut(cluster)
    with hold([node], cut, run_of("a"), purpose="maintenance", ttl=3) as locks:
        cut.cut.set()
        locks.check(node.name)
        time.sleep(3)
        with pytest.raises(Unreachable):
            locks.check(node.name)
        cut.cut.clear()
        locks.check(node.name)
        assert holder_of(space, node) == "a"


def test_a_lock_that_cannot_be_freed_raises_nothing_and_is_told(
    space: Space, cluster: Cluster
) -> None:
    (node,) = nodes_of(space, cluster)
    cut: Any = Cut(cluster)
    listener = Listener()
    with hold([node], cut, run_of("a", progress=listener), purpose="maintenance", ttl=3):
        cut.cut.set()
    assert listener.texts()[-1].startswith("its lock could not be freed and runs out in 3 s")


def test_a_lease_that_somebody_deleted_is_made_again(space: Space, cluster: Cluster) -> None:
    (node,) = nodes_of(space, cluster)
    with hold([node], cluster, run_of("a"), purpose="maintenance", ttl=1) as locks:
        space.api.delete(f"{LEASE_PATH}/{lease_name(node.name)}")
        space.wait(lambda: holder_of(space, node) == "a", "the Lease is made again", 3)
        time.sleep(1)
        locks.check(node.name)
    assert holder_of(space, node) is None


def test_a_lease_that_somebody_deleted_and_took_is_lost(space: Space, cluster: Cluster) -> None:
    (node,) = nodes_of(space, cluster)
    with hold([node], cluster, run_of("a"), purpose="maintenance", ttl=2) as locks:
        space.api.delete(f"{LEASE_PATH}/{lease_name(node.name)}")
        with hold([node], cluster, run_of("b"), purpose="evict", ttl=30):
            time.sleep(2)
            with pytest.raises(LockLost) as lost:
                locks.check(node.name)
            assert lost.value.holder == "b"


def test_a_node_of_the_same_name_that_replaced_another_gets_the_lease(
    space: Space, cluster: Cluster
) -> None:
    (node,) = nodes_of(space, cluster)
    # What the first node left, as long as the garbage collector has not come by.
    space.api.create(LEASE_PATH, {"metadata": {"name": lease_name(node.name)}, "spec": {}})
    with hold([node], cluster, run_of("a"), purpose="maintenance"):
        (reference,) = lease(space, node)["metadata"]["ownerReferences"]
        assert reference["uid"] == node.meta.uid


def test_the_longest_node_name_has_a_lease(space: Space, cluster: Cluster) -> None:
    name = ".".join([f"{space.id}{'a' * 57}"] * 3 + ["b" * 61])
    assert len(name) == 253
    space.add("/api/v1/nodes", {"metadata": {"name": name}})
    node = cluster.get(NODES, name)
    with hold([node], cluster, run_of("a"), purpose="maintenance") as locks:
        locks.check(name)
        assert holder_of(space, node) == "a"


def test_check_mode_takes_nothing_and_tells_who_would_refuse(
    space: Space, cluster: Cluster
) -> None:
    (node,) = nodes_of(space, cluster)
    mark = space.audit.mark()
    with hold([node], cluster, run_of("b", check_mode=True), purpose="evict") as locks:
        locks.check(node.name)
    assert space.writes(since=mark) == []
    with hold([node], cluster, run_of("a"), purpose="maintenance"):
        with pytest.raises(LockHeld):
            hold([node], cluster, run_of("b", check_mode=True), purpose="evict").__enter__()
        with hold([node], cluster, run_of("b", check_mode=True), purpose="maintenance"):
            pass


@pytest.mark.parametrize("check_mode", [False, True], ids=["real", "check-mode"])
def test_a_missing_namespace_is_named_before_any_write(
    space: Space, cluster: Cluster, check_mode: bool
) -> None:
    (node,) = nodes_of(space, cluster)
    run = run_of("a", state_namespace=f"{space.id}-missing", check_mode=check_mode)
    with pytest.raises(Refused) as refusal:
        hold([node], cluster, run, purpose="maintenance").__enter__()
    assert refusal.value.code == "no_state_namespace"


@pytest.mark.parametrize("missing", ["get", "create", "patch"])
def test_a_missing_verb_is_named_before_any_write(
    space: Space, tmp_path: Path, missing: str
) -> None:
    (name,) = space.nodes(1)
    verbs = ", ".join({"get", "create", "patch"} - {missing})
    roles = tmp_path / "roles.yml"
    roles.write_text(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: partly}\n"
        "rules:\n"
        '- {apiGroups: [""], resources: [nodes], verbs: [get]}\n'
        f"- {{apiGroups: [coordination.k8s.io], resources: [leases], verbs: [{verbs}]}}\n",
        encoding="utf-8",
    )
    with cluster_of(space, "partly", roles=roles) as partly:
        node = partly.get(NODES, name)
        with pytest.raises(Forbidden) as refusal:
            hold([node], partly, run_of("a"), purpose="maintenance").__enter__()
    assert (refusal.value.verb, refusal.value.resource) == (missing, "leases")
    assert space.writes("partly") == []
