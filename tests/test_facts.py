from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from schemas.check import Bound, bind
from schemas.collection import Collection, Field, FieldType
from schemas.compile.predicate import to_predicate
from schemas.errors import FilterError
from schemas.facts import implies, is_contradiction, is_tautology, subsumed
from schemas.filters import EVERYTHING, NOTHING, AllOf, AnyOf, Not, parse_filter
from tests.strategies import WORLDS, World

KB = Collection(
    name="kb",
    fields=(
        Field(name="year", type=FieldType.INT),
        Field(name="score", type=FieldType.NUMBER),
        Field(name="dept", type=FieldType.STRING),
        Field(name="open", type=FieldType.BOOL),
        Field(name="day", type=FieldType.DATE),
        Field(name="tags", type=FieldType.STRING_LIST),
    ),
)


def bound(*parts: tuple[Any, ...], join: str = "and") -> Bound:
    of = [_leaf(part) for part in parts]
    return bind(parse_filter({"op": join, "of": of}), KB)


def _leaf(part: tuple[Any, ...]) -> dict[str, Any]:
    if part[0] == "not":
        return {"op": "not", "of": _leaf(part[1:])}
    field, op, *value = part
    return {"op": op, "field": field} | ({"value": value[0]} if value else {})


CONTRADICTIONS: list[tuple[tuple[Any, ...], ...]] = [
    (("year", "gt", 2023), ("year", "lt", 2020)),
    (("year", "gt", 2023), ("year", "lt", 2024)),
    (("year", "ge", 3), ("year", "le", 4), ("year", "not_in", [3, 4])),
    (("score", "gt", 1), ("score", "le", 1)),
    (("dept", "eq", "HR"), ("dept", "eq", "IT")),
    (("dept", "eq", "HR"), ("dept", "ne", "hr")),
    (("dept", "in", ["HR", "IT"]), ("dept", "starts_with", "l")),
    (("dept", "contains", "abc"), ("dept", "not_contains", "B")),
    (("dept", "starts_with", "ab"), ("dept", "starts_with", "ac")),
    (("dept", "starts_with", "ab"), ("not", "dept", "starts_with", "A")),
    (("dept", "gt", "m"), ("dept", "lt", "c")),
    (("dept", "empty"), ("dept", "eq", "HR")),
    (("dept", "empty"), ("dept", "not_empty")),
    (("dept", "in", []),),
    (("not", "dept", "not_in", []),),
    (("open", "ne", True), ("open", "ne", False)),
    (("day", "eq", 2024), ("day", "eq", 2023)),
    (("day", "ge", "2024-05-02"), ("day", "lt", "2024-05-02")),
    (("tags", "contains", "a"), ("tags", "not_contains", "A")),
    (("tags", "in", ["a", "b"]), ("tags", "ne", "a"), ("tags", "ne", "b")),
    (("tags", "gt", "m"), ("not", "tags", "gt", "m")),
]


@pytest.mark.parametrize("parts", CONTRADICTIONS)
def test_contradiction_is_found(parts: tuple[tuple[Any, ...], ...]) -> None:
    assert is_contradiction(bound(*parts))


POSSIBLE: list[tuple[tuple[Any, ...], ...]] = [
    (("year", "gt", 2023), ("year", "lt", 2025)),
    (("year", "lt", 2020), ("score", "gt", 2023)),
    (("score", "gt", 1), ("score", "lt", 1.0000001)),
    (("dept", "starts_with", "ab"), ("dept", "starts_with", "a")),
    (("dept", "contains", "b"), ("dept", "not_contains", "abc")),
    (("day", "eq", 2024), ("day", "eq", "2024-05")),
    (("tags", "eq", "a"), ("tags", "eq", "b")),
    (("tags", "gt", "m"), ("tags", "lt", "c")),
    (("dept", "not_in", []),),
]


@pytest.mark.parametrize("parts", POSSIBLE)
def test_what_can_match_is_no_contradiction(parts: tuple[tuple[Any, ...], ...]) -> None:
    assert not is_contradiction(bound(*parts))


def test_constants() -> None:
    assert is_contradiction(bind(NOTHING, KB))
    assert is_tautology(bind(EVERYTHING, KB))
    assert not is_contradiction(bind(EVERYTHING, KB))
    assert not is_tautology(bind(NOTHING, KB))


def test_tautology_counts_missing_rows() -> None:
    assert is_tautology(bound(("dept", "empty"), ("dept", "not_empty"), join="or"))
    assert is_tautology(bound(("year", "gt", 1), ("year", "le", 1), ("year", "empty"), join="or"))
    assert not is_tautology(bound(("year", "gt", 1), ("year", "le", 1), join="or"))
    assert not is_tautology(bound(("dept", "not_in", [])))


IMPLIED = [
    (("year", "gt", 5), ("year", "gt", 4), True),
    (("year", "gt", 4), ("year", "ge", 5), True),
    (("year", "gt", 4), ("year", "gt", 5), False),
    (("day", "eq", "2024-05"), ("day", "eq", 2024), True),
    (("day", "eq", 2024), ("day", "eq", "2024-05"), False),
    (("dept", "eq", "HR"), ("dept", "in", ["hr", "it"]), True),
    (("dept", "starts_with", "abc"), ("dept", "starts_with", "ab"), True),
    (("dept", "starts_with", "abc"), ("dept", "contains", "bc"), True),
    (("dept", "ne", "HR"), ("dept", "not_empty"), True),
    (("dept", "not_empty"), ("dept", "ne", "HR"), False),
    (("tags", "eq", "a"), ("tags", "in", ["a", "b"]), True),
]


@pytest.mark.parametrize(("narrow", "wide", "expected"), IMPLIED)
def test_implication(narrow: tuple[Any, ...], wide: tuple[Any, ...], expected: bool) -> None:
    assert implies(bound(narrow), bound(wide)) is expected


def test_implication_needs_one_collection() -> None:
    other = Collection(name="other", fields=KB.fields[:1])
    with pytest.raises(FilterError, match="two collections"):
        implies(bind(EVERYTHING, KB), bind(EVERYTHING, other))


def test_too_many_alternatives_claim_nothing() -> None:
    wide = {"op": "or", "of": [_leaf(("year", "eq", n)) for n in range(30)]}
    narrow = {"op": "or", "of": [_leaf(("year", "eq", n)) for n in range(30, 60)]}
    assert not is_contradiction(bind(parse_filter({"op": "and", "of": [wide, narrow]}), KB))


SUBSUMED = [
    ([("year", "gt", 4), ("year", "gt", 3)], [1]),
    ([("year", "gt", 4), ("year", "ge", 5)], [1]),
    ([("dept", "eq", "HR"), ("dept", "in", ["hr", "it"]), ("dept", "not_empty")], [1, 2]),
    ([("day", "eq", "2024-05"), ("day", "eq", 2024), ("year", "eq", 1)], [1]),
    ([("dept", "eq", "HR"), ("year", "eq", 1)], []),
    ([("tags", "eq", "a"), ("tags", "eq", "A")], [1]),
]


@pytest.mark.parametrize(("parts", "expected"), SUBSUMED)
def test_conditions_that_add_nothing(parts: list[tuple[Any, ...]], expected: list[int]) -> None:
    whole = bound(*parts)
    assert isinstance(whole.root, AllOf)
    assert subsumed(whole) == tuple(whole.root.of[i] for i in expected)


@given(WORLDS, WORLDS)
def test_what_is_claimed_holds_on_rows(world: World, other: World) -> None:
    """Also of filters that are made to be contradictory, to be true and to follow."""
    c = world.collection
    parts = [world.filter, other.filter]
    for f in (world.filter, AllOf(of=(world.filter, Not(of=world.filter))), AllOf(of=tuple(parts))):
        b = bind(f, c)
        verdicts = [to_predicate(b)(row) for row in world.rows]
        assert not (is_contradiction(b) and any(verdicts))
        assert not (is_tautology(b) and not all(verdicts))
        wide = bind(AnyOf(of=(world.filter, other.filter)), c)
        if implies(b, wide):
            assert all(to_predicate(wide)(row) for row in world.rows if to_predicate(b)(row))
