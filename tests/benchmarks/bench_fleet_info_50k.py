# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How long fleet_info takes for 50,000 pods, beside the raw paged read and parse of the same list.

The API server is a process of its own that serves pages made beforehand, so that what is measured
is the client. Floor and fleet_info run in turn, each in a fresh process, and the best of three
counts of each: on a shared machine the least disturbed run is the truest.
"""

from __future__ import annotations

import gc
import json
import multiprocessing
import resource
import sys
import threading
import time
import urllib.parse
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.kubernetes.connection import (
    Connection,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.registry import find
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.fleet_info import (
    FleetInfoOptions,
    fleet_info,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.run import Run

PODS, NODES, PAGE = 50_000, 1_000, 500
ROUNDS = 3
TARGET_RATIO, TARGET_MIB = 1.15, 400


def main() -> int:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    server = context.Process(target=serve, args=(theirs,), daemon=True)
    server.start()
    url = ours.recv()
    floors, infos = [], []
    for _round in range(ROUNDS):
        floors.append(measured(context, raw_read, url))
        infos.append(measured(context, read_fleet_info, url))
    server.terminate()
    value, floor = min(infos).seconds, min(floors).seconds
    peak = max(one.peak_mib for one in infos)
    print(f"raw paged read and parse: {', '.join(map(str, floors))}")
    print(f"fleet_info: {', '.join(map(str, infos))}")
    print(f"peak memory of fleet_info: {peak:.0f} MiB (target {TARGET_MIB})")
    print(f"bench fleet_info_50k value={value:.2f} ratio={value / floor:.2f} target={TARGET_RATIO}")
    return 0 if value / floor <= TARGET_RATIO and peak <= TARGET_MIB else 1


@dataclass(frozen=True, order=True)
class Measure:
    """`cpu` seconds tell how much of `seconds` went to others on a busy machine."""

    seconds: float
    cpu: float
    peak_mib: float

    def __str__(self) -> str:
        return f"{self.seconds:.2f} s (cpu {self.cpu:.2f} s)"


def measured(context: Any, function: Callable[[str], None], url: str) -> Measure:
    """Runs it in a process of its own."""
    ours, theirs = context.Pipe()
    process = context.Process(target=_measure, args=(function, url, theirs))
    process.start()
    measure: Measure = ours.recv()
    process.join()
    return measure


def _measure(function: Callable[[str], None], url: str, pipe: Any) -> None:
    import kubernetes  # noqa: F401 - importing the client is not what is measured
    import urllib3  # noqa: F401

    begin, cpu = time.monotonic(), time.process_time()
    function(url)
    seconds, cpu = time.monotonic() - begin, time.process_time() - cpu
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    pipe.send(Measure(seconds, cpu, peak))


def raw_read(url: str) -> None:
    """The floor: pages one after the other, json.loads without the garbage collector, no model."""
    import urllib3

    pool = urllib3.PoolManager()
    count, token = 0, ""
    gc.disable()
    while True:
        query = {"limit": str(PAGE), **({"continue": token} if token else {})}
        answer = pool.request("GET", f"{url}/api/v1/pods?{urllib.parse.urlencode(query)}")
        page = json.loads(answer.data)
        count += len(page["items"])
        token = page["metadata"].get("continue", "")
        if not token:
            break
    gc.enable()
    assert count == PODS


def read_fleet_info(url: str) -> None:
    """The whole call, nodes, budgets and controllers included."""
    cluster = find(Connection(host=url, api_key="none"), environment={}).cluster()
    report = fleet_info(FleetInfoOptions(), cluster, Run("bench"))
    assert report.extra["summary"]["pods"] == PODS


def serve(pipe: Any) -> None:
    """Makes the pages, tells its URL, and serves until it is terminated."""
    pages = {
        "/api/v1/pods": paged("Pod", [pod(number) for number in range(PODS)]),
        "/api/v1/nodes": paged("Node", [node(number) for number in range(NODES)]),
    }
    empty = paged("Thing", [])

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = 65536
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            path, _unused, query = self.path.partition("?")
            token = urllib.parse.parse_qs(query).get("continue", ["0"])[0]
            body = pages.get(path, empty)[int(token)]
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            """A line per request would be part of what is measured."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    pipe.send(f"http://127.0.0.1:{server.server_port}")
    threading.Event().wait()


def paged(kind: str, items: list[dict[str, Any]]) -> list[bytes]:
    """The bodies of a paged list; a page's continue token is the next page's number."""
    starts = range(0, max(1, len(items)), PAGE)
    bodies = []
    for number, start in enumerate(starts, 1):
        metadata = {"resourceVersion": "1000"}
        if number < len(starts):
            metadata["continue"] = str(number)
        page = {
            "kind": f"{kind}List",
            "apiVersion": "v1",
            "metadata": metadata,
            "items": items[start : start + PAGE],
        }
        bodies.append(json.dumps(page, separators=(",", ":")).encode())
    return bodies


def uid(number: int, kind: int) -> str:
    return f"{number:08x}-{kind:04x}-4000-8000-{number * 7919:012x}"


def node(number: int) -> dict[str, Any]:
    return {
        "metadata": {
            "name": f"node-{number:04}",
            "uid": uid(number, 1),
            "resourceVersion": str(number),
            "creationTimestamp": "2026-11-01T08:00:00Z",
            "labels": {
                "kubernetes.io/hostname": f"node-{number:04}",
                "topology.kubernetes.io/zone": f"zone-{number % 3}",
                "node.kubernetes.io/instance-type": "m7i.4xlarge",
            },
        },
        "spec": {"providerID": f"aws:///zone-{number % 3}/i-{number:017x}"},
        "status": {
            "allocatable": {"cpu": "15890m", "memory": "63Gi", "pods": "234"},
            "conditions": [{"type": "Ready", "status": "True"}],
            "nodeInfo": {"bootID": uid(number, 2), "kubeletVersion": "v1.37.1"},
        },
    }


def pod(number: int) -> dict[str, Any]:
    """4 KB of JSON, without managedFields, as a Deployment's pod with a sidecar has it."""
    owner = number // 5
    app = f"app-{owner % 800:03}"
    template = f"{owner:010x}"
    created = f"2026-11-{1 + number % 28:02}T{number % 24:02}:{owner % 60:02}:{number % 60:02}Z"
    name = f"{app}-{template}-{number:05x}"
    return {
        "metadata": {
            "name": name,
            "generateName": f"{app}-{template}-",
            "namespace": f"team-{owner % 60:02}",
            "uid": uid(number, 3),
            "resourceVersion": str(100_000 + number),
            "creationTimestamp": created,
            "labels": {
                "app.kubernetes.io/name": app,
                "app.kubernetes.io/version": f"1.{number % 40}.0",
                "pod-template-hash": template,
                "team": f"team-{owner % 60:02}",
            },
            "annotations": {
                "checksum/config": uid(owner, 4) + uid(owner, 5),
                "prometheus.io/scrape": "true",
                "prometheus.io/port": "9090",
            },
            "ownerReferences": [
                {
                    "apiVersion": "apps/v1",
                    "kind": "ReplicaSet",
                    "name": f"{app}-{template}",
                    "uid": uid(owner, 6),
                    "controller": True,
                    "blockOwnerDeletion": True,
                }
            ],
        },
        "spec": _spec(number, app),
        "status": _status(number, app),
    }


def _spec(number: int, app: str) -> dict[str, Any]:
    token = f"kube-api-access-{number:05x}"
    mount = {
        "name": token,
        "readOnly": True,
        "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
    }
    return {
        "volumes": [
            {"name": "scratch", "emptyDir": {}},
            {"name": "config", "configMap": {"name": f"{app}-config", "defaultMode": 420}},
            {
                "name": token,
                "projected": {
                    "sources": [
                        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
                        {
                            "configMap": {
                                "name": "kube-root-ca.crt",
                                "items": [{"key": "ca.crt", "path": "ca.crt"}],
                            }
                        },
                    ],
                    "defaultMode": 420,
                },
            },
        ],
        "containers": [
            _container("main", app, f"{100 + number % 8 * 50}m", mount),
            _container("proxy", "proxy", "50m", mount),
        ],
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "serviceAccountName": app,
        "nodeName": f"node-{number % NODES:04}",
        "securityContext": {"runAsNonRoot": True, "fsGroup": 2000},
        "schedulerName": "default-scheduler",
        "tolerations": [
            {
                "key": f"node.kubernetes.io/{state}",
                "operator": "Exists",
                "effect": "NoExecute",
                "tolerationSeconds": 300,
            }
            for state in ("not-ready", "unreachable")
        ],
        "priority": 0,
        "enableServiceLinks": True,
        "preemptionPolicy": "PreemptLowerPriority",
    }


def _container(name: str, image: str, cpu: str, mount: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": name,
        "image": f"registry.example.com/platform/{image}:1.4.2",
        "ports": [{"containerPort": 8080, "name": "http", "protocol": "TCP"}],
        "env": [
            {"name": "LOG_LEVEL", "value": "info"},
            {"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        ],
        "resources": {
            "requests": {"cpu": cpu, "memory": "256Mi"},
            "limits": {"memory": "512Mi"},
        },
        "volumeMounts": [{"name": "scratch", "mountPath": "/tmp"}, mount],
        "imagePullPolicy": "IfNotPresent",
        "terminationMessagePath": "/dev/termination-log",
    }


def _status(number: int, app: str) -> dict[str, Any]:
    started = "2026-11-28T07:12:09Z"
    address = f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
    return {
        "phase": "Running",
        "conditions": [
            {"type": kind, "status": "True", "lastProbeTime": None, "lastTransitionTime": started}
            for kind in ("PodScheduled", "Initialized", "ContainersReady", "Ready")
        ],
        "hostIP": f"172.16.{number % NODES // 256}.{number % 256}",
        "podIP": address,
        "podIPs": [{"ip": address}],
        "startTime": started,
        "containerStatuses": [
            {
                "name": name,
                "state": {"running": {"startedAt": started}},
                "lastState": {},
                "ready": True,
                "restartCount": 0,
                "image": f"registry.example.com/platform/{image}:1.4.2",
                "containerID": f"containerd://{uid(number, 7)}{uid(number, 8)}",
                "started": True,
            }
            for name, image in (("main", app), ("proxy", "proxy"))
        ],
        "qosClass": "Burstable",
    }


if __name__ == "__main__":
    sys.exit(main())
