# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""model/offering: what is for sale, read from documents, tables and Karpenter's own file."""

from __future__ import annotations

from decimal import Decimal

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import InvalidOption
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import Taint
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.offering import (
    Offering,
    parse_offerings,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.offering_formats import (
    from_csv,
    from_karpenter,
)

GIB = 2**30
LARGE = {
    "instance_type": "m5.large",
    "zone": "z1",
    "capacity_type": "spot",
    "price_per_hour": "0.107",
    "capacity": {"cpu": "2", "memory": "8Gi", "pods": 29},
    "overhead": {"cpu": "70m", "memory": "1Gi"},
    "labels": {"kubernetes.io/arch": "amd64"},
    "taints": [{"key": "dedicated", "value": "batch", "effect": "NoSchedule"}],
}


def test_an_offering_with_all_that_it_may_have():
    (found,) = parse_offerings([LARGE])
    assert found == Offering(
        instance_type="m5.large",
        zone="z1",
        capacity_type="spot",
        price=Decimal("0.107"),
        capacity={"cpu": 2000, "memory": 8 * GIB, "pods": 29},
        allocatable={"cpu": 1930, "memory": 7 * GIB, "pods": 29},
        labels={"kubernetes.io/arch": "amd64"},
        taints=(Taint("dedicated", "batch", "NoSchedule"),),
    )


def test_the_least_that_an_offering_needs():
    names = ("instance_type", "price_per_hour", "capacity")
    (found,) = parse_offerings([{name: LARGE[name] for name in names}])
    assert (found.key, found.allocatable) == ("m5.large/*/on-demand", found.capacity)


def test_prices_are_exact_and_offerings_sorted():
    found = parse_offerings(
        [{**LARGE, "zone": zone, "price_per_hour": 0.1} for zone in ("z2", "z1")]
    )
    assert [(one.zone, one.price) for one in found] == [
        ("z1", Decimal("0.1")),
        ("z2", Decimal("0.1")),
    ]


def test_the_node_that_it_becomes_has_its_labels_and_taints_and_room_for_daemons():
    (found,) = parse_offerings([LARGE])
    node = found.node("new-1", {"cpu": 130, "memory": GIB, "pods": 2})
    assert node.meta.labels == {
        "kubernetes.io/arch": "amd64",
        "node.kubernetes.io/instance-type": "m5.large",
        "karpenter.sh/capacity-type": "spot",
        "topology.kubernetes.io/zone": "z1",
    }
    assert (node.taints, node.schedulable) == (found.taints, True)
    assert node.allocatable == {"cpu": 1800, "memory": 6 * GIB, "pods": 27}


REFUSED = [
    pytest.param({}, "not a list", id="no-list"),
    pytest.param([], "not a list", id="an-empty-list"),
    pytest.param(["m5.large"], "entry 1 is not a map", id="a-name-alone"),
    pytest.param([LARGE, LARGE], "entry 2: m5.large/z1/spot is there already", id="twice"),
    pytest.param([{**LARGE, "price": 1}], "entry 1: price is unknown", id="an-unknown-key"),
    pytest.param(
        [{key: LARGE[key] for key in LARGE if key != "price_per_hour"}],
        "price_per_hour is missing",
        id="no-price",
    ),
    pytest.param([{**LARGE, "price_per_hour": -1}], "-1 is no price", id="a-negative-price"),
    pytest.param([{**LARGE, "price_per_hour": "$1"}], "'$1' is no price", id="a-currency-sign"),
    pytest.param([{**LARGE, "price_per_hour": "NaN"}], "'NaN' is no price", id="not-a-number"),
    pytest.param([{**LARGE, "price_per_hour": True}], "True is no price", id="a-boolean-price"),
    pytest.param([{**LARGE, "capacity_type": "Spot"}], "'Spot' is none of", id="capacity-type"),
    pytest.param(
        [{**LARGE, "capacity": {"cpu": "2", "memory": "8GB", "pods": 29}}],
        "capacity: not a quantity: '8GB'",
        id="an-unknown-unit",
    ),
    pytest.param(
        [{**LARGE, "capacity": {"cpu": "2"}}], "no memory and no pods", id="half-a-capacity"
    ),
    pytest.param(
        [{**LARGE, "overhead": {"cpu": "-1"}}], "overhead: cpu is negative", id="negative-overhead"
    ),
    pytest.param([{**LARGE, "overhead": "1"}], "overhead is not a map", id="overhead-no-map"),
    pytest.param(
        [{**LARGE, "taints": [{"key": "a", "effect": "Never"}]}], "is no taint", id="bad-taint"
    ),
]


@pytest.mark.parametrize(("document", "words"), REFUSED)
def test_a_bad_entry_is_named(document, words):
    with pytest.raises(InvalidOption) as refusal:
        parse_offerings(document)
    assert words in str(refusal.value)


TABLE = """\
instance_type,zone,price_per_hour,cpu,memory,pods,capacity:nvidia.com/gpu,overhead:cpu,label:arch
m5.large,z1,0.107,2,8Gi,29,,70m,amd64
g4.xlarge,,0.526,4,16Gi,29,1,,
"""


def test_a_table_reads_like_the_document():
    assert parse_offerings(from_csv(TABLE)) == parse_offerings(
        [
            {
                "instance_type": "m5.large",
                "zone": "z1",
                "price_per_hour": "0.107",
                "capacity": {"cpu": "2", "memory": "8Gi", "pods": 29},
                "overhead": {"cpu": "70m"},
                "labels": {"arch": "amd64"},
            },
            {
                "instance_type": "g4.xlarge",
                "price_per_hour": "0.526",
                "capacity": {"cpu": "4", "memory": "16Gi", "pods": 29, "nvidia.com/gpu": 1},
            },
        ]
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("instance_type,price\n", "column 'price' is unknown", id="unknown-column"),
        pytest.param("instance_type\na,b\n", "line 2 has more fields", id="a-field-too-many"),
    ],
)
def test_a_bad_table_is_refused(text, words):
    with pytest.raises(InvalidOption) as refusal:
        from_csv(text)
    assert words in str(refusal.value)


def karpenter(price, zone, available=True):
    return {
        "Price": price,
        "Available": available,
        "Requirements": [
            {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot"]},
            {"key": "topology.kubernetes.io/zone", "operator": "In", "values": [zone]},
        ],
    }


def test_karpenters_file_gives_one_offering_for_each_that_is_available():
    types = [
        {
            "name": "c-1x",
            "offerings": [karpenter(0.019003238553599998, "z1"), karpenter(0.02, "z2", False)],
            "architecture": "arm64",
            "operatingSystems": ["linux"],
            "resources": {"cpu": "1", "memory": "2Gi", "pods": "16"},
        }
    ]
    (found,) = parse_offerings(from_karpenter(types))
    assert (found.key, found.price) == ("c-1x/z1/spot", Decimal("0.019003238553599998"))
    assert found.labels == {"kubernetes.io/arch": "arm64", "kubernetes.io/os": "linux"}


def test_another_file_is_not_taken_for_karpenters():
    with pytest.raises(InvalidOption):
        from_karpenter([LARGE])
