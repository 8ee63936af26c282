# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Random clusters for the scheduler: nodes, volumes, running pods and pods that look for a node.

Few values of everything (two zones, two apps, three namespaces), so that rules meet: what is drawn
at random from many values never conflicts with anything.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

Document = dict[str, Any]

HOSTNAME, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
OLD_ZONE = "failure-domain.beta.kubernetes.io/zone"
NAMESPACES = {"east": {"team": "a"}, "west": {"team": "b"}, "north": {"team": "a", "tier": "x"}}
GPU, DRIVER = "example.com/gpu", "disk.example.com"
KEYS = (ZONE, HOSTNAME, "rack", "kind")
ENDING, FINISHED = 3, 2


@dataclass
class World:
    """Raw objects as they are to be created; pods know their namespace.

    Of the running pods the first ENDING end, and the next FINISHED have finished.
    """

    nodes: list[Document] = field(default_factory=list)
    classes: list[Document] = field(default_factory=list)
    volumes: list[Document] = field(default_factory=list)
    claims: list[Document] = field(default_factory=list)
    csi_nodes: list[Document] = field(default_factory=list)
    csi_drivers: list[Document] = field(default_factory=list)
    attachments: list[Document] = field(default_factory=list)
    running: list[Document] = field(default_factory=list)
    candidates: list[Document] = field(default_factory=list)


def random_world(random: Random, nodes: int, running: int, candidates: int) -> World:
    world = World()
    world.nodes = [_node(random, f"n{number:02}") for number in range(nodes)]
    names = [node["metadata"]["name"] for node in world.nodes]
    _add_storage(random, world, names)
    taken: set[tuple[object, ...]] = set()
    for number in range(running):
        pod = random_pod(random, f"r{number:03}", world, names)
        pod["spec"].pop("schedulingGates", None)
        if _maybe(random, 0.4):
            # Each term of a running pod keeps many others off: a few are enough.
            pod["spec"].get("affinity", {}).pop("podAntiAffinity", None)
        pod["spec"]["nodeName"] = random.choice(names)
        _free_ports(pod, taken)
        world.running.append(pod)
    world.candidates = [
        random_pod(random, f"c{number:03}", world, names) for number in range(candidates)
    ]
    return world


def _free_ports(pod: Document, taken: set[tuple[object, ...]]) -> None:
    """No two pods of a node have the same host port: scheduling never makes that, and when one of
    two goes the scheduler forgets the port of both."""
    for container in (*pod["spec"].get("initContainers", ()), *pod["spec"]["containers"]):
        kept = []
        for port in container.get("ports", ()):
            address = port.get("hostIP") or "0.0.0.0"
            protocol = port.get("protocol") or "TCP"
            key = (pod["spec"]["nodeName"], address, protocol, port["hostPort"])
            if key not in taken:
                taken.add(key)
                kept.append(port)
        if "ports" in container:
            container["ports"] = kept


def _maybe(random: Random, probability: float) -> bool:
    return random.random() < probability


def _node(random: Random, name: str) -> Document:
    labels = {HOSTNAME: name, "kind": random.choice(["big", "small"])}
    if _maybe(random, 0.85):
        labels[ZONE] = random.choice(["z1", "z2", "z3"])
    if _maybe(random, 0.2):
        labels[OLD_ZONE] = random.choice(["z1", "z2"])
    if _maybe(random, 0.6):
        labels["rack"] = random.choice(["1", "2", "10", "7", "x"])
    if _maybe(random, 0.1):
        del labels[HOSTNAME]
    spec: Document = {"unschedulable": True} if _maybe(random, 0.12) else {}
    if _maybe(random, 0.3):
        spec["taints"] = [_taint(random, key) for key in random.sample(["a", "b"], 1)]
    allocatable = {
        "cpu": random.choice(["0", "500m", "1", "2", "4"]),
        "memory": random.choice(["512Mi", "1Gi", "4Gi"]),
        "pods": random.choice(["3", "5", "20"]),
    }
    if _maybe(random, 0.7):
        allocatable["ephemeral-storage"] = random.choice(["1Gi", "4Gi"])
    if _maybe(random, 0.4):
        allocatable[GPU] = random.choice(["0", "1", "2"])
    status: Document = {"allocatable": allocatable, "capacity": allocatable}
    if _maybe(random, 0.05):
        status = {}
    return {"metadata": {"name": name, "labels": labels}, "spec": spec, "status": status}


def _taint(random: Random, key: str) -> Document:
    effect = random.choice(["NoSchedule", "NoExecute", "PreferNoSchedule"])
    return {"key": key, "value": random.choice(["1", "2", ""]), "effect": effect}


def _add_storage(random: Random, world: World, names: list[str]) -> None:
    waits = {"volumeBindingMode": "WaitForFirstConsumer"}
    zones = [{"matchLabelExpressions": [{"key": ZONE, "values": ["z1", "z2"]}]}]
    world.classes = [
        {"metadata": {"name": "local"}, "provisioner": "kubernetes.io/no-provisioner", **waits},
        {"metadata": {"name": "disk"}, "provisioner": DRIVER, **waits},
        {"metadata": {"name": "zoned"}, "provisioner": DRIVER, "allowedTopologies": zones, **waits},
        {"metadata": {"name": "now"}, "provisioner": DRIVER, "volumeBindingMode": "Immediate"},
    ]
    required = _maybe(random, 0.5)
    world.csi_drivers = [
        {
            "metadata": {"name": DRIVER},
            "spec": {"attachRequired": True, "preventPodSchedulingIfMissing": required},
        }
    ]
    for name in names:
        if _maybe(random, 0.85):
            driver: Document = {"name": DRIVER, "nodeID": name, "topologyKeys": []}
            if _maybe(random, 0.8):
                driver["allocatable"] = {"count": random.choice([1, 2, 3])}
            world.csi_nodes.append({"metadata": {"name": name}, "spec": {"drivers": [driver]}})
    for number in range(8):
        _add_bound_claim(random, world, f"b{number}", names)
    for number in range(4):
        world.volumes.append(_volume(random, f"free{number}", "local", names, local=True))
    for namespace in NAMESPACES:
        for number in range(4):
            world.claims.append(_claim(random, f"u{number}", namespace))
    for number in range(2):
        bound = random.choice([one for one in world.volumes if "csi" in one["spec"]])
        world.attachments.append(
            {
                "metadata": {"name": f"attached{number}"},
                "spec": {
                    "attacher": DRIVER,
                    "nodeName": random.choice(names),
                    "source": {"persistentVolumeName": bound["metadata"]["name"]},
                },
            }
        )


def _volume(random: Random, name: str, kind: str, names: list[str], local: bool) -> Document:
    source: Document = {"csi": {"driver": DRIVER, "volumeHandle": f"handle-{name}"}}
    affinity: list[Document] = []
    labels: Document = {}
    if local:
        source = {"local": {"path": "/disk"}}
        affinity = [{"key": HOSTNAME, "operator": "In", "values": random.sample(names, 3)}]
    elif _maybe(random, 0.4):
        affinity = [{"key": ZONE, "operator": "In", "values": [random.choice(["z1", "z2"])]}]
    elif _maybe(random, 0.5):
        labels = {random.choice([ZONE, OLD_ZONE]): random.choice(["z1", "z2", "z1__z3"])}
    spec: Document = {
        **source,
        "capacity": {"storage": random.choice(["1Gi", "2Gi", "5Gi"])},
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": kind,
    }
    if affinity:
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": affinity}]}}
    return {
        "metadata": {"name": name, "labels": labels},
        "spec": spec,
        "status": {"phase": "Available"},
    }


def _add_bound_claim(random: Random, world: World, name: str, names: list[str]) -> None:
    local = _maybe(random, 0.25)
    volume = _volume(random, f"pv-{name}", "local" if local else "disk", names, local)
    modes = [random.choice(["ReadWriteOnce", "ReadWriteOncePod"])]
    namespace = random.choice(list(NAMESPACES))
    volume["spec"]["accessModes"] = modes
    volume["spec"]["claimRef"] = {"namespace": namespace, "name": name}
    volume["status"] = {"phase": "Bound"}
    world.volumes.append(volume)
    world.claims.append(
        {
            "metadata": {
                "name": name,
                "namespace": namespace,
                "annotations": {"pv.kubernetes.io/bind-completed": "yes"},
            },
            "spec": {
                "accessModes": modes,
                "resources": {"requests": {"storage": "1Gi"}},
                "storageClassName": volume["spec"]["storageClassName"],
                "volumeName": volume["metadata"]["name"],
            },
            "status": {"phase": "Bound"},
        }
    )


def _claim(random: Random, name: str, namespace: str) -> Document:
    size = random.choice(["1Gi", "2Gi", "4Gi"])
    return {
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": size}},
            "storageClassName": random.choice(["local", "disk", "zoned", "now", "missing"]),
        },
        "status": {"phase": "Pending"},
    }


def random_pod(random: Random, name: str, world: World, names: list[str]) -> Document:
    """One to three wishes: a pod that has them all fits nowhere, and tells little."""
    namespace = random.choice(list(NAMESPACES))
    labels = {"app": random.choice(["web", "db"])}
    if _maybe(random, 0.7):
        labels["v"] = random.choice(["1", "2"])
    pod: Document = {
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {"containers": [{"name": "main", "image": "none"}]},
    }
    wishes = random.sample(WISHES, random.choice([1, 1, 2, 2, 3]))
    for wish in wishes:
        wish(random, pod, world, names)
    if _maybe(random, 0.5):
        _tolerations(random, pod, world, names)
    return pod


def _requests(random: Random, pod: Document, world: World, names: list[str]) -> None:
    choices = {
        "cpu": ["0", "100m", "400m", "1", "1500m"],
        "memory": ["0", "64Mi", "500Mi", "1Gi"],
        "ephemeral-storage": ["100Mi", "1Gi", "2Gi"],
        GPU: ["1", "2"],
    }
    asked = {name: random.choice(choices[name]) for name in random.sample(list(choices), 2)}
    resources = {"requests": asked, "limits": {GPU: asked[GPU]} if GPU in asked else {}}
    pod["spec"]["containers"][0]["resources"] = resources
    if _maybe(random, 0.3):
        policy = {"restartPolicy": "Always"} if _maybe(random, 0.5) else {}
        init = {"name": "init", "image": "none", "resources": {"requests": {"cpu": "700m"}}}
        pod["spec"]["initContainers"] = [{**init, **policy}]


def _node_selector(random: Random, pod: Document, world: World, names: list[str]) -> None:
    pairs = [("kind", "big"), ("kind", "small"), (ZONE, "z1"), (ZONE, "z2"), ("rack", "1")]
    pod["spec"]["nodeSelector"] = dict(random.sample(pairs, random.choice([1, 1, 2])))


def _node_affinity(random: Random, pod: Document, world: World, names: list[str]) -> None:
    terms: list[Document] = []
    for _unused in range(random.choice([1, 1, 2])):
        term: Document = {}
        if _maybe(random, 0.8):
            term["matchExpressions"] = [
                _node_requirement(random) for _again in range(random.choice([1, 2]))
            ]
        if _maybe(random, 0.25):
            operator = random.choice(["In", "NotIn"])
            named = {"key": "metadata.name", "operator": operator, "values": [random.choice(names)]}
            term["matchFields"] = [named]
        terms.append(term)
    required = {"nodeSelectorTerms": terms}
    node_affinity = {"requiredDuringSchedulingIgnoredDuringExecution": required}
    pod["spec"].setdefault("affinity", {})["nodeAffinity"] = node_affinity


def _node_requirement(random: Random) -> Document:
    operator = random.choice(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"])
    if operator in ("Gt", "Lt"):
        return {"key": "rack", "operator": operator, "values": [random.choice(["1", "2", "9"])]}
    key = random.choice([ZONE, "rack", "kind"])
    if operator in ("Exists", "DoesNotExist"):
        return {"key": key, "operator": operator}
    values = {ZONE: ["z1", "z2", "z3"], "rack": ["1", "2", "x"], "kind": ["big", "small"]}[key]
    return {
        "key": key,
        "operator": operator,
        "values": random.sample(values, random.choice([1, 2])),
    }


def _tolerations(random: Random, pod: Document, world: World, names: list[str]) -> None:
    pod["spec"]["tolerations"] = [_toleration(random) for _unused in range(random.choice([1, 2]))]


def _toleration(random: Random) -> Document:
    effect = random.choice(["", "NoSchedule", "NoExecute"])
    if _maybe(random, 0.2):
        return {"operator": "Exists", "effect": effect}
    if _maybe(random, 0.2):
        return {"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": effect}
    key = random.choice(["a", "b"])
    if _maybe(random, 0.3):
        return {"key": key, "operator": "Exists", "effect": effect}
    return {"key": key, "value": random.choice(["1", "2", ""]), "effect": effect}


def _ports(random: Random, pod: Document, world: World, names: list[str]) -> None:
    ports = []
    for number, host in enumerate(random.sample([80, 81], random.choice([1, 2]))):
        port: Document = {"containerPort": 9000 + number, "hostPort": host}
        port["protocol"] = random.choice(["TCP", "TCP", "UDP"])
        if _maybe(random, 0.5):
            port["hostIP"] = random.choice(["10.0.0.1", "10.0.0.2", "0.0.0.0"])
        ports.append(port)
    pod["spec"]["containers"][0]["ports"] = ports
    if _maybe(random, 0.3):
        sidecar = {"name": "side", "image": "none", "ports": [{"containerPort": 1, "hostPort": 82}]}
        policy = {"restartPolicy": "Always"} if _maybe(random, 0.5) else {}
        pod["spec"]["initContainers"] = [{**sidecar, **policy}]


def _label_selector(random: Random) -> Document:
    if _maybe(random, 0.1):
        return {}
    if _maybe(random, 0.6):
        return {"matchLabels": {"app": random.choice(["web", "db"])}}
    operator = random.choice(["In", "NotIn", "Exists", "DoesNotExist"])
    values = {"values": [random.choice(["1", "2"])]} if operator in ("In", "NotIn") else {}
    return {"matchExpressions": [{"key": "v", "operator": operator, **values}]}


def _pod_term(random: Random) -> Document:
    term: Document = {"topologyKey": random.choice(KEYS)}
    if _maybe(random, 0.95):
        term["labelSelector"] = _label_selector(random)
        if _maybe(random, 0.2):
            term["matchLabelKeys"] = ["release"]
            if _maybe(random, 0.5):
                term = {**term, "matchLabelKeys": ["w"], "mismatchLabelKeys": ["x"]}
    if _maybe(random, 0.25):
        term["namespaces"] = random.sample(list(NAMESPACES), random.choice([1, 2]))
    if _maybe(random, 0.25):
        chosen: list[Document] = [
            {},
            {"matchLabels": {"team": "a"}},
            {"matchExpressions": [{"key": "tier", "operator": "Exists"}]},
        ]
        term["namespaceSelector"] = random.choice(chosen)
    return term


def _pod_affinity(random: Random, pod: Document, world: World, names: list[str]) -> None:
    _pod_terms(random, pod, "podAffinity", random.choice([1, 1, 2]))


def _pod_anti_affinity(random: Random, pod: Document, world: World, names: list[str]) -> None:
    _pod_terms(random, pod, "podAntiAffinity", random.choice([1, 1, 2]))


def _pod_terms(random: Random, pod: Document, kind: str, count: int) -> None:
    for key in ("release", "w", "x"):
        if _maybe(random, 0.6):
            pod["metadata"]["labels"][key] = random.choice(["1", "2"])
    terms = [_pod_term(random) for _unused in range(count)]
    affinity = pod["spec"].setdefault("affinity", {})
    affinity[kind] = {"requiredDuringSchedulingIgnoredDuringExecution": terms}


def _spread(random: Random, pod: Document, world: World, names: list[str]) -> None:
    constraints = []
    for key in random.sample(KEYS, random.choice([1, 1, 2])):
        constraint: Document = {
            "topologyKey": key,
            "maxSkew": random.choice([1, 1, 2, 3]),
            "whenUnsatisfiable": random.choice(["DoNotSchedule"] * 5 + ["ScheduleAnyway"]),
        }
        if _maybe(random, 0.95):
            constraint["labelSelector"] = _label_selector(random)
            if _maybe(random, 0.3):
                constraint["matchLabelKeys"] = ["release"]
        if _maybe(random, 0.4) and constraint["whenUnsatisfiable"] == "DoNotSchedule":
            constraint["minDomains"] = random.choice([1, 2, 3, 5])
        if _maybe(random, 0.4):
            constraint["nodeAffinityPolicy"] = random.choice(["Honor", "Ignore"])
        if _maybe(random, 0.4):
            constraint["nodeTaintsPolicy"] = random.choice(["Honor", "Ignore"])
        constraints.append(constraint)
    if _maybe(random, 0.6):
        pod["metadata"]["labels"]["release"] = random.choice(["1", "2"])
    pod["spec"]["topologySpreadConstraints"] = constraints
    if _maybe(random, 0.3):
        _node_selector(random, pod, world, names)


def _volumes(random: Random, pod: Document, world: World, names: list[str]) -> None:
    namespace = pod["metadata"]["namespace"]
    known = [c["metadata"]["name"] for c in world.claims if c["metadata"]["namespace"] == namespace]
    chosen = random.sample(known, min(len(known), random.choice([1, 1, 2])))
    if _maybe(random, 0.05):
        chosen.append("nowhere")
    pod["spec"]["volumes"] = [
        {"name": f"v{number}", "persistentVolumeClaim": {"claimName": name}}
        for number, name in enumerate(chosen)
    ]


def _gates(random: Random, pod: Document, world: World, names: list[str]) -> None:
    if _maybe(random, 0.3):
        pod["spec"]["schedulingGates"] = [{"name": "example.com/wait"}]


WISHES = [
    _requests, _node_selector, _node_affinity, _ports, _pod_affinity, _pod_anti_affinity, _spread,
    _volumes, _volumes, _gates, _spread, _requests, _ports, _pod_affinity,
]  # fmt: skip
