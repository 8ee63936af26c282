# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What is asked of both servers about what they serve: discovery, custom kinds, tables, watches."""

from __future__ import annotations

import json
import time
from urllib.parse import urlencode

from tests.control_plane.api import MERGE_PATCH, STRATEGIC_MERGE_PATCH, Document

from .conformance import NODES, Script, Side, pod, running
from .conformance_scripts import (
    CLUSTER_COLLECTIONS,
    COLLECTIONS,
    controller,
    event,
    lease,
    merge,
)

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
MAPS = ("v1", "configmaps")


# --- discovery -----------------------------------------------------------------------------


def resources_by_discovery(side: Side) -> None:
    """Of the kinds that the twin serves; the real server has more."""
    wanted: dict[str, set[str]] = {}
    for version, plural in COLLECTIONS:
        wanted.setdefault(version, set()).add(plural)
    for path in CLUSTER_COLLECTIONS:
        version, plural = path.partition("/")[2].rsplit("/", 1)
        wanted.setdefault(version.partition("/")[2], set()).add(plural)
    for version, plurals in sorted(wanted.items()):
        root = "api" if version == "v1" else "apis"
        found = side.quietly("GET", f"/{root}/{version}")
        kept = [one for one in found["resources"] if one["name"].partition("/")[0] in plurals]
        for one in kept:
            for name in ("categories", "storageVersionHash"):
                one.pop(name, None)
        hidden = ("ephemeralcontainers", "resize", "exec", "attach", "log", "portforward", "proxy")
        hidden += ("token",)
        known = {one["name"]: one for one in kept if not one["name"].endswith(hidden)}
        side.note(f"/{root}/{version}", {**found, "resources": known})


def groups_by_discovery(side: Side) -> None:
    for group in ("apps", "policy", "storage.k8s.io", "coordination.k8s.io"):
        found = side.quietly("GET", f"/apis/{group}")
        versions = [one for one in found["versions"] if one["version"] == "v1"]
        side.note(f"/apis/{group}", {**found, "versions": versions})
    side.note("/api", {**side.quietly("GET", "/api"), "serverAddressByClientCIDRs": []})


# --- custom kinds --------------------------------------------------------------------------


def definition(group: str) -> Document:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    scale = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}, "scale": scale},
    }
    names = {"plural": "things", "singular": "thing", "kind": "Thing", "shortNames": ["th"]}
    spec = {"group": group, "scope": "Namespaced", "names": names, "versions": [version]}
    return {"metadata": {"name": f"things.{group}"}, "spec": spec}


def custom_kinds(side: Side) -> None:
    group = f"{side.namespace}.test"
    side.quietly("POST", DEFINITIONS, definition(group))
    try:
        served(side, f"/apis/{group}/v1")
        converse_about_things(side, group)
    finally:
        side.api.delete(f"{DEFINITIONS}/things.{group}")


def served(side: Side, path: str) -> None:
    """The real server takes a moment to serve a new kind."""
    deadline = time.monotonic() + 20
    while side.api.request("GET", f"{path}/things").status != 200:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def converse_about_things(side: Side, group: str) -> None:
    path = side.path(f"{group}/v1", "things")
    head = {"apiVersion": f"{group}/v1", "kind": "Thing"}
    made = side.post(path, {**head, "metadata": {"name": "a"}, "spec": {"replicas": 2}})
    one = f"{path}/a"
    side.get(path)
    side.put(one, {**head, "metadata": {"name": "a"}, "spec": {"replicas": 3}})
    side.put(one, {**made, "spec": {"replicas": 3, "more": [1]}})
    merge(side, one, {"metadata": {"labels": {"a": "b"}}})
    merge(side, one, {"status": {"ignored": True}})
    merge(side, f"{one}/status", {"status": {"replicas": 1}, "spec": {"replicas": 9}})
    side.refused("PATCH", one, {"spec": {}}, STRATEGIC_MERGE_PATCH)
    side.get(f"{one}/scale")
    side.ask("PATCH", f"{one}/scale", {"spec": {"replicas": 5}}, MERGE_PATCH)
    side.get(f"{path}/missing")
    side.delete(one)
    side.get(one)
    found = side.quietly("GET", f"/apis/{group}/v1")
    for entry in found["resources"]:
        entry["verbs"] = sorted(entry["verbs"])
    resources = sorted(found["resources"], key=lambda entry: str(entry["name"]))
    side.note(f"/apis/{group}/v1", {**found, "resources": resources})
    side.get(f"/apis/{group}")


TABLES = (
    ("apps/v1", "deployments"),
    ("apps/v1", "replicasets"),
    ("apps/v1", "statefulsets"),
    ("apps/v1", "daemonsets"),
    ("batch/v1", "jobs"),
    ("policy/v1", "poddisruptionbudgets"),
    ("coordination.k8s.io/v1", "leases"),
    ("v1", "secrets"),
    ("v1", "persistentvolumeclaims"),
)

# --- tables --------------------------------------------------------------------------------


def tables_of_pods(side: Side) -> None:
    for name in ("pending", "placed", "running", "sick", "leaving"):
        node = "" if name == "pending" else side.node
        made = side.quietly("POST", side.pods, pod(name, node=node))
        if name in ("running", "sick", "leaving"):
            ready = name != "sick"
            status = running(ready)["status"]
            waiting = {"running": {"startedAt": "2026-01-01T00:00:00Z"}}
            if name == "sick":
                waiting = {"waiting": {"reason": "CrashLoopBackOff"}}
            status["containerStatuses"] = [
                {
                    "name": "main",
                    "ready": ready,
                    "restartCount": 0 if ready else 4,
                    "image": "i",
                    "imageID": "",
                    "state": waiting,
                }
            ]
            side.quietly("PUT", f"{side.pods}/{name}/status", {**made, "status": status})
    side.quietly("DELETE", f"{side.pods}/leaving")
    side.table(side.pods)
    side.table(f"{side.pods}/running")
    side.table(side.pods, includeObject="None")
    side.table(side.pods, includeObject="Object", labelSelector="app=none")


def tables_of_the_rest(side: Side) -> None:
    side.quietly("POST", side.path("apps/v1", "replicasets"), controller("none", replicas=0))
    side.quietly("POST", side.path("coordination.k8s.io/v1", "leases"), lease("l"))
    side.quietly("POST", side.path("v1", "events"), event("e.1", side.namespace))
    side.quietly("POST", side.path(*MAPS), {"metadata": {"name": "m", "labels": {"my": "map"}}})
    budget = {"minAvailable": 1, "selector": {"matchLabels": {"app": "none"}}}
    path = side.path("policy/v1", "poddisruptionbudgets")
    side.quietly("POST", path, {"metadata": {"name": "b"}, "spec": budget})
    for version, plural in TABLES:
        side.table(side.path(version, plural))
    side.table(side.path("v1", "events"), fieldSelector="reason=Tried")
    side.table(side.path(*MAPS), labelSelector="my=map")
    side.table(NODES, fieldSelector=f"metadata.name={side.node}")
    side.table(f"{side.pods}/missing")


# --- watches -------------------------------------------------------------------------------


def watching_changes(side: Side) -> None:
    path = side.path(*MAPS)
    body = {"metadata": {"name": "a", "labels": {"of": "1"}}, "data": {"k": "1"}}
    start = side.quietly("GET", path, None)["metadata"]["resourceVersion"]
    side.quietly("POST", path, body)
    side.api.patch(f"{path}/a", {"data": {"k": "2"}})
    side.api.patch(f"{path}/a", {"data": {"k": "2"}})
    side.api.patch(f"{path}/a", {"metadata": {"labels": {"of": "2"}}})
    side.quietly("POST", path, {**body, "metadata": {"name": "b", "labels": {"of": "2"}}})
    side.api.patch(f"{path}/b", {"metadata": {"labels": {"of": "1"}}})
    side.api.patch(f"{path}/b", {"metadata": {"finalizers": ["t/one"]}})
    side.quietly("DELETE", f"{path}/a")
    side.quietly("DELETE", f"{path}/b")
    side.api.patch(f"{path}/b", {"metadata": {"finalizers": None}})
    side.watch(path, start, labelSelector="of")
    side.watch(path, start, labelSelector="of=1")
    side.watch(path, start, fieldSelector="metadata.name=b")
    side.watch(f"{path}/b", start)
    side.watch(path, "0", labelSelector="of=3")


def watching_what_is_there(side: Side) -> None:
    path = side.path(*MAPS)
    for name in ("a", "b"):
        made = side.quietly("POST", path, {"metadata": {"name": name, "labels": {"mine": "yes"}}})
    # Waits for the real server's cache, from which "0" is answered.
    side.quietly("GET", f"{path}?resourceVersion={made['metadata']['resourceVersion']}")
    side.watch(path, "0", labelSelector="mine")
    side.watch(path, "", fieldSelector="metadata.name=b")
    side.watch(path, "nonsense")
    side.watch(path, "1", timeoutSeconds="nonsense")


def watching_a_list_as_a_stream(side: Side) -> None:
    """As kubectl wait reads it: the present state, then a bookmark that says that this was all."""
    path = side.path(*MAPS)
    side.quietly("POST", path, {"metadata": {"name": "a", "labels": {"mine": "yes"}}})
    options = {
        "watch": "true",
        "sendInitialEvents": "true",
        "resourceVersionMatch": "NotOlderThan",
        "allowWatchBookmarks": "true",
        "labelSelector": "mine",
        "timeoutSeconds": "1",
    }
    answer = side.api.request("GET", f"{path}?{urlencode(options)}")
    events = [json.loads(line) for line in answer.body["text"].splitlines()]
    kept = [(one["type"], one["object"]["metadata"].get("annotations")) for one in events[:2]]
    side.note("a list as a stream", {"events": kept})


def watching_pods_go(side: Side) -> None:
    start = side.quietly("GET", side.pods)["metadata"]["resourceVersion"]
    side.quietly("POST", side.pods, pod("a", node=side.node))
    side.quietly("DELETE", f"{side.pods}/a")
    side.quietly("DELETE", f"{side.pods}/a", {"gracePeriodSeconds": 0})
    side.watch(side.pods, start)
    side.watch(side.pods, start, fieldSelector=f"spec.nodeName={side.node}")
    side.watch(side.pods, start, fieldSelector="spec.nodeName=another")


SCRIPTS: tuple[Script, ...] = (
    resources_by_discovery,
    groups_by_discovery,
    custom_kinds,
    tables_of_pods,
    tables_of_the_rest,
    watching_changes,
    watching_what_is_there,
    watching_a_list_as_a_stream,
    watching_pods_go,
)
