# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""model/selector: what is selected, how it is written, and what is no selector."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.selector import (
    InvalidSelector,
    LabelSelector,
    Requirement,
    label_key_problem,
    label_selector_document,
    label_value_problem,
    parse_label_selector,
    parse_selector_text,
)


def expression(key="tier", operator="In", values=("web",)):
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


MATCHES = [
    ({}, {"any": "thing"}, True),
    ({"matchLabels": None, "matchExpressions": None}, {}, True),
    ({"matchLabels": {"app": "web"}}, {"app": "web", "x": "y"}, True),
    ({"matchLabels": {"app": "web"}}, {"app": "db"}, False),
    ({"matchLabels": {"app": "web"}}, {}, False),
    ({"matchLabels": {"app": ""}}, {"app": ""}, True),
    ({"matchLabels": {"app": ""}}, {}, False),
    (expression(operator="In", values=("web", "api")), {"tier": "api"}, True),
    (expression(operator="In"), {}, False),
    (expression(operator="NotIn"), {"tier": "web"}, False),
    (expression(operator="NotIn"), {"tier": "db"}, True),
    (expression(operator="NotIn"), {}, True),
    (expression(operator="Exists", values=()), {"tier": ""}, True),
    (expression(operator="Exists", values=()), {}, False),
    (expression(operator="DoesNotExist", values=()), {"tier": ""}, False),
    (expression(operator="DoesNotExist", values=()), {}, True),
    ({"matchLabels": {"app": "web"}, **expression()}, {"app": "web", "tier": "db"}, False),
]
REFUSED = [
    (expression(operator="Gt"), r"matchExpressions\[0\]\.operator: 'Gt' is not one of In, NotIn"),
    (expression(operator=None), r"matchExpressions\[0\]\.operator: None"),
    (expression(values=()), r"matchExpressions\[0\]\.values: In needs at least one value"),
    (expression(operator="Exists"), r"matchExpressions\[0\]\.values: Exists takes no values"),
    (expression(key="a/b/c"), r"label key 'a/b/c': 'a/b' is not a DNS subdomain"),
    (expression(key=""), "label key ''"),
    (expression(values=("-",)), "label value '-' must be 1 to 63 letters"),
    (expression(values=(1,)), r"values: 1 is not a text; put it in quotes"),
    ({"matchLabels": {"app": 1}}, r"matchLabels\[app\]: 1 is not a text; put it in quotes"),
    ({"matchLabels": {"app": "a b"}}, r"matchLabels: label value 'a b'"),
    ({"matchLabels": ["app"]}, r"matchLabels: \['app'\] is not a mapping"),
    ({"matchExpressions": ["app"]}, r"matchExpressions\[0\]: 'app' is not a mapping"),
    (
        {"matchExpressions": [{"key": "a", "operator": "In", "values": "web"}]},
        r"values: 'web' is not a list",
    ),
]
TEXTS = [
    ("", ""),
    ("  ", ""),
    ("a", "a"),
    ("!a", "!a"),
    ("! a", "!a"),
    ("a=b", "a=b"),
    ("a==b", "a=b"),
    (" a = b , c != d ", "a=b,c!=d"),
    ("a=b,c!=d,e in (f,g),!h,i", "a=b,c!=d,e in (f,g),!h,i"),
    ("i,a=b", "a=b,i"),
    ("a in (c,b,b)", "a in (b,c)"),
    ("a notin (b)", "a notin (b)"),
    ("a notin ()", "a notin ()"),
    ("a in (,b)", "a in (,b)"),
    ("a=", "a="),
    ("a=,b", "a=,b"),
    ("a>5,b<7", "a>5,b<7"),
    ("in in (in,notin)", "in in (in,notin)"),
    ("notin", "notin"),
    ("example.com/a_b.c=d", "example.com/a_b.c=d"),
    ("a,\tb\r\n", "a,b"),
    ("a,a", "a"),
]
BROKEN = [
    (",", 1, "expected a label key, found ','"),
    ("a,", 3, "expected a label key, found the end"),
    ("a,,b", 3, "expected a label key, found ','"),
    ("!", 2, "expected a label key, found the end"),
    ("!a=b", 3, "expected ',', found '='"),
    ("a b", 3, "expected one of =, ==, !=, in, notin, <, >, found 'b'"),
    ("a=b c", 5, "expected ',', found 'c'"),
    ("a=b=c", 4, "expected ',', found '='"),
    ("a in b", 6, "expected '(', found 'b'"),
    ("a in (b", 8, "expected ',' or ')', found the end"),
    ("a in (b c)", 9, "expected ',' or ')', found 'c'"),
    ("b,a_/c=d", 3, "label key 'a_/c': 'a_' is not a DNS subdomain in lower case"),
    ("a=b,c=-", 5, "label value '-' must be 1 to 63"),
    ("a>x", 1, "'x' is not an integer of 64 bits"),
    ("a>9223372036854775808", 1, "is not an integer of 64 bits"),
]


@pytest.mark.parametrize(("raw", "labels", "selected"), MATCHES)
def test_a_label_selector_of_the_api_selects_as_the_api_does(raw, labels, selected):
    assert parse_label_selector(raw).matches(labels) is selected


@pytest.mark.parametrize(("raw", "problem"), REFUSED)
def test_a_wrong_label_selector_is_refused_with_its_field(raw, problem):
    with pytest.raises(InvalidSelector, match=problem):
        parse_label_selector(raw)


@pytest.mark.parametrize(("text", "written"), TEXTS)
def test_the_text_form_is_read_as_kubectl_reads_it_and_written_in_one_way(text, written):
    assert str(parse_selector_text(text)) == written


@pytest.mark.parametrize(("text", "position", "problem"), BROKEN)
def test_a_wrong_text_is_refused_with_its_position(text, position, problem):
    with pytest.raises(InvalidSelector) as refusal:
        parse_selector_text(text)
    assert f"position {position}: " in str(refusal.value)
    assert problem in str(refusal.value)


@pytest.mark.parametrize(
    ("value", "selected"),
    [("6", True), ("5", False), ("007", True), ("", False), ("six", False), ("1e3", False)],
)
def test_greater_compares_integers_and_never_selects_anything_else(value, selected):
    assert parse_selector_text("a>5").matches({"a": value}) is selected
    assert not parse_selector_text("a>5").matches({})


def test_both_forms_of_the_same_selector_are_equal():
    raw = {"matchLabels": {"a": "b"}, **expression("c", "NotIn", ("e", "d"))}
    assert parse_label_selector(raw) == parse_selector_text("c notin (d,e),a=b")


def test_only_a_selector_without_requirements_is_empty():
    assert parse_selector_text("").empty
    assert parse_label_selector({}).empty
    assert not parse_selector_text("a").empty


@pytest.mark.parametrize(
    ("key", "fine"),
    [
        ("a", True),
        ("A.b_c-9", True),
        ("x" * 63, True),
        ("x" * 64, False),
        ("x" * 250 + ".io/a", True),
        ("x" * 251 + ".io/a", False),
        ("Example.com/a", False),
        ("/a", False),
        ("a/", False),
        ("a.", False),
        ("a\n", False),
        ("\u00e9", False),
        (5, False),
    ],
)
def test_label_keys_are_checked_as_the_api_checks_them(key, fine):
    assert (label_key_problem(key) == "") is fine


@pytest.mark.parametrize(
    ("value", "fine"), [("", True), ("1.0", True), ("x" * 64, False), (".a", False), ("a\n", False)]
)
def test_label_values_are_checked_as_the_api_checks_them(value, fine):
    assert (label_value_problem(value) == "") is fine


keys = st.sampled_from(["a", "b", "in", "notin", "x.io/c"])
values = st.sampled_from(["", "1", "2", "in", "a.b"])
lists = st.lists(values, min_size=1, max_size=3).map(lambda some: tuple(sorted(set(some))))
requirements = st.one_of(
    st.builds(Requirement, keys, st.sampled_from(["exists", "!"])),
    st.builds(Requirement, keys, st.sampled_from(["=", "!="]), values.map(lambda one: (one,))),
    st.builds(Requirement, keys, st.sampled_from(["in", "notin"]), lists),
    st.builds(Requirement, keys, st.sampled_from([">", "<"]), st.just(("1",))),
)


@given(st.lists(requirements, max_size=5))
def test_what_is_written_is_read_back_as_the_same_selector(some):
    selector = LabelSelector(tuple(sorted(set(some))))
    assert parse_selector_text(str(selector)) == selector


@given(keys, lists, st.dictionaries(keys, values))
def test_notin_selects_exactly_what_in_does_not(key, some, labels):
    chosen, rest = (
        parse_label_selector(expression(key, name, some)).matches(labels)
        for name in ("In", "NotIn")
    )
    assert chosen is not rest


@pytest.mark.parametrize("text", ["", "a=b", "a!=b", "a in (b,c)", "a notin (b,c)", "a", "!a,b=c"])
def test_a_selector_as_the_api_has_it_is_read_back_as_the_same(text):
    selector = parse_selector_text(text)
    raw = label_selector_document(selector)
    labels = [{}, {"a": "b"}, {"a": "c"}, {"a": "x"}, {"b": "c"}, {"a": "b", "b": "c"}]
    found = parse_label_selector(raw)
    assert [found.matches(one) for one in labels] == [selector.matches(one) for one in labels]


@pytest.mark.parametrize("text", ["a>1", "a<1"])
def test_comparisons_are_no_part_of_a_selector_of_the_api(text):
    with pytest.raises(InvalidSelector, match="a LabelSelector has no"):
        label_selector_document(parse_selector_text(text))
