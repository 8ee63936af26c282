# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A real kube-scheduler alone with an API server, and an extender that hears what it found.

Nothing else runs: no controllers, no kubelets. So nodes, volumes and running pods stay exactly what
a test writes, and the scheduler's filters are all that decides.
"""

from __future__ import annotations

import http.server
import json
import subprocess
import threading
import time
from collections.abc import Mapping
from pathlib import Path

from . import credentials
from .answering import json_handler
from .api import Api, Document, Unreachable
from .components import Layout, Ports, command
from .supervisor import AUDIT_POLICY, STAGES, START_SECONDS, _die_with_parent, _free_ports

PIN = "pin-to"


class Extender:
    """A filter extender: for each pod it is given the nodes that passed every filter in the tree.

    `passed` keeps the latest answer by the pod's UID. It then lets no node pass, so that the pod
    stays pending; a pod with the annotation pin-to may go to that node alone.
    """

    def __init__(self) -> None:
        self.passed: dict[str, frozenset[str]] = {}
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), json_handler(self.filter))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def filter(self, arguments: Document) -> Document:
        meta, names = arguments["Pod"]["metadata"], arguments["NodeNames"] or []
        self.passed[meta["uid"]] = frozenset(names)
        pinned = meta.get("annotations", {}).get(PIN, "")
        kept = [name for name in names if name == pinned]
        return {"NodeNames": kept, "FailedNodes": {n: "heard" for n in names if n not in kept}}

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class SchedulerLab:
    """Starts in about 4 s; `close` ends all of it."""

    def __init__(self, state: Path, programs: Mapping[str, Path]) -> None:
        self._layout, self._programs = Layout(state), programs
        self._children: list[subprocess.Popen[bytes]] = []
        ports = Ports(*_free_ports(3))
        server = f"https://127.0.0.1:{ports.api}"
        self._write_files(server)
        self._start("etcd", command("etcd", programs["etcd"], self._layout, ports, STAGES))
        name = "kube-apiserver"
        arguments = command(name, programs[name], self._layout, ports, STAGES)
        self._start(name, [*arguments, *API_OPTIONS])
        self._wait_until_served(server)
        self.extender = Extender()
        self.api = Api(server, "admin", self._layout.certificate)
        self._start_scheduler()

    def _write_files(self, server: str) -> None:
        self._layout.log("etcd").parent.mkdir(parents=True)
        credentials.write_credentials(self._layout)
        self._layout.audit_policy.write_text(json.dumps(AUDIT_POLICY))
        name = "kube-scheduler"
        self._layout.component_kubeconfig(name).write_text(
            credentials.component_kubeconfig(server, self._layout.certificate, name)
        )

    def _start(self, name: str, arguments: list[str]) -> None:
        with open(self._layout.log(name), "wb") as log:
            self._children.append(
                subprocess.Popen(
                    arguments,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    preexec_fn=_die_with_parent,  # noqa: PLW1509 - it calls nothing that locks
                )
            )

    def _start_scheduler(self) -> None:
        config = self._layout.state / "scheduler.json"
        kubeconfig = self._layout.component_kubeconfig("kube-scheduler")
        config.write_text(json.dumps(_configuration(str(kubeconfig), self.extender.url)))
        program = str(self._programs["kube-scheduler"])
        self._start("kube-scheduler", [program, f"--config={config}", "--secure-port=0"])

    def _wait_until_served(self, server: str) -> None:
        api = Api(server, "admin", certificate=None)
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            try:
                if api.request("GET", "/readyz").status == 200:
                    return
            except Unreachable:
                pass
            time.sleep(0.1)
        self.close()
        raise RuntimeError("the API server of the scheduler lab does not get ready")

    def close(self) -> None:
        for child in self._children:
            child.kill()
            child.wait()
        if hasattr(self, "extender"):
            self.extender.close()


# Objects vanish when they are deleted, and keep the taints that the test gives them: there is no
# controller that would lift a finalizer or the taint of a new node. Of options that are given twice
# the API server joins the lists.
API_OPTIONS = ("--disable-admission-plugins=StorageObjectInUseProtection,TaintNodesByCondition",)


def _configuration(kubeconfig: str, extender: str) -> Document:
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": kubeconfig, "qps": 1000, "burst": 2000},
        "leaderElection": {"leaderElect": False},
        "percentageOfNodesToScore": 100,
        # A pod that is found unschedulable is not tried again before the test is done with it.
        "podInitialBackoffSeconds": 60,
        "podMaxBackoffSeconds": 60,
        "profiles": [{"plugins": {"postFilter": {"disabled": [{"name": "*"}]}}}],
        "extenders": [
            {"urlPrefix": extender, "filterVerb": "filter", "nodeCacheCapable": True, "weight": 1}
        ],
    }
