from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from schemas.diff import Diff, diff
from schemas.filters import EVERYTHING, Compare, Filter, all_of, any_of, parse_filter
from tests.strategies import FILTERS


def leaf(op: str, field: str, value: Any) -> Compare:
    parsed = parse_filter({"op": op, "field": field, "value": value})
    assert isinstance(parsed, Compare)
    return parsed


HR, IT = leaf("eq", "dept", "HR"), leaf("eq", "dept", "IT")
FROM_20, FROM_22 = leaf("ge", "year", 2020), leaf("ge", "year", 2022)
TO_24 = leaf("le", "year", 2024)
TAG = leaf("contains", "tags", "a")

CASES = [
    (EVERYTHING, EVERYTHING, Diff()),
    (HR, HR, Diff()),
    (EVERYTHING, HR, Diff(added=(HR,))),
    (all_of(HR, TAG), TAG, Diff(removed=(HR,))),
    (all_of(HR, TAG), all_of(TAG, IT), Diff(changed=((HR, IT),))),
    (all_of(FROM_20, TO_24), all_of(FROM_22, TO_24), Diff(changed=((FROM_20, FROM_22),))),
    (FROM_20, TO_24, Diff(added=(TO_24,), removed=(FROM_20,))),
    (FROM_20, leaf("gt", "year", 2020), Diff(changed=((FROM_20, leaf("gt", "year", 2020)),))),
    (HR, leaf("in", "dept", ["HR", "IT"]),
     Diff(changed=((HR, leaf("in", "dept", ["HR", "IT"])),))),
    (any_of(HR, IT), leaf("in", "dept", ["HR", "IT"]), Diff()),
    (any_of(HR, TAG), HR, Diff(added=(HR,), removed=(any_of(HR, TAG),))),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "expected"), CASES)
def test_difference(old: Filter, new: Filter, expected: Diff) -> None:
    assert diff(old, new) == expected


@given(FILTERS)
def test_nothing_changed_from_a_filter_to_itself(f: Filter) -> None:
    assert diff(f, f).is_empty


@given(FILTERS)
def test_order_of_conditions_is_no_change(f: Filter) -> None:
    assert diff(all_of(f, HR), all_of(HR, f)).is_empty
