# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A page is decoded one object at a time, and gives what json.loads gives."""

from __future__ import annotations

import gc
import json
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.kubernetes.paging import (
    Page,
    read_all,
)

METADATA = {"resourceVersion": "7", "continue": "t"}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(
    st.lists(st.dictionaries(st.text(), JSON)),
    st.sampled_from([None, 2]),
    st.sampled_from([("kind", "metadata", "items"), ("items", "metadata", "kind")]),
)
def test_a_page_gives_what_json_loads_gives(items, indent, order):
    whole = {"kind": "PodList", "metadata": METADATA, "items": items}
    text = json.dumps({key: whole[key] for key in order}, indent=indent)
    page = Page(text)
    assert (page.resource_version, page.token, list(page)) == ("7", "t", items)


@pytest.mark.parametrize(
    "text",
    ['{"metadata": {}}', '{"metadata": {}, "items": null}', '{"items": []}', '{"metadata": null}'],
)
def test_a_page_without_items_or_metadata_is_empty(text):
    page = Page(text)
    assert (page.resource_version, page.token, list(page)) == ("", "", [])


@pytest.mark.parametrize(
    "text",
    ["<html>", '{"metadata": {}, "items": [{"a": 1} {"b": 2}]}', '{"metadata": {}, "items": [{"a"'],
    ids=["html", "no-comma", "cut-short"],
)
def test_what_is_no_json_is_an_error(text):
    with pytest.raises(ValueError):
        list(Page(text))


def test_the_garbage_collector_runs_again_after_a_listing_that_failed():
    def broken(_query):
        raise OSError("no")

    assert gc.isenabled()
    with pytest.raises(OSError, match="no"):
        read_all(broken, dict, {})
    assert gc.isenabled()


@pytest.mark.parametrize(
    ("seconds", "ahead"), [(0.0, [False] * 4), (0.02, [False, True, True, True])]
)
def test_only_a_server_that_takes_its_time_is_asked_ahead(seconds, ahead):
    threads = []

    def open_page(query):
        threads.append(threading.current_thread() is not threading.main_thread())
        time.sleep(seconds)
        number = int(query.get("continue", "0"))
        metadata = {"resourceVersion": "7", "continue": str(number + 1) if number < 3 else ""}
        return lambda: json.dumps({"metadata": metadata, "items": [{"n": number}]}).encode()

    listing = read_all(open_page, dict, {})
    assert [item["n"] for item in listing.items] == [0, 1, 2, 3]
    assert threads == ahead
