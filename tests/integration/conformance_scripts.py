# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What is asked of both servers about objects: reading, writing, patching, deleting, rights."""

from __future__ import annotations

from tests.control_plane.api import (
    JSON_PATCH,
    MERGE_PATCH,
    STRATEGIC_MERGE_PATCH,
    Document,
)

from .conformance import NODES, Script, Side, pod, running

LEASES = "coordination.k8s.io/v1"
ANOTHER_UID = "00000000-0000-4000-8000-000000000000"
TEMPLATE: Document = {
    "metadata": {"labels": {"app": "set"}},
    "spec": {
        "automountServiceAccountToken": False,
        "containers": [{"name": "main", "image": "registry.test/main:1"}],
    },
}
SELECTOR: Document = {"matchLabels": {"app": "set"}}


# --- what is not there ---------------------------------------------------------------------

COLLECTIONS = (
    ("v1", "pods"),
    ("v1", "configmaps"),
    ("v1", "secrets"),
    ("v1", "events"),
    ("v1", "serviceaccounts"),
    ("v1", "persistentvolumeclaims"),
    ("v1", "replicationcontrollers"),
    ("apps/v1", "deployments"),
    ("apps/v1", "replicasets"),
    ("apps/v1", "statefulsets"),
    ("apps/v1", "daemonsets"),
    ("batch/v1", "jobs"),
    ("policy/v1", "poddisruptionbudgets"),
    ("autoscaling/v2", "horizontalpodautoscalers"),
    ("coordination.k8s.io/v1", "leases"),
    ("events.k8s.io/v1", "events"),
    ("rbac.authorization.k8s.io/v1", "roles"),
    ("rbac.authorization.k8s.io/v1", "rolebindings"),
)
CLUSTER_COLLECTIONS = (
    "/api/v1/nodes",
    "/api/v1/namespaces",
    "/api/v1/persistentvolumes",
    "/apis/storage.k8s.io/v1/storageclasses",
    "/apis/storage.k8s.io/v1/volumeattachments",
    "/apis/storage.k8s.io/v1/csinodes",
    "/apis/scheduling.k8s.io/v1/priorityclasses",
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
    "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
)


def objects_that_are_not_there(side: Side) -> None:
    paths = [side.path(version, plural) for version, plural in COLLECTIONS]
    for collection in (*paths, *CLUSTER_COLLECTIONS):
        side.get(f"{collection}/missing-{side.namespace}")
    side.delete(f"{side.pods}/missing")
    side.ask("PATCH", f"{side.pods}/missing", {"metadata": {}}, MERGE_PATCH)
    side.put(f"{side.pods}/missing", pod("missing"))
    side.get(f"{side.pods}/missing/status")


def paths_that_are_not_there(side: Side) -> None:
    side.get("/apis/nobody.test/v1/things")
    side.get(side.path("apps/v1", "pods"))
    side.get(f"{NODES}/{side.node}/nothing")


def empty_lists(side: Side) -> None:
    for version, plural in COLLECTIONS:
        side.get(side.path(version, plural), labelSelector="nobody=has-this")
    for collection in CLUSTER_COLLECTIONS:
        side.get(collection, labelSelector="nobody=has-this")


# --- creating ------------------------------------------------------------------------------


def creating_twice(side: Side) -> None:
    body = {"metadata": {"name": "one", "labels": {"a": "b"}}, "data": {"k": "v"}}
    path = side.path("v1", "configmaps")
    side.post(path, body)
    side.post(path, body)
    side.get(f"{path}/one")
    side.post(path, {**body, "metadata": {"name": "two"}}, dryRun="All")
    side.get(f"{path}/two")


def creating_what_cannot_be(side: Side) -> None:
    path = side.path("v1", "configmaps")
    for metadata in (
        {"name": "Wrong_Name"},
        {"name": "-a"},
        {"name": "a" * 254},
        {},
        {"name": "elsewhere", "namespace": "default"},
        {"name": "versioned", "resourceVersion": "7"},
        {"name": "labels", "labels": {"-k": "v"}},
        {"name": "values", "labels": {"k": "-v"}},
        {"name": "annotations", "annotations": {"a/b/c": "v"}},
    ):
        side.post(path, {"metadata": metadata})
    side.post("/api/v1/namespaces", {"metadata": {"name": "A"}})
    side.post("/api/v1/namespaces/not-there/configmaps", {"metadata": {"name": "a"}})
    other = {"kind": "Secret", "apiVersion": "v1", "metadata": {"name": "kind"}}
    side.refused("POST", path, other)


def creating_with_a_generated_name(side: Side) -> None:
    path = side.path("v1", "configmaps")
    made = side.api.create(path, {"metadata": {"generateName": "event-"}})
    assert len(made["metadata"]["name"]) == len("event-") + 5
    assert made["metadata"]["generateName"] == "event-"


def defaults_of_pods(side: Side) -> None:
    side.post(side.pods, pod("plain"))
    side.post(side.pods, pod("placed", node=side.node))
    container = {
        "name": "main",
        "image": "registry.test/main",
        "ports": [{"containerPort": 80}],
        "resources": {"limits": {"cpu": "1", "memory": "1Gi"}},
        "readinessProbe": {"tcpSocket": {"port": 80}},
    }
    volumes = [{"name": "scratch", "emptyDir": {}}, {"name": "c", "configMap": {"name": "c"}}]
    side.post(side.pods, pod("full", containers=[container], volumes=volumes))
    side.post(side.pods, pod("once", restartPolicy="Never", terminationGracePeriodSeconds=0))
    taint = [{"key": "node.kubernetes.io/unreachable", "operator": "Exists"}]
    side.post(side.pods, pod("tolerant", tolerations=taint))


def defaults_of_controllers(side: Side) -> None:
    side.post(side.path("apps/v1", "replicasets"), controller("none", replicas=0))
    stateful = controller("none", replicas=0, serviceName="none")
    side.post(side.path("apps/v1", "statefulsets"), stateful, dryRun="All")
    side.post(side.path("apps/v1", "deployments"), controller("none"), dryRun="All")
    recreate = controller("again", strategy={"type": "Recreate"})
    side.post(side.path("apps/v1", "deployments"), recreate, dryRun="All")
    side.post(side.path("apps/v1", "daemonsets"), controller("none"), dryRun="All")


def defaults_of_the_rest(side: Side) -> None:
    budget = {"metadata": {"name": "b"}, "spec": {"minAvailable": 1, "selector": SELECTOR}}
    side.post(side.path("policy/v1", "poddisruptionbudgets"), budget, dryRun="All")
    claim = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
    }
    path = side.path("v1", "persistentvolumeclaims")
    side.post(path, {"metadata": {"name": "c"}, "spec": claim}, dryRun="All")
    volume = {
        "accessModes": ["ReadWriteOnce"],
        "capacity": {"storage": "1Gi"},
        "csi": {"driver": "d.test", "volumeHandle": "h"},
    }
    name = {"name": f"v-{side.namespace}"}
    side.post("/api/v1/persistentvolumes", {"metadata": name, "spec": volume}, dryRun="All")
    path = "/apis/storage.k8s.io/v1/storageclasses"
    side.post(path, {"metadata": name, "provisioner": "d.test"}, dryRun="All")
    side.post(NODES, {"metadata": name}, dryRun="All")
    side.post("/api/v1/namespaces", {"metadata": name}, dryRun="All")
    side.post(side.path(LEASES, "leases"), lease("l"))
    side.post(side.path("v1", "events"), event("e.1"))
    side.post(side.path("v1", "events"), event("e.2", side.namespace))
    side.post(side.path("v1", "secrets"), {"metadata": {"name": "s"}, "stringData": {"a": "b"}})
    side.post(side.path("v1", "serviceaccounts"), {"metadata": {"name": "robot"}})


def controller(name: str, **spec: object) -> Document:
    return {
        "metadata": {"name": name},
        "spec": {"selector": SELECTOR, "template": TEMPLATE, **spec},
    }


def lease(name: str, holder: str = "me") -> Document:
    return {
        "metadata": {"name": name},
        "spec": {
            "holderIdentity": holder,
            "leaseDurationSeconds": 30,
            "acquireTime": "2026-01-01T00:00:00.000000Z",
            "renewTime": "2026-01-01T00:00:00.000000Z",
            "leaseTransitions": 1,
        },
    }


def event(name: str, namespace: str = "") -> Document:
    place = {"namespace": namespace} if namespace else {}
    return {
        "metadata": {"name": name},
        "involvedObject": {"kind": "Node", "name": "n1", "apiVersion": "v1", **place},
        "reason": "Tried",
        "message": "it was tried",
        "type": "Normal",
        "source": {"component": "test"},
        "firstTimestamp": "2026-01-01T00:00:00Z",
        "lastTimestamp": "2026-01-01T00:00:00Z",
        "count": 1,
    }


# --- changing ------------------------------------------------------------------------------


def replacing(side: Side) -> None:
    path = side.path("v1", "configmaps")
    found = side.post(path, {"metadata": {"name": "one"}, "data": {"k": "1"}})
    one = f"{path}/one"
    newer = side.put(one, {**found, "data": {"k": "2"}})
    side.put(one, {**found, "data": {"k": "3"}})
    same = side.put(one, newer)
    assert same["metadata"]["resourceVersion"] == newer["metadata"]["resourceVersion"]
    side.put(one, {"metadata": {"name": "one"}, "data": {"k": "4"}})
    side.put(one, {"metadata": {"name": "other"}, "data": {}})
    side.put(one, {"metadata": {"name": "one", "uid": ANOTHER_UID}})
    side.put(one, {"metadata": {"name": "one"}, "data": {"k": "5"}}, dryRun="All")
    side.get(one)


def replacing_a_lease(side: Side) -> None:
    path = side.path(LEASES, "leases")
    found = side.post(path, lease("lock"))
    side.put(f"{path}/lock", lease("lock", "you"))
    side.put(f"{path}/lock", {**found, "spec": lease("lock", "you")["spec"]})
    side.put(f"{path}/lock", found)


def replacing_parts_of_the_status(side: Side) -> None:
    made = side.post(side.pods, pod("a", node=side.node))
    path = f"{side.pods}/a"
    found = side.put(f"{path}/status", {**made, **running()})
    side.put(path, {**found, "status": {"phase": "Failed"}})
    labelled = {**found["metadata"], "labels": {"app": "api"}}
    side.put(f"{path}/status", {**found, "metadata": {**labelled, "resourceVersion": ""}})
    side.get(f"{path}/status")


def changing_what_cannot_be(side: Side) -> None:
    side.post(side.pods, pod("a", node=side.node))
    path = f"{side.pods}/a"
    side.refused("PATCH", path, {"spec": {"nodeName": "elsewhere"}}, MERGE_PATCH)
    sets = side.path("apps/v1", "replicasets")
    side.post(sets, controller("web", replicas=0))
    merge(side, f"{sets}/web", {"spec": {"selector": {"matchLabels": {"app": "other"}}}})
    merge(side, f"{sets}/web", {"spec": {"replicas": -1}})


def merge(side: Side, path: str, patch: object, **query: str) -> Document:
    return side.ask("PATCH", path, patch, MERGE_PATCH, **query)


def steps(side: Side, path: str, *operations: Document, **query: str) -> Document:
    return side.ask("PATCH", path, list(operations), JSON_PATCH, **query)


def strategic(side: Side, path: str, patch: object, **query: str) -> Document:
    return side.ask("PATCH", path, patch, STRATEGIC_MERGE_PATCH, **query)


def patching_step_by_step(side: Side) -> None:
    """The cordon's patch, and what can go wrong with one."""
    found = side.post(
        side.path("v1", "configmaps"),
        {"metadata": {"name": "one", "annotations": {"a/b": "1"}}, "data": {"k": "v"}},
    )
    path = f"{side.path('v1', 'configmaps')}/one"
    here = "/metadata/annotations/a~1b"
    uid = {"op": "test", "path": "/metadata/uid", "value": found["metadata"]["uid"]}
    steps(side, path, uid, {"op": "replace", "path": here, "value": "2"})
    steps(side, path, {**uid, "value": ANOTHER_UID}, {"op": "remove", "path": here})
    steps(side, path, {"op": "test", "path": here, "value": "1"})
    steps(side, path, {"op": "test", "path": "/data/none", "value": None})
    steps(side, path, {"op": "test", "path": "/data/none", "value": "x"})
    steps(side, path, {"op": "remove", "path": "/data/none"})
    steps(side, path, {"op": "replace", "path": "/data/none", "value": "x"})
    steps(side, path, {"op": "add", "path": "/none/none", "value": "x"})
    steps(side, path, {"op": "add", "path": "/data/k2", "value": "v2"})
    steps(side, path, {"op": "copy", "from": "/data/k2", "path": "/data/k3"})
    steps(side, path, {"op": "move", "from": "/data/k3", "path": "/data/k4"})
    steps(side, path, {"op": "nonsense", "path": "/data"})
    steps(side, path, {"op": "remove", "path": here}, dryRun="All")
    steps(side, path, {"op": "test", "path": "/metadata/resourceVersion", "value": "1"})
    side.ask("PATCH", path, {"not": "a list"}, JSON_PATCH)
    side.get(path)


def cordoning(side: Side) -> None:
    path = f"{NODES}/{side.node}"
    found = side.get(path)
    version = found["metadata"]["resourceVersion"]
    add = {"op": "add", "path": "/spec/unschedulable", "value": True}
    same = {"op": "test", "path": "/metadata/resourceVersion", "value": version}
    steps(side, path, same, add)
    steps(side, path, same, add)
    merge(side, path, {"spec": {"unschedulable": None}})
    strategic(side, path, {"spec": {"unschedulable": True}})
    steps(side, path, {"op": "remove", "path": "/spec/unschedulable"})
    noting = {"metadata": {"annotations": {"fleet.test/owners": '[{"owner":"me"}]'}}}
    merge(side, path, noting)
    merge(side, path, {"metadata": {"annotations": {"fleet.test/owners": None}}})


def patching_taints(side: Side) -> None:
    path = f"{NODES}/{side.node}"
    first = {"key": "a", "value": "1", "effect": "PreferNoSchedule"}
    strategic(side, path, {"spec": {"taints": [first]}})
    strategic(side, path, {"spec": {"taints": [{**first, "value": "2"}, {**first, "key": "b"}]}})
    strategic(side, path, {"spec": {"taints": [{"$patch": "delete", "key": "a"}]}})
    merge(side, path, {"spec": {"taints": None}})


def patching_lists_strategically(side: Side) -> None:
    side.post(side.pods, pod("a", node=side.node))
    path = f"{side.pods}/a"
    ready = {"type": "Ready", "status": "True"}
    strategic(side, f"{path}/status", {"status": {"phase": "Running", "conditions": [ready]}})
    other = {"type": "Other", "status": "False"}
    strategic(side, f"{path}/status", {"status": {"conditions": [other]}})
    strategic(side, f"{path}/status", {"status": {"conditions": [{**ready, "status": "False"}]}})
    strategic(
        side,
        f"{path}/status",
        {"status": {"conditions": [{"$patch": "delete", "type": "Other"}]}},
    )
    strategic(side, path, {"spec": {"containers": [{"name": "main", "image": "r.test/m:2"}]}})
    strategic(side, path, {"metadata": {"finalizers": ["test/one"]}})
    strategic(side, path, {"metadata": {"finalizers": ["test/two"]}})
    strategic(side, path, {"metadata": {"$deleteFromPrimitiveList/finalizers": ["test/one"]}})
    strategic(side, path, {"metadata": {"labels": {"$patch": "replace", "only": "this"}}})
    merge(side, path, {"metadata": {"finalizers": None}})


def patching_deployments_strategically(side: Side) -> None:
    path = side.path("apps/v1", "replicasets")
    side.post(path, controller("web", replicas=0))
    container = {"name": "main", "env": [{"name": "A", "value": "1"}]}
    template = {"spec": {"template": {"spec": {"containers": [container]}}}}
    strategic(side, f"{path}/web", template)
    container["env"] = [{"name": "B", "value": "2"}]
    strategic(side, f"{path}/web", template)
    strategic(
        side,
        f"{path}/web",
        {
            "spec": {
                "template": {"spec": {"containers": [{"name": "side", "image": "r.test/side:1"}]}}
            }
        },
    )


def patching_in_the_wrong_way(side: Side) -> None:
    side.post(side.pods, pod("a"))
    path = f"{side.pods}/a"
    side.ask("PATCH", path, {"metadata": {}}, "application/json")
    side.ask("PATCH", path, {"metadata": {}}, "text/plain")
    side.ask("PATCH", path, [], MERGE_PATCH)
    merge(side, path, {"metadata": {"name": "b"}})
    merge(side, path, {"metadata": {"resourceVersion": "1", "labels": {"x": "y"}}})
    merge(side, path, {"metadata": {"uid": ANOTHER_UID}})
    merge(side, path, {})


def generations(side: Side) -> None:
    path = side.path("apps/v1", "replicasets")
    side.post(path, controller("web", replicas=0))
    for patch in (
        {"spec": {"minReadySeconds": 1}},
        {"metadata": {"labels": {"a": "b"}}},
        {"metadata": {"annotations": {"a": "b"}}},
        {"spec": {"minReadySeconds": 1}},
    ):
        merged = merge(side, f"{path}/web", patch)
        assert merged["kind"] == "ReplicaSet"
    side.post(side.pods, pod("a", node=side.node))
    merge(side, f"{side.pods}/a", {"spec": {"activeDeadlineSeconds": 100}})


def scaling(side: Side) -> None:
    path = side.path("apps/v1", "replicasets")
    side.post(path, {**controller("web", replicas=0), "metadata": {"name": "web"}})
    scale = f"{path}/web/scale"
    found = side.get(scale)
    # The controller of the set writes its status at a moment of its own.
    metadata = {**found["metadata"], "resourceVersion": ""}
    side.put(scale, {**found, "metadata": metadata, "spec": {"replicas": 0}})
    side.ask("PATCH", scale, {"spec": {"replicas": 0}}, MERGE_PATCH)
    side.get(f"{path}/missing/scale")
    side.ask("PATCH", scale, {"spec": {"replicas": 3}}, MERGE_PATCH, dryRun="All")


# --- deleting ------------------------------------------------------------------------------


def deleting_with_preconditions(side: Side) -> None:
    path = side.path("v1", "configmaps")
    made = side.post(path, {"metadata": {"name": "one"}})
    one = f"{path}/one"
    side.delete(one, {"preconditions": {"uid": ANOTHER_UID}})
    side.delete(one, {"preconditions": {"resourceVersion": "1"}})
    side.delete(one, {"preconditions": {"uid": made["metadata"]["uid"]}}, dryRun="All")
    side.delete(one, {"preconditions": {"uid": made["metadata"]["uid"]}})
    side.delete(one)


def deleting_pods(side: Side) -> None:
    for name in ("a", "b", "c", "d"):
        side.post(side.pods, pod(name, node=side.node))
    side.delete(f"{side.pods}/a")
    side.get(f"{side.pods}/a")
    side.delete(f"{side.pods}/a")
    side.delete(f"{side.pods}/a", {"gracePeriodSeconds": 60})
    side.delete(f"{side.pods}/a", {"gracePeriodSeconds": 5})
    side.delete(f"{side.pods}/a", gracePeriodSeconds="3")
    side.delete(f"{side.pods}/a", {"gracePeriodSeconds": 0})
    side.get(f"{side.pods}/a")
    side.delete(f"{side.pods}/b", {"preconditions": {"uid": ANOTHER_UID}})
    side.delete(f"{side.pods}/b", {"gracePeriodSeconds": 7}, dryRun="All")
    side.get(f"{side.pods}/b")
    side.delete(f"{side.pods}/b", {"gracePeriodSeconds": -5})
    side.quietly("PUT", f"{side.pods}/c/status", {**pod("c"), "status": {"phase": "Succeeded"}})
    side.delete(f"{side.pods}/c")
    side.get(f"{side.pods}/c")
    side.delete(f"{side.pods}/d", {"gracePeriodSeconds": 0})
    side.get(f"{side.pods}/d")


def deleting_pods_that_run_nowhere(side: Side) -> None:
    side.post(side.pods, pod("a"))
    side.delete(f"{side.pods}/a")
    side.get(f"{side.pods}/a")
    side.post(side.pods, {**pod("held"), "metadata": {"name": "held", "finalizers": ["t/one"]}})
    side.delete(f"{side.pods}/held")
    side.delete(f"{side.pods}/held")
    merge(side, f"{side.pods}/held", {"metadata": {"finalizers": ["t/one", "t/two"]}})
    merge(side, f"{side.pods}/held", {"metadata": {"finalizers": None}})
    side.get(f"{side.pods}/held")


def deleting_collections(side: Side) -> None:
    path = side.path("v1", "configmaps")
    for name, label in (("a", "1"), ("b", "1"), ("c", "2")):
        side.post(path, {"metadata": {"name": name, "labels": {"of": label}}})
    side.delete(path, labelSelector="of=1")
    side.get(path, labelSelector="of")


def deleting_with_propagation(side: Side) -> None:
    path = side.path("v1", "configmaps")
    for name in ("background", "nonsense", "held"):
        side.post(path, {"metadata": {"name": name}})
    side.delete(f"{path}/background", {"propagationPolicy": "Background"})
    side.delete(f"{path}/nonsense", {"propagationPolicy": "Nonsense"})
    side.delete(f"{path}/nonsense", {"propagationPolicy": "Background", "orphanDependents": True})
    merge(side, f"{path}/held", {"metadata": {"finalizers": ["t/one"]}})
    side.delete(f"{path}/held", {"propagationPolicy": "Background"})
    merge(side, f"{path}/held", {"metadata": {"finalizers": []}})
    side.get(f"{path}/held")


# --- placing -------------------------------------------------------------------------------


def binding(side: Side) -> None:
    for name in ("a", "b"):
        side.post(side.pods, pod(name))
    target = {"kind": "Node", "apiVersion": "v1", "name": side.node}
    for name in ("a", "a", "missing"):
        body = {"metadata": {"name": name}, "target": target}
        side.post(f"{side.pods}/{name}/binding", body)
    side.get(f"{side.pods}/a")
    other = {"metadata": {"name": "b", "uid": ANOTHER_UID}, "target": target}
    side.post(f"{side.pods}/b/binding", other)


# --- rights --------------------------------------------------------------------------------


def rights_that_nobody_gave(side: Side) -> None:
    """`limited` may do nothing at all yet."""
    one = f"{side.pods}/a"
    for method, path, body in (
        ("GET", one, None),
        ("GET", side.pods, None),
        ("GET", "/api/v1/pods", None),
        ("GET", NODES, None),
        ("GET", f"{NODES}/{side.node}", None),
        ("POST", side.pods, pod("a")),
        ("POST", f"{one}/eviction", {"metadata": {"name": "a"}}),
        ("PUT", one, pod("a")),
        ("DELETE", one, None),
        ("DELETE", side.pods, None),
        ("GET", "/apis/apps/v1/deployments", None),
        ("GET", side.path("apps/v1", "deployments", "web/scale"), None),
        ("GET", side.path("policy/v1", "poddisruptionbudgets"), None),
        ("GET", f"/api/v1/namespaces/{side.namespace}", None),
        ("GET", "/metrics", None),
    ):
        side.ask(method, path, body, user="limited")
    side.ask("PATCH", f"{NODES}/{side.node}", [], JSON_PATCH, user="limited")
    side.ask("GET", side.pods, user="limited", watch="true")


def asking_for_rights(side: Side) -> None:
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    for attributes in (
        {"verb": "list", "resource": "pods"},
        {"verb": "create", "resource": "pods", "subresource": "eviction", "namespace": "default"},
        {"verb": "patch", "group": "apps", "resource": "deployments"},
    ):
        body = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": attributes},
        }
        side.post(path, body)
        side.ask("POST", path, body, user="limited")


# --- reading -------------------------------------------------------------------------------


def selecting(side: Side) -> None:
    for name, label in (("a", "1"), ("b", "2"), ("c", "3")):
        side.post(side.pods, pod(name, node=side.node if name == "c" else "", labels={"l": label}))
    for query in (
        {"labelSelector": "l=1"},
        {"labelSelector": "l in (1,3)"},
        {"labelSelector": "l!=1,l"},
        {"labelSelector": "!l"},
        {"fieldSelector": f"spec.nodeName={side.node}"},
        {"fieldSelector": "spec.nodeName="},
        {"fieldSelector": "metadata.name=a"},
        {"fieldSelector": "metadata.name!=a,status.phase=Pending"},
        {"fieldSelector": "status.phase!=Pending"},
        {"labelSelector": "l=1", "fieldSelector": "metadata.name=b"},
    ):
        side.get(side.pods, **query)


def selecting_what_cannot_be(side: Side) -> None:
    side.refused("GET", side.pods, labelSelector="a b")
    side.refused("GET", side.pods, labelSelector="-a=b")
    side.get(side.pods, fieldSelector="spec.nonsense=a")
    side.get(side.pods, fieldSelector="nonsense")
    side.get(NODES, fieldSelector="spec.providerID=a")
    side.get(NODES, fieldSelector=f"metadata.name={side.node}")


def reading_in_pages(side: Side) -> None:
    path = side.path("v1", "configmaps")
    for number in range(5):
        side.post(path, {"metadata": {"name": f"c{number}", "labels": {"paged": "yes"}}})
    first = side.get(path, limit="2", labelSelector="paged")
    side.post(path, {"metadata": {"name": "c9", "labels": {"paged": "yes"}}})
    token = first["metadata"]["continue"]
    second = side.get(path, limit="2", labelSelector="paged", **{"continue": token})
    assert second["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]
    token = second["metadata"]["continue"]
    side.get(path, limit="2", labelSelector="paged", **{"continue": token})
    side.refused("GET", path, limit="2", **{"continue": "nonsense"})
    side.get(path, limit="-1", labelSelector="paged")
    side.get(path, limit="many")
    side.get(path, limit="100", labelSelector="paged")


def reading_at_revisions(side: Side) -> None:
    path = side.path("v1", "configmaps")
    made = side.post(path, {"metadata": {"name": "one", "labels": {"at": "yes"}}})
    version = made["metadata"]["resourceVersion"]
    for query in (
        # First the one that waits for the real server's cache, which "0" reads as it is.
        {"resourceVersion": version},
        {"resourceVersion": "0"},
        {"resourceVersion": version, "resourceVersionMatch": "NotOlderThan"},
        {"resourceVersion": version, "resourceVersionMatch": "Exact"},
        {"resourceVersionMatch": "Exact"},
        {"resourceVersion": "0", "resourceVersionMatch": "Exact"},
        {"resourceVersion": version, "resourceVersionMatch": "Nonsense"},
        {"resourceVersion": "nonsense"},
    ):
        side.get(path, labelSelector="at=yes", **query)
    side.get(f"{path}/one", resourceVersion="0")
    side.get(f"{path}/one", resourceVersion=version)


SCRIPTS: tuple[Script, ...] = (
    objects_that_are_not_there,
    paths_that_are_not_there,
    empty_lists,
    creating_twice,
    creating_what_cannot_be,
    creating_with_a_generated_name,
    defaults_of_pods,
    defaults_of_controllers,
    defaults_of_the_rest,
    replacing,
    replacing_a_lease,
    replacing_parts_of_the_status,
    changing_what_cannot_be,
    patching_step_by_step,
    cordoning,
    patching_taints,
    patching_lists_strategically,
    patching_deployments_strategically,
    patching_in_the_wrong_way,
    generations,
    scaling,
    deleting_with_preconditions,
    deleting_pods,
    deleting_pods_that_run_nowhere,
    deleting_collections,
    deleting_with_propagation,
    binding,
    rights_that_nobody_gave,
    asking_for_rights,
    selecting,
    selecting_what_cannot_be,
    reading_in_pages,
    reading_at_revisions,
)
