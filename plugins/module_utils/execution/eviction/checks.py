# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What refuses the whole call before its first write."""

from __future__ import annotations

from typing import Any, Iterator, Optional, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.base import Cluster
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.options import (
    EvictOptions,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.snapshot import (
    Snapshot,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import (
    Forbidden,
    Refused,
    Superseded,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.fleet import Fleet
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import Node
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.resources import (
    DEPLOYMENTS,
    NODES,
    PODS,
    Resource,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.consent import (
    Consent,
    Verdict,
    judge,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.last_node import (
    last_node_reasons,
)


def check_nodes(options: EvictOptions, snapshot: Snapshot) -> None:
    """Raises Refused for nodes that may not be emptied, Superseded for a request withdrawn."""
    for node in snapshot.nodes:
        problem = lost_request(node, options)
        if problem:
            raise Superseded(node.name, problem)
    if not options.allow_last:
        _check_last(snapshot.fleet, snapshot.nodes)
    if options.fenced:
        _check_fenced(snapshot.nodes)


def lost_request(node: Node, options: EvictOptions) -> str:
    """Returns which annotation that the run rests on is gone or changed, "" when all stand."""
    for key, value in options.only_while.items():
        found = node.meta.annotations.get(key)
        if found != value:
            state = "is gone" if found is None else f"is now {found!r}"
            return f"annotation {key} {state}, and this run goes on only while it is {value!r}"
    return ""


def check_surge(options: EvictOptions, nodes: Sequence[Node], verdicts: Sequence[Verdict]) -> None:
    """A replacement that is started first must not land on the node that is being emptied."""
    if options.fragile != "surge":
        return
    surging = {verdict.pod.node for verdict in verdicts if verdict.fragile}
    for node in nodes:
        if node.name in surging and not node.unschedulable:
            raise Refused(
                f"Node {node.name}",
                "surge_not_cordoned",
                "it is open to new pods: a replacement could start on it.",
                "Cordon it first.",
            )


def check_access(options: EvictOptions, cluster: Cluster, namespaces: Sequence[str]) -> None:
    """Asks for the verbs that this call writes with; Forbidden names the first that is missing.

    Cluster-wide first, one question; then namespace by namespace, as grants may be made there.
    """
    for verb, resource, subresource, where in _needed(options, namespaces):
        if cluster.allowed(verb, resource, subresource=subresource):
            continue
        named = f"{resource.plural}/{subresource}" if subresource else resource.plural
        for namespace in where or ("",):
            if not namespace or not cluster.allowed(
                verb, resource, namespace=namespace, subresource=subresource
            ):
                place = f" in namespace {namespace}" if namespace else ""
                raise Forbidden(
                    f"This user may not {verb} {named}{place}.",
                    f'Grant {verb} on "{named}".',
                    verb=verb,
                    resource=named,
                )


def judge_pods(snapshot: Snapshot, consent: Consent) -> list[Verdict]:
    """The verdict on every pod of every node, by node and name."""
    return [
        judge(pod, snapshot.fleet, consent)
        for node in snapshot.nodes
        for pod in snapshot.fleet.pods_on(node.name)
    ]


_Need = tuple[str, Resource[Any], str, Sequence[str]]


def _needed(options: EvictOptions, namespaces: Sequence[str]) -> Iterator[_Need]:
    if options.disable_eviction:
        yield "delete", PODS, "", namespaces
    elif namespaces:
        yield "create", PODS, "eviction", namespaces
    if options.fragile == "surge":
        yield "patch", DEPLOYMENTS, "", namespaces
    if options.fenced:
        yield "patch", NODES, "", ()


def _check_last(fleet: Fleet, nodes: Sequence[Node]) -> None:
    reasons = last_node_reasons(fleet, nodes)
    if reasons:
        problem = " ".join(reason.sentence for reason in reasons)
        raise Refused("Cluster", reasons[0].code, problem, reasons[0].remedy)


def _check_fenced(nodes: Sequence[Node]) -> None:
    ready: Optional[Node] = next((node for node in nodes if node.is_ready), None)
    if ready is not None:
        raise Refused(
            f"Node {ready.name}",
            "node_is_ready",
            "it is Ready, so it is not switched off: its pods run, and removing them by force"
            " could leave two of each.",
            "Leave fenced out, or switch the machine off and wait until the node is NotReady.",
        )
