# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a pod asks of a node and of its neighbours: the part of its spec that the scheduler's
filters read.

It is kept beside model.Pod, not in it: a plain drain needs none of it, and a fleet has pods by the
ten thousand. Equal specs are equal values, so that pods can be grouped.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from typing import Any, Iterable, Mapping, NamedTuple, Optional, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import Taint
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node_terms import (
    NodeTerm,
    parse_int64,
    parse_node_terms,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.requests import (
    effective_requests,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.selector import (
    EQUALS,
    InvalidSelector,
    LabelSelector,
    Requirement,
    parse_label_selector,
)

# What a host port without hostIP stands for.
ANY_ADDRESS = "0.0.0.0"
HONOR = "Honor"

# A map as sorted pairs: it can be a part of a key.
Pairs = tuple[tuple[str, str], ...]

# Kinds of volumes of which a node allows only one user, or which a CSI driver took over: the rules
# of each are its own.
UNMODELLED_VOLUMES = (
    "awsElasticBlockStore", "azureDisk", "azureFile", "cinder", "gcePersistentDisk", "iscsi",
    "portworxVolume", "rbd", "vsphereVolume",
)  # fmt: skip


@dataclass(frozen=True)
class Toleration:
    """`key` "" tolerates every key, `effect` "" every effect; `operator` is the API's."""

    key: str
    operator: str
    value: str
    effect: str

    def tolerates(self, taint: Taint) -> bool:
        """Gt and Lt compare the taint's value with the toleration's.

        They are an alpha feature of 1.37 (TaintTolerationComparisonOperators): an API server
        without it refuses such a pod, so that one which is stored proves it to be on.
        """
        if self.effect not in ("", taint.effect) or self.key not in ("", taint.key):
            return False
        if self.operator in ("", "Equal"):
            return self.value == taint.value
        return self.operator == "Exists" or self._compares(taint.value)

    def _compares(self, value: str) -> bool:
        number, limit = parse_int64(value), parse_int64(self.value)
        if number is None or limit is None or self.operator not in ("Gt", "Lt"):
            return False
        return number > limit if self.operator == "Gt" else number < limit


@dataclass(frozen=True)
class HostPort:
    protocol: str
    address: str
    port: int

    def conflicts(self, other: HostPort) -> bool:
        """C36. The address that stands for all conflicts with every address."""
        if (self.protocol, self.port) != (other.protocol, other.port):
            return False
        return ANY_ADDRESS in (self.address, other.address) or self.address == other.address

    def __str__(self) -> str:
        return f"{self.protocol} {self.address}:{self.port}"


@dataclass(frozen=True)
class PodTerm:
    """A required term of pod affinity or anti-affinity.

    selector: None selects no pod. namespace_selector: None selects no namespace. The namespace of
    the pod itself is already in `namespaces` where the term names neither.
    """

    topology_key: str
    selector: Optional[LabelSelector]
    namespaces: tuple[str, ...]
    namespace_selector: Optional[LabelSelector]


@dataclass(frozen=True)
class SpreadConstraint:
    """A topology spread constraint with DoNotSchedule; matchLabelKeys are in the selector."""

    max_skew: int
    topology_key: str
    selector: Optional[LabelSelector]
    min_domains: int
    node_affinity_policy: str
    node_taints_policy: str


@dataclass(frozen=True)
class SchedulingSpec:
    """requests: positive amounts only, as Node.allocatable has them, by name.

    node_affinity: None when there is none; one of its terms must match.
    claims: names of its PersistentVolumeClaims; ephemeral_claims: of those that are made for this
    very pod. unmodelled: reasons why no verdict can say that it fits.
    """

    namespace: str
    labels: Pairs
    node_name: str = ""
    gates: tuple[str, ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    node_selector: Pairs = ()
    node_affinity: Optional[tuple[NodeTerm, ...]] = None
    requests: tuple[tuple[str, int], ...] = ()
    host_ports: tuple[HostPort, ...] = ()
    affinity: tuple[PodTerm, ...] = ()
    anti_affinity: tuple[PodTerm, ...] = ()
    spread: tuple[SpreadConstraint, ...] = ()
    claims: tuple[str, ...] = ()
    ephemeral_claims: tuple[str, ...] = ()
    unmodelled: tuple[str, ...] = ()

    def __hash__(self) -> int:
        """Worked out once: it goes deep, and every placed pod is looked up by it."""
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(tuple(getattr(self, field.name) for field in fields(self)))


def parse_scheduling(raw_pod: Mapping[str, Any], node_name: str = "") -> SchedulingSpec:
    """Returns the scheduling spec of a raw v1 Pod.

    spec.nodeName says where a pod is, not where it must be: a pod that replaces it is free. Give
    `node_name` where the template of its controller names a node.
    Raises ValueError for a request that is not a quantity.
    """
    return _built(_read(raw_pod, node_name))


class SchedulingParser:
    """Parses many pods: those that ask for the same share one spec, made once."""

    def __init__(self) -> None:
        self._known: dict[str, SchedulingSpec] = {}

    def parse(self, raw_pod: Mapping[str, Any], node_name: str = "") -> SchedulingSpec:
        """As parse_scheduling. Pods of one controller have their fields in one order."""
        read = _read(raw_pod, node_name)
        key = repr(read)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = _built(read)
        return found


class _Read(NamedTuple):
    """All of a raw pod that its spec is made of; `wishes` is raw, the rest is cheap to parse."""

    namespace: str
    labels: Mapping[str, str]
    node_name: str
    requests: tuple[tuple[str, int], ...]
    host_ports: tuple[HostPort, ...]
    claims: tuple[str, ...]
    ephemeral_claims: tuple[str, ...]
    unmodelled: list[str]
    wishes: Mapping[str, Any]


_WISHES = (
    "schedulingGates", "tolerations", "nodeSelector", "affinity", "topologySpreadConstraints"
)  # fmt: skip


def _read(raw_pod: Mapping[str, Any], node_name: str) -> _Read:
    meta, spec = raw_pod.get("metadata") or {}, raw_pod.get("spec") or {}
    claims, ephemeral = _claims(meta.get("name", ""), spec.get("volumes") or ())
    return _Read(
        namespace=meta.get("namespace") or "default",
        labels=meta.get("labels") or {},
        node_name=node_name,
        requests=_positive(tuple(effective_requests(raw_pod).items())),
        host_ports=_host_ports(spec),
        claims=claims,
        ephemeral_claims=ephemeral,
        unmodelled=_unmodelled(spec),
        wishes={name: spec[name] for name in _WISHES if name in spec},
    )


@lru_cache(maxsize=65536)
def _positive(requests: tuple[tuple[str, int], ...]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted((name, amount) for name, amount in requests if amount > 0))


def _built(read: _Read) -> SchedulingSpec:
    wishes, labels = read.wishes, read.labels
    affinity = wishes.get("affinity") or {}
    problems = _Problems(read.unmodelled)

    def terms(kind: str) -> tuple[PodTerm, ...]:
        return _pod_terms(affinity.get(kind), read.namespace, labels, problems)

    return SchedulingSpec(
        namespace=read.namespace,
        labels=_pairs(labels),
        node_name=read.node_name,
        gates=tuple(gate.get("name", "") for gate in wishes.get("schedulingGates") or ()),
        tolerations=tuple(_toleration(one) for one in wishes.get("tolerations") or ()),
        node_selector=_pairs(wishes.get("nodeSelector") or {}),
        node_affinity=_node_affinity(affinity.get("nodeAffinity") or {}),
        requests=read.requests,
        host_ports=read.host_ports,
        affinity=terms("podAffinity"),
        anti_affinity=terms("podAntiAffinity"),
        spread=_spread(wishes.get("topologySpreadConstraints") or (), labels, problems),
        claims=read.claims,
        ephemeral_claims=read.ephemeral_claims,
        unmodelled=tuple(problems.found),
    )


class _Problems:
    """Collects why a spec cannot be judged to the end."""

    def __init__(self, found: Iterable[str]) -> None:
        self.found = list(found)

    def selector(self, raw: Optional[Mapping[str, Any]]) -> Optional[LabelSelector]:
        if raw is None:
            return None
        try:
            return parse_label_selector(raw)
        except InvalidSelector as problem:
            self.found.append(f"it has a label selector that is not valid: {problem}")
            return None


def _pairs(mapping: Mapping[str, str]) -> Pairs:
    return tuple(sorted(mapping.items()))


def _toleration(raw: Mapping[str, Any]) -> Toleration:
    return Toleration(
        raw.get("key") or "",
        raw.get("operator") or "",
        raw.get("value") or "",
        raw.get("effect") or "",
    )


def _node_affinity(raw: Mapping[str, Any]) -> Optional[tuple[NodeTerm, ...]]:
    required = raw.get("requiredDuringSchedulingIgnoredDuringExecution")
    return None if required is None else parse_node_terms(required)


def _host_ports(spec: Mapping[str, Any]) -> tuple[HostPort, ...]:
    """Of containers and of sidecars: other init containers have ended before the ports matter."""
    containers = list(spec.get("containers") or ())
    if spec.get("initContainers"):
        containers += [
            one for one in spec["initContainers"] if one.get("restartPolicy") == "Always"
        ]
    ports = {
        HostPort(
            port.get("protocol") or "TCP", port.get("hostIP") or ANY_ADDRESS, int(port["hostPort"])
        )
        for container in containers
        for port in container.get("ports") or ()
        if port.get("hostPort")
    }
    return tuple(sorted(ports, key=str))


def _pod_terms(
    raw: Optional[Mapping[str, Any]],
    namespace: str,
    labels: Mapping[str, str],
    problems: _Problems,
) -> tuple[PodTerm, ...]:
    required = (raw or {}).get("requiredDuringSchedulingIgnoredDuringExecution") or ()
    return tuple(_pod_term(term, namespace, labels, problems) for term in required)


def _pod_term(
    raw: Mapping[str, Any], namespace: str, labels: Mapping[str, str], problems: _Problems
) -> PodTerm:
    """The API server writes (mis)matchLabelKeys into the selector of the pods that it stores; for
    a pod that it has not seen yet that is done here, and twice does no harm."""
    selector = problems.selector(raw.get("labelSelector"))
    if selector is not None:
        wanted = [key for key in raw.get("matchLabelKeys") or () if key in labels]
        unwanted = [key for key in raw.get("mismatchLabelKeys") or () if key in labels]
        added = [Requirement(key, "in", (labels[key],)) for key in wanted]
        added += [Requirement(key, "notin", (labels[key],)) for key in unwanted]
        selector = _with(selector, added)
    namespaces = tuple(sorted(raw.get("namespaces") or ()))
    if not namespaces and raw.get("namespaceSelector") is None:
        namespaces = (namespace,)
    return PodTerm(
        raw.get("topologyKey", ""),
        selector,
        namespaces,
        problems.selector(raw.get("namespaceSelector")),
    )


def _spread(
    raw: Iterable[Mapping[str, Any]], labels: Mapping[str, str], problems: _Problems
) -> tuple[SpreadConstraint, ...]:
    found = []
    for one in raw:
        if one.get("whenUnsatisfiable") != "DoNotSchedule":
            continue
        selector = problems.selector(one.get("labelSelector"))
        if selector is not None:
            keys = [key for key in one.get("matchLabelKeys") or () if key in labels]
            selector = _with(selector, [Requirement(key, EQUALS, (labels[key],)) for key in keys])
        found.append(
            SpreadConstraint(
                max_skew=int(one.get("maxSkew", 1)),
                topology_key=one.get("topologyKey", ""),
                selector=selector,
                min_domains=int(one.get("minDomains") or 1),
                node_affinity_policy=one.get("nodeAffinityPolicy") or HONOR,
                node_taints_policy=one.get("nodeTaintsPolicy") or "Ignore",
            )
        )
    return tuple(found)


def _with(selector: LabelSelector, added: Sequence[Requirement]) -> LabelSelector:
    return LabelSelector(tuple(sorted({*selector.requirements, *added})))


def _claims(
    pod: str, volumes: Iterable[Mapping[str, Any]]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    claims, ephemeral = [], []
    for volume in volumes:
        if volume.get("persistentVolumeClaim") is not None:
            claims.append(volume["persistentVolumeClaim"].get("claimName", ""))
        elif volume.get("ephemeral") is not None:
            ephemeral.append(f"{pod}-{volume.get('name', '')}")
    return tuple(sorted(set(claims))), tuple(sorted(set(ephemeral)))


def _unmodelled(spec: Mapping[str, Any]) -> list[str]:
    """What the scheduler also looks at: devices (DRA), pod groups, and features that a node
    declares (k8s.io/component-helpers/nodedeclaredfeatures, 1.37)."""
    containers = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    found = []
    if spec.get("resourceClaims"):
        found.append("it uses resource claims (dynamic resource allocation)")
    if spec.get("schedulingGroup") or spec.get("workloadRef"):
        found.append("it is scheduled together with a group of pods")
    if spec.get("hostNetwork") and spec.get("hostUsers") is False:
        found.append("it needs a node that declares user namespaces on the host's network")
    if any(_restarts_all(one) for one in containers):
        found.append("it needs a node that declares restarts of all containers")
    if any(m.get("bindMountOptions") for one in containers for m in one.get("volumeMounts") or ()):
        found.append("it needs a node that declares bind mount options")
    kinds = {kind for volume in spec.get("volumes") or () for kind in volume}
    found += [f"it has a volume of kind {kind}" for kind in UNMODELLED_VOLUMES if kind in kinds]
    return found


def _restarts_all(container: Mapping[str, Any]) -> bool:
    rules = container.get("restartPolicyRules") or ()
    return any(rule.get("action") == "RestartAllContainers" for rule in rules)
