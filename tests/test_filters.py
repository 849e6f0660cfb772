from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from pydantic import ValidationError

from schemas.access import Scope
from schemas.errors import FilterError
from schemas.filters import (
    BOUNDS,
    EVERYTHING,
    NOTHING,
    AllOf,
    AnyOf,
    Compare,
    Filter,
    Not,
    Op,
    all_of,
    any_of,
    check_size,
    dump_filter,
    leaves,
    parse_filter,
    to_json,
    walk,
)
from tests.strategies import FILTERS


def leaf(op: str = "eq", field: Any = "dept", value: Any = "HR") -> dict[str, Any]:
    return {"op": op, "field": field, "value": value}


@given(FILTERS)
def test_json_round_trip(f: Filter) -> None:
    text = dump_filter(f)
    assert dump_filter(parse_filter(json.loads(text))) == text
    assert parse_filter(to_json(f)) == f


@given(FILTERS)
def test_shapes_with_a_filter_round_trip(f: Filter) -> None:
    scope = Scope(filter=f)
    again = Scope.model_validate_json(scope.model_dump_json())
    assert dump_filter(again.filter) == dump_filter(f)
    assert again.digest == scope.digest


def test_one_and_true_and_one_point_nought_differ() -> None:
    texts = {dump_filter(Compare(op=Op.EQ, field="x", value=v)) for v in (1, True, 1.0, "1")}
    assert len(texts) == 4


def test_other_spellings_are_parsed_into_one() -> None:
    parsed = parse_filter({"op": "AND", "of": [leaf(">=", "year", 2020), leaf("is not")]})
    assert parsed == AllOf(
        of=(
            Compare(op=Op.GE, field="year", value=2020),
            Compare(op=Op.NE, field="dept", value="HR"),
        )
    )


def test_presence_takes_no_value() -> None:
    assert parse_filter({"op": "empty", "field": "x", "value": ""}) == Compare(
        op=Op.EMPTY, field="x"
    )
    assert dump_filter(Compare(op=Op.EMPTY, field="x", value="y")) == '{"op":"empty","field":"x"}'


def test_comma_is_no_separator_here() -> None:
    assert parse_filter(leaf("in", "x", "a,b")) == Compare(op=Op.IN, field="x", value="a,b")


WRONG: list[tuple[object, str]] = [
    (None, "filter: a filter is an object"),
    ([], "filter: a filter is an object"),
    ("year > 3", "filter: a filter is an object"),
    ({}, "unknown operator None"),
    (leaf("~"), r"unknown operator '~'; allowed: eq, .*; joins: and, or, not"),
    (leaf("like"), "unknown operator 'like'"),
    ({"op": "xor", "of": []}, "unknown join word 'xor'; allowed: and, or, not"),
    ({"of": []}, "unknown join word None"),
    ({"op": "and"}, "takes a list of filters"),
    ({"op": "and", "of": leaf()}, "takes a list of filters"),
    ({"op": "not", "of": [leaf()]}, "a filter is an object"),
    ({"op": "or", "of": [leaf(), 3]}, r"filter.of\[1\]: a filter is an object"),
    ({"op": "and", "of": [], "if": 1}, "unknown key 'if'; allowed: of, op"),
    ({**leaf(), "boost": 2}, "unknown key 'boost'; allowed: field, op, value"),
    ({"op": "eq", "value": 1}, "a field name is needed"),
    (leaf(field=""), "a field name is needed"),
    (leaf(field=["a"]), "a field name is needed"),
    ({"op": "eq", "field": "x"}, "eq on field 'x' needs a value"),
    (leaf(value={"a": 1}), "a value is a string"),
    (leaf("in", value=[["a"]]), "a value is a string"),
    (leaf("in", value=[None]), "a value is a string"),
    (leaf(value=math.nan), "not a finite number"),
    (leaf(value=-math.inf), "not a finite number"),
    (leaf(value=2**63), "outside 64 bits"),
    (leaf("in", value=[1, -(2**63) - 1]), "outside 64 bits"),
    (leaf(value="\ud800"), "not valid Unicode"),
    (leaf(field="\udfff"), "not valid Unicode"),
]


@pytest.mark.parametrize(("obj", "message"), WRONG)
def test_what_cannot_be_understood_is_an_error(obj: object, message: str) -> None:
    with pytest.raises(FilterError, match=message):
        parse_filter(obj)


@pytest.mark.parametrize(("obj", "message"), WRONG)
def test_shapes_refuse_it_too(obj: object, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Scope.model_validate({"filter": obj})


def test_unsafe_values_cannot_be_built() -> None:
    for value in (math.nan, 2**64, ["a", {}], object()):
        with pytest.raises(ValidationError):
            Compare(op=Op.EQ, field="x", value=value)


def nested(depth: int, join: str = "and") -> Any:
    obj: Any = leaf()
    for _ in range(depth):
        obj = {"op": join, "of": [obj]}
    return obj


def test_wrappers_of_one_part_are_no_depth() -> None:
    assert parse_filter(nested(300)) == parse_filter(leaf())
    assert parse_filter(nested(100_000)) == parse_filter(leaf())
    assert parse_filter(nested(3)) == AllOf(of=(AllOf(of=(AllOf(of=(parse_filter(leaf()),)),)),))


def test_bounds_are_named() -> None:
    deep: Any = leaf()
    for _ in range(BOUNDS.depth):
        deep = {"op": "not", "of": deep}
    with pytest.raises(FilterError, match=r"deeper than 40 levels"):
        parse_filter(deep)
    with pytest.raises(FilterError, match=r"more than 1000 nodes"):
        parse_filter({"op": "or", "of": [leaf()] * 1_000})
    with pytest.raises(FilterError, match=r"10001 elements; at most 10000"):
        parse_filter(leaf("in", value=["a"] * 10_001))
    with pytest.raises(FilterError, match=r"65536 characters; at most 65535"):
        parse_filter(leaf(value="x" * 65_536))
    with pytest.raises(FilterError, match=r"256 characters; at most 255"):
        parse_filter(leaf(field="x" * 256))


def test_bounds_allow_what_is_just_within() -> None:
    deep: Any = leaf("in", value=["a"] * 10_000)
    for _ in range(BOUNDS.depth - 1):
        deep = {"op": "not", "of": deep}
    assert isinstance(parse_filter(deep), Not)
    assert len(list(walk(parse_filter({"op": "or", "of": [leaf()] * 999})))) == 1_000


def test_filters_made_in_code_are_measured_too() -> None:
    f: Filter = Compare(op=Op.EMPTY, field="x")
    for _ in range(BOUNDS.depth):
        f = Not(of=f)
    with pytest.raises(FilterError, match="deeper"):
        check_size(f)
    with pytest.raises(FilterError, match="nodes"):
        check_size(AnyOf(of=(EVERYTHING,) * 1_000))


def test_walk_and_leaves_go_from_left_to_right() -> None:
    f = parse_filter(
        {
            "op": "and",
            "of": [leaf(field="a"), {"op": "not", "of": leaf(field="b")}, leaf(field="c")],
        }
    )
    assert [node.op for node in walk(f)] == ["and", "eq", "not", "eq", "eq"]
    assert [found.field for found in leaves(f)] == ["a", "b", "c"]


def test_joining_leaves_out_neutral_parts() -> None:
    one = Compare(op=Op.EQ, field="x", value=1)
    assert all_of() == all_of(EVERYTHING) == EVERYTHING
    assert any_of() == any_of(NOTHING) == NOTHING
    assert all_of(EVERYTHING, one) == any_of(one) == one
    assert all_of(one, NOTHING) == AllOf(of=(one, NOTHING))
    assert any_of(one, EVERYTHING) == AnyOf(of=(one, EVERYTHING))


def test_filters_are_frozen_and_hashable() -> None:
    f = parse_filter({"op": "or", "of": [leaf("in", value=["a", 1])]})
    assert hash(f) == hash(parse_filter(to_json(f)))
    with pytest.raises(ValidationError):
        f.op = "and"  # type: ignore[misc]  # meant
