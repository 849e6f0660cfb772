from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from pydantic import JsonValue

from schemas.check import bind
from schemas.collection import Collection, Field, FieldType
from schemas.compile.predicate import to_predicate
from schemas.filters import AllOf, AnyOf, Not, parse_filter
from tests.strategies import WORLDS, World

KB = Collection(
    name="kb",
    fields=(
        Field(name="dept", type=FieldType.STRING),
        Field(name="year", type=FieldType.INT),
        Field(name="score", type=FieldType.NUMBER),
        Field(name="open", type=FieldType.BOOL),
        Field(name="day", type=FieldType.DATE),
        Field(name="seen", type=FieldType.DATETIME),
        Field(name="tags", type=FieldType.STRING_LIST),
        Field(name="nums", type=FieldType.INT_LIST),
    ),
)


def leaf(field: str, op: str, value: Any = None) -> dict[str, Any]:
    return {"op": op, "field": field} | ({} if value is None else {"value": value})


def matching(f: Any, values: list[Any], field: str) -> list[Any]:
    """The values of a field, of those given, that the filter lets through."""
    matches = to_predicate(bind(parse_filter(f), KB))
    return [value for value in values if matches({field: value})]


DEPTS: list[JsonValue] = ["HR", " hr ", "Finance", "", None, []]
DAYS = ["2023-12-31", "2024-01-01", "2024-05-31", "2024-12-31", "2025-01-01", None, "unknown"]
SEEN = ["2024-05-30T23:59:59Z", "2024-05-31T00:00:00Z", "2024-05-31T23:59:59.999Z",
        "2024-06-01T01:00:00+02:00", "2024-06-01T00:00:00Z", None]  # fmt: skip
TAGS: list[JsonValue] = [["a"], ["a", "b"], ["B"], ["abc"], [], [""], None]
YEARS: list[JsonValue] = [2019, "2020", 2021.0, 2022, True, "n/a", None]

CASES: list[tuple[Any, str, list[Any], list[int]]] = [
    (leaf("dept", "eq", "Hr"), "dept", DEPTS, [0, 1]),
    (leaf("dept", "ne", "Hr"), "dept", DEPTS, [2]),
    ({"op": "not", "of": leaf("dept", "eq", "Hr")}, "dept", DEPTS, [2]),
    (leaf("dept", "empty"), "dept", DEPTS, [3, 4, 5]),
    (leaf("dept", "not_empty"), "dept", DEPTS, [0, 1, 2]),
    (leaf("dept", "in", []), "dept", DEPTS, []),
    (leaf("dept", "not_in", []), "dept", DEPTS, [0, 1, 2]),
    ({"op": "not", "of": leaf("dept", "in", [])}, "dept", DEPTS, [0, 1, 2]),
    (leaf("dept", "not_in", ["hr"]), "dept", DEPTS, [2]),
    (leaf("dept", "contains", "NAN"), "dept", DEPTS, [2]),
    (leaf("dept", "not_contains", "nan"), "dept", DEPTS, [0, 1]),
    (leaf("dept", "starts_with", "FIN"), "dept", DEPTS, [2]),
    (leaf("dept", "ends_with", "r"), "dept", DEPTS, [0, 1]),
    ({"op": "not", "of": leaf("dept", "ends_with", "r")}, "dept", DEPTS, [2]),
    (leaf("dept", "lt", "g"), "dept", DEPTS, [2]),
    (leaf("year", "ge", 2020), "year", YEARS, [1, 2, 3]),
    (leaf("year", "lt", 2020.5), "year", YEARS, [0, 1]),
    (leaf("year", "eq", 2020.5), "year", YEARS, []),
    (leaf("year", "ne", 2020.5), "year", YEARS, [0, 1, 2, 3]),
    (leaf("year", "empty"), "year", YEARS, [4, 5, 6]),
    (leaf("day", "eq", 2024), "day", DAYS, [1, 2, 3]),
    (leaf("day", "ne", 2024), "day", DAYS, [0, 4]),
    (leaf("day", "gt", "2024-05"), "day", DAYS, [3, 4]),
    (leaf("day", "le", "2024-05"), "day", DAYS, [0, 1, 2]),
    (leaf("day", "in", ["2023-12-31", "2024-Q4"]), "day", DAYS, [0, 3]),
    (leaf("day", "not_in", ["2023-12-31", "2024-Q4"]), "day", DAYS, [1, 2, 4]),
    (leaf("seen", "eq", "2024-05-31"), "seen", SEEN, [1, 2, 3]),
    (leaf("seen", "gt", "2024-05-31"), "seen", SEEN, [4]),
    (leaf("seen", "le", "2024-05-31"), "seen", SEEN, [0, 1, 2, 3]),
    (leaf("seen", "ge", "2024-05-31T23:00:00Z"), "seen", SEEN, [2, 3, 4]),
    (leaf("tags", "eq", "A"), "tags", TAGS, [0, 1]),
    (leaf("tags", "contains", "a"), "tags", TAGS, [0, 1]),
    (leaf("tags", "ne", "a"), "tags", TAGS, [2, 3]),
    (leaf("tags", "not_in", ["a", "b"]), "tags", TAGS, [3]),
    (leaf("tags", "in", ["b", "c"]), "tags", TAGS, [1, 2]),
    (leaf("tags", "starts_with", "ab"), "tags", TAGS, [3]),
    (leaf("tags", "gt", "a"), "tags", TAGS, [1, 2, 3]),
    ({"op": "not", "of": leaf("tags", "gt", "a")}, "tags", TAGS, [0]),
    (leaf("tags", "le", "a"), "tags", TAGS, [0, 1]),
    (leaf("tags", "empty"), "tags", TAGS, [4, 5, 6]),
    (leaf("open", "eq", "yes"), "open", [True, False, "true", 1, None], [0, 2]),
    (leaf("open", "ne", True), "open", [True, False, "true", 1, None], [1]),
    (leaf("score", "eq", 2**53 + 1), "score", [float(2**53), float(2**53 + 2)], []),
    (leaf("score", "gt", 2**53 + 1), "score", [float(2**53), float(2**53 + 2)], [1]),
    (leaf("nums", "ge", 5), "nums", [[1, 9], [4], [], "7"], [0, 3]),
]


@pytest.mark.parametrize(("f", "field", "values", "expected"), CASES)
def test_rows_that_match(f: Any, field: str, values: list[Any], expected: list[int]) -> None:
    assert matching(f, values, field) == [values[i] for i in expected]


def test_unknown_is_neither_true_nor_false() -> None:
    unknown = parse_filter(leaf("year", "eq", 1))
    true, false = parse_filter({"op": "and", "of": []}), parse_filter({"op": "or", "of": []})
    for f, expected in [
        (unknown, False),
        (Not(of=unknown), False),
        (AnyOf(of=(unknown, true)), True),
        (Not(of=AllOf(of=(unknown, false))), True),
        (Not(of=AnyOf(of=(unknown, false))), False),
        (AllOf(of=(unknown, true)), False),
    ]:
        assert to_predicate(bind(f, KB))({}) is expected


@pytest.mark.parametrize("word", ["a%b", "a_b", 'q"q', "it's", "a\\b", "\\", "%", "a\nb", "新'能"])
def test_every_character_is_plain(word: str) -> None:
    values = [word, word.replace("%", "x").replace("_", "x"), f"<{word}>"]
    assert matching(leaf("dept", "eq", word), [word, "axb"], "dept") == [word]
    found = matching(leaf("dept", "contains", word), values, "dept")
    assert found == [value for value in values if word in value]


def test_scope_compares_exactly() -> None:
    bound = bind(parse_filter(leaf("dept", "eq", "acme")), KB)
    rows: list[dict[str, JsonValue]] = [{"dept": "acme"}, {"dept": "ACME"}, {"dept": " acme"}, {}]
    assert [to_predicate(bound, exact=True)(row) for row in rows] == [True, False, False, False]
    assert [to_predicate(bound)(row) for row in rows] == [True, True, True, False]


def test_scope_knows_missing_values() -> None:
    bound = bind(parse_filter(leaf("dept", "empty")), KB)
    assert [to_predicate(bound, exact=True)({"dept": v}) for v in ("", "  ", "x")] == [
        True,
        True,
        False,
    ]


@given(WORLDS)
def test_a_row_never_matches_a_filter_and_its_negation(world: World) -> None:
    matches = to_predicate(bind(world.filter, world.collection))
    differs = to_predicate(bind(Not(of=world.filter), world.collection))
    assert not any(matches(row) and differs(row) for row in world.rows)


@given(WORLDS)
def test_missing_and_present_part_the_rows(world: World) -> None:
    for name in world.collection.by_name:
        missing = to_predicate(bind(parse_filter(leaf(name, "empty")), world.collection))
        present = to_predicate(bind(parse_filter(leaf(name, "not_empty")), world.collection))
        assert all(missing(row) is not present(row) for row in world.rows)
