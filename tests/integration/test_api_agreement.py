# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What we make of random quantities, selectors, pods and budgets, beside what the real API makes.

At least 500 random cases in each run, whatever the seed: 150 quantities, 40 numbers, 120 selectors
as text and 120 as objects, 100 pods' requests, and 3 worlds of budgets, each budget and each
eviction one case. A disagreement that these find becomes a named unit test of the rule.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Optional

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.snapshot import read
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.budget import Budget
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.fleet import Fleet
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.quantity import parse_quantity
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.requests import (
    effective_requests,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.selector import (
    InvalidSelector,
    LabelSelector,
    parse_label_selector,
    parse_selector_text,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.disruption import (
    Kind,
    allowed,
    desired_healthy,
    expected_pods,
    is_healthy,
    predict_all,
)
from tests.control_plane.space import Space

from .api_oracles import DIFFERS, EQUAL, REJECTED, QuantityOracle, RequestsOracle, SelectorOracle
from .budget_worlds import GROUPS, World, build, worlds
from .calling import cluster_of


def random_cases(count: int) -> settings:
    """Each case is a request or two, whose time says nothing."""
    return settings(
        max_examples=count,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )


# --- quantities ----------------------------------------------------------------------------

DIGITS = st.text("0123456789", max_size=22)
GOOD = ["n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"]
GOOD += ["", "", "", "e3", "E3", "e-3", "E-12", "e+2", "e18", "E19"]
SUFFIXES = st.sampled_from(GOOD * 2 + ["K", "ki", "B", "KB", "mi", "e", "e-", "ee"])
NUMERALS = st.builds(
    "".join,
    st.tuples(
        st.sampled_from(["", "-", "+"] * 4 + ["--"]),
        DIGITS,
        st.sampled_from(["", "."] * 6 + [".."]),
        DIGITS,
        SUFFIXES,
        st.sampled_from([""] * 12 + [" ", "\n", "0"]),
    ),
)
QUANTITY_TEXTS = st.one_of(NUMERALS, NUMERALS, st.text("0123456789.+-eEinumkKMGTP ", max_size=8))
NUMBERS = st.one_of(
    st.integers(-(10**20), 10**20), st.floats(-1e25, 1e25, allow_nan=False, allow_infinity=False)
)


def our_view(oracle: QuantityOracle, text: str) -> tuple[str, str]:
    """What the server says of this text, and what it has to say if we are right."""
    try:
        value = Fraction(parse_quantity(text))
    except ValueError:
        return oracle.compare(text, 0), REJECTED
    nanos = value * 10**9
    assert nanos.denominator == 1
    return oracle.compare(text, int(nanos)), EQUAL


def test_c38_quantities_are_read_and_rejected_as_the_api_does(space: Space) -> None:
    oracle = QuantityOracle(space)
    for text in ("129e6", "123Mi", "1.5Gi", "100m", "250000000n", "0"):
        assert our_view(oracle, text) == (EQUAL, EQUAL), text
    assert our_view(oracle, "1KB") == (REJECTED, REJECTED)

    @random_cases(150)
    @given(QUANTITY_TEXTS)
    def agrees(text: str) -> None:
        answer, expected = our_view(oracle, text)
        assert answer in ((EQUAL,) if expected == EQUAL else (REJECTED,)), (text, answer)

    assert oracle.compare("1", 10**9 + 1) == DIFFERS
    agrees()


def test_numbers_of_json_are_quantities_as_the_api_has_them(space: Space) -> None:
    oracle = QuantityOracle(space)

    @random_cases(40)
    @given(NUMBERS)
    def agrees(number: float) -> None:
        assert oracle.takes(number)
        assert our_view(oracle, repr(number))[0] == EQUAL
        assert parse_quantity(number) == parse_quantity(repr(number))

    agrees()


# --- selectors -----------------------------------------------------------------------------

KEYS = ["app", "tier", "rank", "example.com/part"]
VALUES = ["", "a", "b", "web-1", "3", "10", "007", "9223372036854775807"]
WRONG_KEYS = ["", "-app", "Example.com/part", "a/b/c", "/x", "x/", "ä", "k" * 64, "a_b", "A.b"]
WRONG_VALUES = ["-a", "a-", "a b", "ö", "v" * 64, "9223372036854775808", "-3", "1.5", "exists"]
LABELS = st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES), max_size=4)
# Mostly right, so that whole selectors are right often enough.
ANY_KEY = st.sampled_from(KEYS * 6 + WRONG_KEYS)
ANY_VALUE = st.sampled_from(VALUES * 4 + WRONG_VALUES)

SPACES = st.sampled_from(["", "", "", " ", "  ", "\t"])
VALUE_LISTS = st.lists(ANY_VALUE, max_size=3).map(lambda values: f"({','.join(values)})")
REQUIREMENT_TEXTS = st.one_of(
    ANY_KEY,
    st.builds("!{}".format, ANY_KEY),
    st.builds(
        "{}{}{}{}{}".format,
        ANY_KEY,
        SPACES,
        st.sampled_from(["=", "==", "!=", "<", ">"]),
        SPACES,
        ANY_VALUE,
    ),
    st.builds("{} {}{}{}".format, ANY_KEY, st.sampled_from(["in", "notin"]), SPACES, VALUE_LISTS),
)
SELECTOR_TEXTS = st.one_of(
    st.lists(REQUIREMENT_TEXTS, max_size=3).map(",".join),
    st.lists(REQUIREMENT_TEXTS, max_size=2).map(" , ".join),
    st.text("ab=!<>(),in \t", max_size=8),
)

LISTING = st.fixed_dictionaries(
    {
        "key": ANY_KEY,
        "operator": st.sampled_from(["In", "NotIn"]),
        "values": st.lists(ANY_VALUE, min_size=1, max_size=3),
    }
)
ASKING = st.fixed_dictionaries(
    {"key": ANY_KEY, "operator": st.sampled_from(["Exists", "DoesNotExist"])},
    optional={"values": st.sampled_from([None, []])},
)
OPERATORS = st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist", "in", "Gt", ""])
WRONG_OFTEN = st.fixed_dictionaries(
    {"key": ANY_KEY, "operator": OPERATORS}, optional={"values": st.lists(ANY_VALUE, max_size=2)}
)
EXPRESSIONS = st.one_of(LISTING, LISTING, ASKING, ASKING, WRONG_OFTEN)
SELECTOR_OBJECTS = st.fixed_dictionaries(
    {},
    optional={
        "matchLabels": st.one_of(st.none(), st.dictionaries(ANY_KEY, ANY_VALUE, max_size=2)),
        "matchExpressions": st.one_of(st.none(), st.lists(EXPRESSIONS, max_size=3)),
    },
)
POD_LABELS: dict[str, Mapping[str, str]] = {
    f"p{number:02}": labels
    for number, labels in enumerate(
        [{}]
        + [{key: value} for key in KEYS for value in VALUES]
        + [{"app": "a", "tier": value, "rank": "10"} for value in VALUES]
        + [{"example.com/part": "b", "rank": value} for value in VALUES]
    )
}


def selected_by(selector: LabelSelector) -> list[str]:
    return [name for name, labels in POD_LABELS.items() if selector.matches(labels)]


def test_selector_texts_select_and_are_rejected_as_the_api_does(space: Space) -> None:
    oracle = SelectorOracle(space, POD_LABELS)

    @random_cases(120)
    @given(SELECTOR_TEXTS)
    def agrees(text: str) -> None:
        answer = oracle.selected(text)
        try:
            selector = parse_selector_text(text)
        except InvalidSelector:
            assert answer == REJECTED
            return
        assert answer == selected_by(selector)
        assert oracle.selected(str(selector)) == answer

    agrees()


def test_selector_objects_are_taken_by_the_api_as_by_us(space: Space) -> None:
    oracle = SelectorOracle(space, POD_LABELS)

    @random_cases(120)
    @given(SELECTOR_OBJECTS)
    def agrees(raw: Mapping[str, Any]) -> None:
        taken = oracle.takes(raw)
        try:
            selector = parse_label_selector(raw)
        except InvalidSelector:
            assert not taken
            return
        assert taken
        assert oracle.selected(str(selector)) == selected_by(selector)

    agrees()


# --- requests of pods ----------------------------------------------------------------------

CPU = st.sampled_from(["0", "1m", "100m", "0.25", "1", "1500m", "2e-1"])
MEMORY = st.sampled_from(["0", "1", "500k", "64Mi", "1.5Gi", "129e6", "1G"])
LISTS = st.fixed_dictionaries({"cpu": CPU, "memory": MEMORY})
CONTAINERS = st.fixed_dictionaries({"requests": LISTS})
WHOLE_PODS = st.fixed_dictionaries(
    {}, optional={"cpu": st.sampled_from(["8", "9.5"]), "memory": st.sampled_from(["20Gi"])}
)


@st.composite
def pod_specs(draw: st.DrawFn, runtime_class: str, overhead: Mapping[str, str]) -> dict[str, Any]:
    """A spec with sidecars, init containers, an overhead, requests of the whole pod."""
    plain = draw(st.lists(CONTAINERS, min_size=1, max_size=3))
    init = draw(st.lists(st.tuples(CONTAINERS, st.booleans()), max_size=3))
    spec: dict[str, Any] = {
        "containers": [_container(f"c{n}", resources) for n, resources in enumerate(plain)],
        "initContainers": [
            {**_container(f"i{n}", resources), **({"restartPolicy": "Always"} if sidecar else {})}
            for n, (resources, sidecar) in enumerate(init)
        ],
    }
    if draw(st.booleans()):
        spec.update(runtimeClassName=runtime_class, overhead=dict(overhead))
    if draw(st.integers(0, 2)) == 0:
        spec["resources"] = {"requests": draw(WHOLE_PODS)}
    return spec


def _container(name: str, resources: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": name, "image": "registry.test/main:1", "resources": resources}


def test_c37_requests_of_a_pod_are_what_a_quota_charges(space: Space) -> None:
    oracle = RequestsOracle(space)

    @random_cases(100)
    @given(pod_specs(oracle.runtime_class, oracle.overhead))
    def agrees(spec: dict[str, Any]) -> None:
        answer = oracle.requests(spec)
        assume(not isinstance(answer, str))
        ours = effective_requests({"spec": spec})
        assert {name: amount for name, amount in ours.items() if amount} == answer

    agrees()


# --- budgets -------------------------------------------------------------------------------

WORLDS, ROUNDS = 3, 4


def _difference(budget: Budget, fleet: Fleet) -> str:
    selected = [pod for pod in fleet.pods if budget.selects(pod.meta.namespace, pod.meta.labels)]
    expected = expected_pods(budget, selected, fleet.controller_by_uid)
    if expected is None:
        wanted: tuple[object, ...] = ("cannot be worked out", 0)
        found: tuple[object, ...] = (
            "cannot be worked out" if budget.sync_failure else budget.expected_pods,
            budget.disruptions_allowed,
        )
    else:
        rule = (budget.min_available, budget.max_unavailable)
        healthy = sum(is_healthy(budget, pod) for pod in selected)
        wanted = (
            expected,
            healthy,
            desired_healthy(*rule, expected),
            allowed(*rule, expected, healthy),
        )
        found = (
            budget.expected_pods,
            budget.current_healthy,
            budget.desired_healthy,
            budget.disruptions_allowed,
        )
    if found == wanted and (budget.sync_failure or not budget.stale):
        return ""
    return f"{budget}: the API says {found}, we say {wanted}, of {len(selected)} pods"


def eviction_differences(space: Space, fleet: Fleet) -> list[str]:
    """Where the Eviction API answers a dry run otherwise than predicted."""
    found = []
    for pod, prediction in predict_all(fleet, fleet.pods):
        status = _dry_eviction(space, pod.meta.namespace, pod.meta.name)
        passes = prediction.kind in (Kind.PASSES, Kind.UNGUARDED)
        expected = 201 if passes else 500 if prediction.code == "several_budgets" else 429
        if status != expected:
            found.append(f"{pod.key} {pod.phase}: {prediction} but the API says {status}")
    return found


def _dry_eviction(space: Space, namespace: str, pod: str) -> int:
    body = {"metadata": {"name": pod, "namespace": namespace}, "deleteOptions": {"dryRun": ["All"]}}
    path = space.path("v1", "pods", f"{pod}/eviction", namespace)
    answer = space.api.request("POST", path, body)
    return answer.status


def test_c09_c10_budgets_and_evictions_go_as_predicted(space: Space) -> None:
    space.nodes(2, pods=500)
    cases = 0

    @settings(random_cases(WORLDS), phases=(Phase.generate,))
    @given(worlds(ROUNDS))
    def agrees(world: World) -> None:
        nonlocal cases
        namespace = space.add_namespace(f"t-{space.id}-{uuid.uuid4().hex[:6]}")
        build(space, namespace, world.workloads)
        path = space.path("policy/v1", "poddisruptionbudgets", namespace=namespace)
        with cluster_of(space) as cluster:
            for guards in world.rounds:
                for number, guard in enumerate(guards):
                    space.api.create(path, guard.document(f"b{number}"))
                fleet = _agreed(space, lambda: read(cluster, namespaces=(namespace,)).fleet)
                assert eviction_differences(space, fleet) == []
                cases += len(fleet.budgets) + len(fleet.pods)
                space.api.delete(path)

    agrees()
    assert cases >= WORLDS * ROUNDS * GROUPS


def _agreed(space: Space, read: Callable[[], Fleet]) -> Fleet:
    """Statuses lag: waits until each is what we compute; fails with those that stay different."""
    last: list[str] = []

    def agreement() -> Optional[Fleet]:
        fleet = read()
        last[:] = [
            text for text in (_difference(budget, fleet) for budget in fleet.budgets) if text
        ]
        return None if last else fleet

    try:
        return space.wait(agreement, "the budgets are as computed", 15.0)
    except TimeoutError:
        pytest.fail("\n".join(last))
