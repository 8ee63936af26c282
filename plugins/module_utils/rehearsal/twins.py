# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The function behind the module twin: starts one in a directory, or stops the one in it."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import socket
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Mapping, Optional, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.base import Cluster
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.run import Progress, Run
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import InvalidOption
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.report import Report
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.times import (
    format_instant,
    instant_at,
    parse_instant,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin import load, process, snapshot
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.scaler import Pool
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.build import twin_loaded, twin_of
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.child import port_problem
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.faults import Fault, parse_faults
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.pools import parse_pools
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.spec import (
    ClusterSpec,
    Made,
    parse_spec,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.state_directory import (
    StateDirectory,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.twin import Settings

STARTED, STOPPED = "started", "stopped"
SOURCES = ("spec", "snapshot", "live")
# Seconds of the twin's time in which what a spec tells of comes up.
_RUN_UP = 3600.0


@dataclass(frozen=True)
class TwinOptions:
    """One of spec, snapshot (a path) and live says what it is made of. directory: its state.
    start: RFC 3339, "" for now. lifetime: seconds of real time without a request; pools, faults: as
    twin/pools.py and twin/faults.py read them."""

    directory: str
    state: str = STARTED
    spec: Optional[Mapping[str, Any]] = None
    snapshot: str = ""
    live: bool = False
    port: int = 0
    virtual_time: bool = False
    start: str = ""
    seed: int = 0
    lifetime: float = process.LIFETIME
    pools: Sequence[Mapping[str, Any]] = ()
    faults: Sequence[Mapping[str, Any]] = ()

    @property
    def of_a_live_cluster(self) -> bool:
        return self.live and self.state == STARTED


def twin(options: TwinOptions, cluster: Optional[Cluster], run: Run) -> Report:
    """cluster: the one to be copied, of which nothing but reads is asked; None where none is.

    extra: kubeconfig, url, pid, time, virtual_time, nodes, pods; of one that is stopped, or would
    be started, what is known of it.
    Raises InvalidOption, Refused (another twin in the directory), MissingLibrary, Interrupted.
    """
    if options.state == STOPPED:
        return _stopped(options, run)
    plan = _Plan.of(options)
    inputs = _inputs(options, cluster)
    there = process.found(options.directory, inputs)
    if there is not None:
        return _report(there, f"The twin in {there.directory} runs already.")
    objects = _objects(options, cluster, run)
    if run.check_mode:
        return _predicted(options, plan, objects)
    now = run.clock.now() if plan.start is None else plan.start
    settings = Settings(
        now.timestamp(), options.virtual_time, options.seed, options.port, plan.faults
    )
    if plan.spec is not None:
        make = functools.partial(twin_of, plan.spec, pools=plan.pools)
        settings = replace(settings, run_up=_RUN_UP)
    else:
        make = functools.partial(twin_loaded, objects, pools=plan.pools)
    run.progress(Progress("", "starting the twin", urgent=True))
    begun = process.start(
        make,
        settings,
        options.directory,
        options.lifetime,
        inputs=inputs,
        interruption=run.interruption,
    )
    return _report(begun, f"A twin of {begun.nodes} nodes, {begun.pods} pods runs at {begun.url}.")


# --- what is asked for ---------------------------------------------------------------------


@dataclass(frozen=True)
class _Plan:
    """The options, read."""

    spec: Optional[ClusterSpec]
    pools: tuple[Pool, ...]
    faults: tuple[Fault, ...]
    start: Optional[datetime]

    @staticmethod
    def of(options: TwinOptions) -> _Plan:
        """Raises InvalidOption."""
        _check_source(options)
        if not 0 <= options.port < 65536:
            raise InvalidOption("port", f"{options.port} is no port.", "Use 0 for any free one.")
        if options.lifetime <= 0:
            raise InvalidOption("lifetime", "it must be more than 0.", "Write 1h or 90.")
        return _Plan(
            None if options.spec is None else parse_spec(options.spec),
            parse_pools(options.pools),
            parse_faults(options.faults),
            _instant(options.start),
        )


def _check_source(options: TwinOptions) -> None:
    given = [
        name
        for name, is_given in zip(
            SOURCES, (options.spec is not None, bool(options.snapshot), options.live)
        )
        if is_given
    ]
    if len(given) != 1:
        problem = f"{' and '.join(given)} are given." if given else "nothing is given to copy."
        raise InvalidOption(
            given[0] if given else "spec", problem, "Give one of spec, snapshot, live."
        )


def _instant(text: str) -> Optional[datetime]:
    try:
        return parse_instant(text) if text else None
    except ValueError as error:
        raise InvalidOption("start", f"{error}.", "Write 2026-11-30T22:00:00Z.") from error


def _inputs(options: TwinOptions, cluster: Optional[Cluster]) -> str:
    """What makes a twin another one. A live cluster is known by its name: it changes all the time,
    and its twin is not to be made anew with every run."""
    document: dict[str, Any] = {
        "spec": options.spec,
        "snapshot": _digest(options.snapshot),
        "live": cluster.description if cluster is not None else "",
        "port": options.port,
        "virtual_time": options.virtual_time,
        "start": options.start,
        "seed": options.seed,
        "lifetime": options.lifetime,
        "pools": list(options.pools),
        "faults": list(options.faults),
    }
    return json.dumps(document, sort_keys=True, default=str)


def _digest(path: str) -> str:
    """A file that cannot be read is refused where it is read."""
    try:
        with open(os.path.expanduser(path), "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:
        return path


def _objects(options: TwinOptions, cluster: Optional[Cluster], run: Run) -> tuple[Made, ...]:
    if options.snapshot:
        return snapshot.read(options.snapshot)
    if cluster is None:
        return ()
    run.progress(Progress("", f"reading {cluster.description}", urgent=True))
    return load.live(cluster)


# --- what comes of it ----------------------------------------------------------------------


def _predicted(options: TwinOptions, plan: _Plan, objects: Sequence[Made]) -> Report:
    StateDirectory(options.directory).check_parent()
    _check_port(options.port)
    if plan.spec is not None:
        nodes, pods = sum(pool.count for pool in plan.spec.nodes), None
    else:
        nodes = sum(one.resource == "nodes" for one in objects)
        pods = sum(one.resource == "pods" for one in objects)
    extra = {"nodes": nodes, **({} if pods is None else {"pods": pods})}
    return Report(
        changed=True,
        msg=f"A twin of {nodes} nodes would be started in {options.directory}.",
        diff=_diff(STOPPED, STARTED),
        extra=extra,
    )


def _check_port(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise port_problem(port, error) from error


def _stopped(options: TwinOptions, run: Run) -> Report:
    there = process.running(options.directory)
    if there is None and not run.check_mode:
        # What one that was killed has left is cleared away all the same.
        process.stop(options.directory)
    if there is None:
        return Report(msg=f"No twin runs in {options.directory}.")
    if not run.check_mode:
        process.stop(options.directory)
    verb = "would be stopped" if run.check_mode else "was stopped"
    return Report(
        changed=True,
        msg=f"The twin in {there.directory} {verb}.",
        diff=_diff(STARTED, STOPPED),
        extra=_facts(there),
    )


def _report(there: process.Started, msg: str) -> Report:
    diff = _diff(STOPPED, STARTED) if there.new else {}
    return Report(changed=there.new, msg=msg, diff=diff, extra=_facts(there))


def _facts(there: process.Started) -> dict[str, Any]:
    return {
        "kubeconfig": there.kubeconfig,
        "url": there.url,
        "pid": there.pid,
        "time": format_instant(instant_at(there.time)),
        "virtual_time": there.virtual,
        "nodes": there.nodes,
        "pods": there.pods,
    }


def _diff(before: str, after: str) -> dict[str, Any]:
    return {"before": {"state": before}, "after": {"state": after}}
