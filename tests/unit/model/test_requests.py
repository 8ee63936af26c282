# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""model/requests: what a pod takes from its node, as the scheduler counts it - C37."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.requests import (
    effective_requests,
)


def container(name, requests=None, *, sidecar=False):
    found = {"name": name}
    if requests is not None:
        found["resources"] = {"requests": requests}
    if sidecar:
        found["restartPolicy"] = "Always"
    return found


def cpu(name, millis, **kwargs):
    return container(name, {"cpu": f"{millis}m"}, **kwargs)


def raw_pod(*containers, init=(), status=None, **spec):
    if init:
        spec["initContainers"] = list(init)
    return {"spec": {"containers": list(containers), **spec}, "status": status or {}}


def reported(name="app", allocated=None, actual=None):
    status = {"name": name}
    if allocated is not None:
        status["allocatedResources"] = allocated
    if actual is not None:
        status["resources"] = {"requests": actual}
    return {"containerStatuses": [status]}


def pending_resize(reason):
    return {"conditions": [{"type": "PodResizePending", "status": "True", "reason": reason}]}


C37 = [
    pytest.param(raw_pod(cpu("app", 100), init=[cpu("init", 900)]), 900, id="init is the peak"),
    pytest.param(
        raw_pod(cpu("app", 200), init=[cpu("side", 300, sidecar=True)]), 500, id="a sidecar adds up"
    ),
    pytest.param(
        raw_pod(cpu("app", 100), init=[cpu("init", 900)], overhead={"cpu": "50m"}),
        950,
        id="overhead comes on top of the peak",
    ),
    pytest.param(
        raw_pod(cpu("app", 200), init=[cpu("side", 300, sidecar=True), cpu("init", 900)]),
        1200,
        id="a sidecar runs beside the init containers after it",
    ),
    pytest.param(
        raw_pod(cpu("app", 200), init=[cpu("init", 900), cpu("side", 300, sidecar=True)]),
        900,
        id="and not beside those before it",
    ),
]

TINY = {"cpu": "100u", "memory": "500m"}
A = {"cpu": "100m", "memory": "1Gi"}
B = {"cpu": "300m", "memory": "2Gi"}
C = {"cpu": "200m", "memory": "4Gi"}
PARSED_A = {"cpu": 100, "memory": 2**30}
PARSED_B = {"cpu": 300, "memory": 2 * 2**30}

CASES = [
    pytest.param({}, {}, id="an empty object"),
    pytest.param(raw_pod(container("app")), {}, id="no requests: nothing, not zero"),
    pytest.param(raw_pod(container("app", {})), {}, id="empty requests"),
    pytest.param(
        raw_pod(container("a", TINY), container("b", TINY)),
        {"cpu": 1, "memory": 1},
        id="rounded once, after adding",
    ),
    pytest.param(
        raw_pod(container("a", {"cpu": "1"}), container("b", {"nvidia.com/gpu": 1})),
        {"cpu": 1000, "nvidia.com/gpu": 1},
        id="each resource by itself",
    ),
    pytest.param(
        raw_pod(container("app", A), ephemeralContainers=[container("debug", B)]),
        PARSED_A,
        id="ephemeral containers take nothing",
    ),
    pytest.param(
        raw_pod(container("app", B), resources={"requests": {"cpu": "1"}}),
        {"cpu": 1000, "memory": 2 * 2**30},
        id="a request of the whole pod replaces the sum",
    ),
    pytest.param(
        raw_pod(container("app", {"nvidia.com/gpu": 1}), resources={"requests": A}),
        {**PARSED_A, "nvidia.com/gpu": 1},
        id="and leaves other resources alone",
    ),
    pytest.param(
        raw_pod(container("app", A), resources={"requests": {"example.com/x": 5}}),
        PARSED_A,
        id="only cpu, memory and huge pages are of the whole pod",
    ),
    pytest.param(
        raw_pod(container("app", A), overhead={"cpu": "1"}, resources={"requests": {"cpu": "2"}}),
        {"cpu": 3000, "memory": 2**30},
        id="overhead comes on top of the whole pod's",
    ),
    pytest.param(
        raw_pod(container("app", A), status=reported(allocated=A, actual=A)),
        PARSED_A,
        id="settled",
    ),
    pytest.param(
        raw_pod(container("app", B), status=reported(allocated=A, actual=A)),
        PARSED_B,
        id="growing: what is asked for counts already",
    ),
    pytest.param(
        raw_pod(container("app", A), status=reported(allocated=A, actual=B)),
        PARSED_B,
        id="shrinking: what it still has counts",
    ),
    pytest.param(
        raw_pod(container("app", A), status=reported(allocated=B, actual=C)),
        {"cpu": 300, "memory": 4 * 2**30},
        id="the greatest, per resource",
    ),
    pytest.param(
        raw_pod(container("app", A), status=reported(allocated=B)),
        PARSED_B,
        id="nothing reported as actual: as allocated",
    ),
    pytest.param(
        raw_pod(
            container("app", B),
            status={**reported(allocated=A, actual=A), **pending_resize("Infeasible")},
        ),
        PARSED_A,
        id="an infeasible resize does not count",
    ),
    pytest.param(
        raw_pod(container("app", B), status=pending_resize("Infeasible")),
        {},
        id="nor does anything else, where nothing was ever reported",
    ),
    pytest.param(
        raw_pod(
            container("app", B),
            status={**reported(allocated=A, actual=A), **pending_resize("Deferred")},
        ),
        PARSED_B,
        id="a deferred resize counts",
    ),
    pytest.param(
        raw_pod(
            container("app", A),
            resources={"requests": B},
            status={"resources": {"requests": C}, "allocatedResources": A},
        ),
        {"cpu": 300, "memory": 4 * 2**30},
        id="a resize of the whole pod",
    ),
    pytest.param(
        raw_pod(
            container("app", A),
            init=[container("side", A, sidecar=True)],
            status={"initContainerStatuses": [{"name": "side", "allocatedResources": B}]},
        ),
        {"cpu": 400, "memory": 3 * 2**30},
        id="a resize of a sidecar",
    ),
    pytest.param(
        raw_pod(
            container("app", A),
            container("proxy", A),
            status={
                "containerStatuses": [
                    {"name": "proxy", "allocatedResources": B, "resources": {"requests": A}},
                    {"name": "app", "allocatedResources": A, "resources": {"requests": A}},
                ]
            },
        ),
        {name: PARSED_A[name] + PARSED_B[name] for name in PARSED_A},
        id="a resize of one of two containers, reported in another order",
    ),
    pytest.param(
        raw_pod(
            container("app", A),
            container("proxy", A),
            status={**reported(allocated=A, actual=A), **pending_resize("Infeasible")},
        ),
        PARSED_A,
        id="an infeasible resize, and a container that was never reported",
    ),
]


@pytest.mark.parametrize(("raw", "millicores"), C37)
def test_c37_init_containers_sidecars_and_overhead(raw, millicores):
    assert effective_requests(raw) == {"cpu": millicores}


@pytest.mark.parametrize(("raw", "requests"), CASES)
def test_requests_are_those_of_the_scheduler(raw, requests):
    assert effective_requests(raw) == requests


def test_equal_shapes_share_one_result_that_nobody_can_change():
    first, second = (effective_requests(raw_pod(container("app", dict(A)))) for _unused in "ab")
    assert first is second
    with pytest.raises(TypeError):
        first["cpu"] = 0


def test_a_bad_quantity_is_a_value_error():
    with pytest.raises(ValueError, match="'1KB'"):
        effective_requests(raw_pod(container("app", {"memory": "1KB"})))


amounts = st.lists(st.integers(0, 5000), max_size=4)


@given(amounts, st.lists(st.tuples(st.booleans(), st.integers(0, 5000)), max_size=4))
def test_a_pod_takes_its_steady_state_or_its_worst_moment_of_starting(apps, inits):
    raw = raw_pod(
        *(cpu(f"app{index}", millis) for index, millis in enumerate(apps)),
        init=[cpu(f"init{i}", millis, sidecar=side) for i, (side, millis) in enumerate(inits)],
    )
    sidecars = [millis if side else 0 for side, millis in inits]
    moments = [sum(apps) + sum(sidecars)]
    for index, (side, millis) in enumerate(inits):
        moments.append(sum(sidecars[: index + 1]) + (0 if side else millis))
    assert effective_requests(raw).get("cpu", 0) == max(moments)
