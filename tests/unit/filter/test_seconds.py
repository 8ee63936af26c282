# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A duration in a playbook."""

from __future__ import annotations

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.evenkeel.fleet.plugins.filter.seconds import FilterModule, seconds


def test_a_duration_is_as_many_seconds_as_the_modules_read() -> None:
    assert FilterModule().filters() == {"seconds": seconds}
    assert [seconds(each) for each in ("1h30m", "90", 90)] == [5400.0, 90.0, 90.0]


def test_what_is_no_duration_is_refused_under_the_name_of_its_option() -> None:
    with pytest.raises(AnsibleFilterError, match=r"settle_timeout: not a duration: 'soon'\. Write"):
        seconds("soon", "settle_timeout")
