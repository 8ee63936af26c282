# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A node is empty when the disks of what left are gone from it too."""

from __future__ import annotations

from tests.unit.builders import budget, controller, node, pod
from tests.unit.execution.eviction.drained import Drained, attachment

N1 = node("n1", cordoned=True)
DB = controller("db", kind="StatefulSet", ordered=False)
OPEN = budget("all", selector={}, max_unavailable=9, allowed=9, healthy=9, expected=9)


def drained(*pods, attached=("pv-1",)):
    return Drained(
        N1,
        DB,
        OPEN,
        *pods,
        attachments=[attachment("n1", volume) for volume in attached],
        volumes={"shop/data": "pv-1"},
    )


def test_a_departed_pod_is_pending_until_its_volume_is_detached():
    drain = drained(pod("db-0", owner=DB, claims=("data",)))
    drain.acts()
    drain.leave("db-0").acts()
    assert not drain.finished
    assert drain.outcomes() == {"pending": {"db-0": "volume_attached"}}
    assert "VolumeAttachment csi-pv-1" in drain.line().text
    drain.vanished(attachment("n1", "pv-1")).acts()
    assert drain.finished
    assert drain.outcomes() == {"done": {"db-0": "evicted"}}


def test_a_volume_that_another_pod_of_the_node_uses_stays_rightly():
    daemons = controller("agent", kind="DaemonSet")
    drain = Drained(
        N1,
        DB,
        OPEN,
        daemons,
        pod("db-0", owner=DB, claims=("data",)),
        pod("agent-1", owner=daemons, claims=("data",)),
        attachments=[attachment("n1", "pv-1")],
        volumes={"shop/data": "pv-1"},
        ignore_daemonsets=True,
    )
    drain.acts()
    drain.leave("db-0").acts()
    assert drain.finished


def test_attachments_of_other_volumes_and_nodes_are_not_waited_for():
    drain = drained(pod("db-0", owner=DB, claims=("data",)), attached=("pv-7",))
    drain.seen(attachment("n2", "pv-1")).acts()
    drain.leave("db-0").acts()
    assert drain.finished
