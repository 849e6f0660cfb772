from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from schemas.check import bind, check
from schemas.collection import Collection, Column, ColumnKind, Encoding, Field, FieldType, Profile
from schemas.errors import FilterError
from schemas.filters import BOUNDS, Compare, Not, Op, dump_filter, parse_filter
from tests.strategies import WORLDS, World

KB = Collection(
    name="kb",
    fields=tuple(Field(name=type_.value, type=type_) for type_ in FieldType),
)


def leaf(field: str, op: str, value: Any = None) -> Any:
    return {"op": op, "field": field} | ({} if value is None else {"value": value})


def both(*of: Any) -> Any:
    return {"op": "and", "of": list(of)}


def either(*of: Any) -> Any:
    return {"op": "or", "of": list(of)}


COERCED = [
    (leaf("int", "eq", "2023"), leaf("int", "eq", 2023)),
    (leaf("int", "in", ["1", 2.0, 1]), leaf("int", "in", [1, 2])),
    (leaf("string", "eq", 1), leaf("string", "eq", "1")),
    (leaf("string", "eq", "001"), leaf("string", "eq", "001")),
    (leaf("string", "in", "a,b"), leaf("string", "in", ["a,b"])),
    (leaf("number", "eq", 1), leaf("number", "eq", 1.0)),
    (leaf("bool", "eq", "Yes"), leaf("bool", "eq", True)),
    (leaf("int", "lt", 2.5), leaf("int", "le", 2)),
    (leaf("int", "ge", 2.5), leaf("int", "ge", 3)),
    (leaf("int", "gt", -2.5), leaf("int", "ge", -2)),
    (leaf("int", "eq", 2.5), leaf("int", "in", [])),
    (leaf("int", "ne", 2.5), leaf("int", "not_in", [])),
    (leaf("int", "in", [2, 2.5]), leaf("int", "in", [2])),
    (leaf("int", "not_in", [2, 2.5]), leaf("int", "not_in", [2])),
    (leaf("int", "lt", 1e30), leaf("int", "not_in", [])),
    (leaf("int", "lt", -1e30), leaf("int", "in", [])),
    (leaf("number", "eq", 2**53 + 1), leaf("number", "in", [])),
    (leaf("number", "gt", 2**53 + 1), leaf("number", "ge", float(2**53 + 2))),
    (leaf("number", "le", 2**53 + 1), leaf("number", "le", float(2**53))),
    (leaf("int_list", "contains", "3"), leaf("int_list", "contains", 3)),
    (leaf("date", "eq", "2024-05-31"), leaf("date", "eq", "2024-05-31")),
    (leaf("date", "eq", "2024-05-31T23:00:00-05:00"), leaf("date", "eq", "2024-05-31")),
    (
        leaf("date", "eq", 2024),
        both(leaf("date", "ge", "2024-01-01"), leaf("date", "lt", "2025-01-01")),
    ),
    (
        leaf("date", "ne", "2024-Q1"),
        either(leaf("date", "lt", "2024-01-01"), leaf("date", "ge", "2024-04-01")),
    ),
    (leaf("date", "gt", "2024-05"), leaf("date", "ge", "2024-06-01")),
    (leaf("date", "le", "2024-05"), leaf("date", "lt", "2024-06-01")),
    (leaf("date", "ge", "2024-05"), leaf("date", "ge", "2024-05-01")),
    (leaf("date", "lt", "2024-05"), leaf("date", "lt", "2024-05-01")),
    (leaf("date", "eq", "9999"), leaf("date", "ge", "9999-01-01")),
    (leaf("date", "gt", "9999"), leaf("date", "in", [])),
    (leaf("date", "le", "9999"), leaf("date", "not_in", [])),
    (
        leaf("date", "in", ["2024-01-01", 2023]),
        either(
            leaf("date", "in", ["2024-01-01"]),
            both(leaf("date", "ge", "2023-01-01"), leaf("date", "lt", "2024-01-01")),
        ),
    ),
    (
        leaf("date", "not_in", ["2024-01-01", 2023]),
        both(
            leaf("date", "not_in", ["2024-01-01"]),
            either(leaf("date", "lt", "2023-01-01"), leaf("date", "ge", "2024-01-01")),
        ),
    ),
    (
        leaf("datetime", "eq", "2024-05-31"),
        both(
            leaf("datetime", "ge", "2024-05-31T00:00:00Z"),
            leaf("datetime", "lt", "2024-06-01T00:00:00Z"),
        ),
    ),
    (leaf("datetime", "gt", "2024-05-31"), leaf("datetime", "ge", "2024-06-01T00:00:00Z")),
    (leaf("datetime", "le", "2024-05-31"), leaf("datetime", "lt", "2024-06-01T00:00:00Z")),
    (
        leaf("datetime", "gt", "2024-05-31T10:00:00+02:00"),
        leaf("datetime", "gt", "2024-05-31T08:00:00Z"),
    ),
    (
        leaf("datetime", "lt", "2024-05-31T08:00:00.0005Z"),
        leaf("datetime", "le", "2024-05-31T08:00:00Z"),
    ),
    (
        leaf("datetime", "le", "9999-12-31T23:59:59.9999Z"),
        leaf("datetime", "le", "9999-12-31T23:59:59.999Z"),
    ),
    (leaf("string", "empty"), leaf("string", "empty")),
]


@pytest.mark.parametrize(("given", "bound"), COERCED)
def test_value_is_brought_to_the_type(given: Any, bound: Any) -> None:
    assert dump_filter(bind(parse_filter(given), KB).root) == dump_filter(parse_filter(bound))


@given(WORLDS)
def test_binding_again_changes_nothing(world: World) -> None:
    root = bind(world.filter, world.collection).root
    assert dump_filter(bind(root, world.collection).root) == dump_filter(root)


PROBLEMS = [
    (leaf("color", "eq", 1), "unknown_field", "unknown field 'color' in 'kb'; known fields: bool,"),
    (leaf("INT", "eq", 1), "unknown_field", "unknown field 'INT'"),
    (
        leaf("bool", "gt", True),
        "operator_not_allowed",
        "allowed: eq, ne, in, not_in, empty, not_em",
    ),
    (
        leaf("int", "contains", "2"),
        "operator_not_allowed",
        "contains is not allowed on field 'int'",
    ),
    (leaf("date", "starts_with", "2024"), "operator_not_allowed", "of type date"),
    (leaf("int", "eq", "two"), "bad_value", "'two' is not a number"),
    (leaf("int", "eq", True), "bad_value", "True is not a number"),
    (leaf("int", "in", [1, "x"]), "bad_value", "'x' is not a number"),
    (leaf("int", "eq", "99999999999999999999"), "bad_value", "outside 64 bits"),
    (leaf("bool", "eq", 1), "bad_value", "1 is not a boolean; allowed: true, false"),
    (leaf("date", "eq", "2024-02-30"), "bad_value", "'2024-02-30' is not a date"),
    (leaf("date", "eq", "last year"), "bad_value", "allowed are forms like 2024-05-31, 2024-05"),
    (leaf("date", "eq", 24), "bad_value", "24 is not a date"),
    (leaf("datetime", "eq", "2024-05-31T10:00"), "bad_value", "a time without a zone"),
    (leaf("string", "eq", "  "), "bad_value", "use empty or not_empty"),
    (leaf("string", "in", ["a", ""]), "bad_value", "use empty or not_empty"),
    (leaf("string", "eq", ["a", "b"]), "bad_value", "eq takes one value, not a list"),
]


@pytest.mark.parametrize(("given", "code", "message"), PROBLEMS)
def test_problem_is_data(given: Any, code: str, message: str) -> None:
    checked = check(parse_filter(given), KB)
    assert checked.bound is None
    (problem,) = checked.problems
    assert problem.code == code
    assert problem.field == given["field"]
    assert message in problem.message


def test_all_problems_are_told_at_once() -> None:
    f = parse_filter(both(leaf("color", "eq", 1), leaf("int", "eq", 1), leaf("bool", "eq", 3)))
    assert [p.code for p in check(f, KB).problems] == ["unknown_field", "bad_value"]
    with pytest.raises(FilterError, match=r"unknown field 'color'.*; field 'bool'"):
        bind(f, KB)


def test_problem_names_what_was_allowed() -> None:
    (unknown,) = check(parse_filter(leaf("color", "eq", 1)), KB).problems
    assert unknown.allowed == tuple(sorted(KB.by_name))
    (operator,) = check(parse_filter(leaf("bool", "gt", True)), KB).problems
    assert operator.allowed == ("eq", "ne", "in", "not_in", "empty", "not_empty")


def test_missing_value_is_a_problem() -> None:
    (problem,) = check(Compare(op=Op.EQ, field="int"), KB).problems
    assert problem.code == "value_missing"


def test_size_is_a_problem() -> None:
    f = parse_filter(leaf("int", "eq", 1))
    for _ in range(BOUNDS.depth):
        f = Not(of=f)
    (problem,) = check(f, KB).problems
    assert problem.code == "too_large"


def test_single_precision_is_compared_as_such() -> None:
    column = Column(name="s", kind=ColumnKind.FLOAT)
    c = Collection(name="c", fields=(Field(name="s", type=FieldType.NUMBER, column=column),))
    root = bind(parse_filter(leaf("s", "eq", 0.1)), c).root
    assert root == Compare(op=Op.EQ, field="s", value=0.10000000149011612)
    assert bind(parse_filter(leaf("s", "lt", 1e39)), c).root == parse_filter(
        leaf("s", "not_in", [])
    )


def test_number_field_in_a_column_of_ints_is_compared_as_int() -> None:
    column = Column(name="s", kind=ColumnKind.INT)
    c = Collection(name="c", fields=(Field(name="s", type=FieldType.NUMBER, column=column),))
    assert bind(parse_filter(leaf("s", "lt", 2.5)), c).root == parse_filter(leaf("s", "le", 2))


def foreign(**column: Any) -> Collection:
    field = Field(name="x", type=FieldType.STRING, column=Column(name="x", **column))
    return Collection(name="c", fields=(field,))


def test_notes_say_what_columns_cannot() -> None:
    f = parse_filter(leaf("x", "eq", "a"))
    assert bind(f, foreign(kind="varchar", encoding=Encoding.FOLDED)).notes == ()
    (note,) = bind(f, foreign(kind="varchar")).notes
    assert "letter by letter" in note
    known = (
        foreign(kind="varchar")
        .fields[0]
        .model_copy(update={"values": ("a",), "profile": Profile(complete=True)})
    )
    (note,) = bind(f, Collection(name="c", fields=(known,))).notes
    assert "known values" in note
    notes = bind(f, foreign(kind="json", path=("a",))).notes
    assert any("x.a" in note for note in notes)
    assert bind(parse_filter(leaf("x", "empty")), foreign(kind="varchar")).notes == ()
