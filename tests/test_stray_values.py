"""Values that stand where they do not belong, and what an engine cannot be trusted with."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.check import bind
from schemas.collection import Collection
from schemas.compile.literals import json_path
from schemas.compile.milvus import Split, split, to_milvus
from schemas.errors import FilterError
from schemas.filters import parse_filter
from tests.test_milvus_expression import (
    KNOWN,
    LITE,
    OWN,
    UNFOLDED,
    V23,
    V26,
    V30,
    E,
    F,
    K,
    at,
    foreign,
    leaf,
    said,
)

STRAYS = [
    (leaf("x", "ge", "2024-01-05T00:00:00Z"), foreign(F.DATETIME, at("x", K.VARCHAR, E.ISO_TIME)),
     '(x >= "2024-01-03T00:00:00")'),
    (leaf("x", "eq", "2024-01-05T00:00:00.5Z"), foreign(F.DATETIME, at("x", K.VARCHAR, E.ISO_TIME)),
     '((x >= "2024-01-03T00:00:00") and (((x is not null) and (x != "")) and '
     '(x < "2024-01-07T00:00:01")))'),
    (leaf("x", "ne", "2024-01-05T00:00:00Z"), foreign(F.DATETIME, at("x", K.VARCHAR, E.ISO_TIME)),
     '((x is not null) and (x != ""))'),
    (leaf("x", "empty"), foreign(F.DATE, at("x", K.INT, E.YYYYMMDD)), ""),
    (leaf("x", "le", "2024-01-05"), foreign(F.DATE, at("x", K.INT, E.YYYYMMDD)),
     "(x < 20240106)"),
    (leaf("x", "not_empty"), UNFOLDED, '((x is not null) and (x != ""))'),
    (leaf("x", "le", 2**53), foreign(F.NUMBER, at("d", K.JSON, path=("n",))),
     '(d["n"] <= 9007199254740994.0)'),
    (leaf("x", "eq", 0.5), foreign(F.NUMBER, at("d", K.JSON, path=("n",))), '(d["n"] == 0.5)'),
]  # fmt: skip


@pytest.mark.parametrize(("f", "c", "pushed"), STRAYS)
def test_where_others_may_stand_more_is_found_and_checked(
    f: Any, c: Collection, pushed: str
) -> None:
    bound = bind(parse_filter(f), c)
    assert split(bound, LITE) == Split(pushed, bound)


def test_blank_texts_are_found_as_missing() -> None:
    pushed = split(bind(parse_filter(leaf("x", "empty")), UNFOLDED), LITE).pushed
    assert pushed.startswith('(((x is null) or (x == "")) or (x < "!") or ')
    assert '"\u3000"' in pushed


SURE = [
    (leaf("x", "eq", "a"), UNFOLDED),
    (leaf("x", "contains", "a"), KNOWN),
    (leaf("x", "eq", 5), foreign(F.INT, at("x", K.INT))),
    (leaf("x", "lt", "2024"), foreign(F.DATETIME, at("x", K.INT, E.EPOCH_S))),
]


@pytest.mark.parametrize(("f", "c"), SURE)
def test_nothing_is_left_to_check_where_none_can(f: Any, c: Collection) -> None:
    assert all(split(bind(parse_filter(f), c), dialect).rest is None for dialect in (LITE, V26))


@pytest.mark.parametrize("key", ["][", "a][b", 'q"k', "back\\slash", "new\nline", "", "\u200b"])
def test_keys_that_servers_misread_are_not_sent(key: str) -> None:
    c = foreign(F.INT, at("doc", K.JSON, path=("a", key)))
    bound = bind(parse_filter(leaf("x", "eq", 1)), c)
    for dialect in (V23, V26, V30):
        assert split(bound, dialect) == Split("", bound)
        with pytest.raises(FilterError, match="misreads the key"):
            to_milvus(bound, dialect)
    assert split(bound, LITE).pushed == f"({json_path('doc', ('a', key))} == 1)"


def test_the_least_int_is_no_literal_of_servers() -> None:
    f = bind(parse_filter(leaf("nums", "in", [-(2**63), 5])), OWN)
    for dialect in (V23, V26):
        pushed = split(f, dialect).pushed
        assert "[-9223372036854775808" not in pushed
        assert "array_contains(nums, 5)" in pushed


def test_zero_stands_apart_from_lists() -> None:
    """Lite does not find -0.0 by a list with 0.0 in it."""
    assert said(leaf("score", "in", [0, 1, 2])) == "((score in [1.0, 2.0]) or (score == 0.0))"
    assert said(leaf("score", "not_in", [0, 1, 2])) == (
        "(((score is not null) and (score not in [1.0, 2.0])) and "
        "((score is not null) and (score != 0.0)))"
    )
