from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from schemas.check import bind
from schemas.collection import Collection, Field, FieldType, Profile
from schemas.compile import dify, ragflow
from schemas.compile.predicate import to_predicate
from schemas.compile.wire import WireMode
from schemas.errors import FilterError
from schemas.filters import (
    EVERYTHING,
    NOTHING,
    AllOf,
    AnyOf,
    Compare,
    Filter,
    Not,
    Op,
    dump_filter,
    parse_filter,
)
from schemas.normalise import normalise
from schemas.plan import Key, Mode
from tests.strategies import COMPARES

COMPAT = WireMode.RAGFLOW_COMPAT


def condition(name: Any, op: str, value: Any = None) -> dict[str, Any]:
    written = {"name": name, "comparison_operator": op}
    return written if value is None else {**written, "value": value}


def leaf(field: str, op: str, value: Any = None) -> dict[str, Any]:
    return {"op": op, "field": field} | ({} if value is None else {"value": value})


IMPORTED = [
    (condition("date", "≥", "2022-10-29"), leaf("date", "ge", "2022-10-29")),
    (condition("date", ">=", "2022-10-29"), leaf("date", "ge", "2022-10-29")),
    (condition("date", "after", "2022-10-29"), leaf("date", "gt", "2022-10-29")),
    (condition("date", "before", "2022-10-29"), leaf("date", "lt", "2022-10-29")),
    (condition("author", "is", "Bob"), leaf("author", "eq", "Bob")),
    (condition("author", "is not", "Bob"), leaf("author", "ne", "Bob")),
    (condition("author", "not is", "Bob"), leaf("author", "ne", "Bob")),
    (condition("author", "start with", "Bo"), leaf("author", "starts_with", "Bo")),
    (condition("author", "not contains", "Bo"), leaf("author", "not_contains", "Bo")),
    (condition("author", "in", "Bob, Eve,,"), leaf("author", "in", ["Bob", "Eve"])),
    (condition("author", "in", ["Smith, Bob", "Eve"]), leaf("author", "in", ["Smith, Bob", "Eve"])),
    (condition("author", "not in", "Bob"), leaf("author", "not_in", ["Bob"])),
    (condition("author", "=", "Smith, Bob"), leaf("author", "eq", "Smith, Bob")),
    (condition("author", "=", ["Bob"]), leaf("author", "eq", "Bob")),
    (condition("year", "=", 2024), leaf("year", "eq", 2024)),
    (condition("owner", "not empty"), leaf("owner", "not_empty")),
    (condition("owner", "empty", ""), leaf("owner", "empty")),
    ({"key": "year", "op": "<=", "value": "3"}, leaf("year", "le", "3")),
    ({"name": "year", "operator": "==", "value": 3}, leaf("year", "eq", 3)),
]


@pytest.mark.parametrize(("given", "meant"), IMPORTED)
def test_condition_is_imported(given: Any, meant: Any) -> None:
    body = {"conditions": [given]}
    assert dify.import_condition(body) == parse_filter(meant)
    assert ragflow.import_condition(body) == parse_filter(meant)


@pytest.mark.parametrize("join", ["logic", "logical_operator"])
def test_join_word(join: str) -> None:
    parts = [condition("a", "is", "x"), condition("b", "is", "y")]
    a, b = (Compare(op=Op.EQ, field=f, value=v) for f, v in (("a", "x"), ("b", "y")))
    assert dify.import_condition({"conditions": parts}) == AllOf(of=(a, b))
    assert dify.import_condition({join: "AND", "conditions": parts}) == AllOf(of=(a, b))
    assert ragflow.import_condition({join: "or", "conditions": parts}) == AnyOf(of=(a, b))


@pytest.mark.parametrize("join", [{}, {"logic": "and"}, {"logic": "or"}])
def test_no_conditions_are_no_filter(join: dict[str, str]) -> None:
    assert ragflow.import_condition({**join, "conditions": []}) == EVERYTHING
    assert dify.import_condition({**join, "conditions": []}) == EVERYTHING
    imported = ragflow.import_filter({"method": "manual", "manual": [], **join})
    assert imported == ragflow.MetaDataFilter(Mode.MANUAL, EVERYTHING)


def test_absent_condition_is_no_filter() -> None:
    assert dify.import_condition(None) == EVERYTHING


def test_several_names_mean_any_of_them() -> None:
    two = {"conditions": [condition(["category", "tag"], "contains", "AI")]}
    assert dify.import_condition(two) == parse_filter(
        {"op": "or", "of": [leaf("category", "contains", "AI"), leaf("tag", "contains", "AI")]}
    )
    none = {"conditions": [condition(["category", "tag"], "not contains", "AI")]}
    assert dify.import_condition(none) == parse_filter(
        {"op": "and",
         "of": [leaf("category", "not_contains", "AI"), leaf("tag", "not_contains", "AI")]}
    )  # fmt: skip


REFUSED = [
    (condition("dept", "~", "x"), r"conditions\[0\] on 'dept': unknown operator '~'; allowed: eq"),
    (condition("dept", "is"), r"conditions\[0\]: eq on 'dept' needs a value"),
    (condition("dept", "in", ""), "in on 'dept' needs a value"),
    (
        condition("dept", "is", "{{#start.dept#}}"),
        "the variable in '{{#start.dept#}}' has no value",
    ),
    (condition("dept", "in", ["a", "{{ dept }}"]), "has no value"),
    (condition("dept", "is", "{sys.query}"), "has no value"),
    (condition("dept", "is", ["a", "b"]), "takes one value, not 2"),
    (condition("dept", "is", {"a": 1}), "is no string, number or boolean"),
    (condition("dept", "in", [None]), "is no string, number or boolean"),
    (condition("", "is", "x"), "`name` is a field name"),
    (condition([], "is", "x"), "`name` is a field name"),
    ({"comparison_operator": "is", "value": "x"}, "`name` is a field name"),
    ({**condition("a", "is", "x"), "key": "b"}, "only one of name, key"),
    ({**condition("a", "is", "x"), "op": "="}, "only one of comparison_operator, op, operator"),
    ({**condition("a", "is", "x"), "boost": 2}, "unknown key 'boost'"),
    ("a is x", "a condition is an object"),
]


@pytest.mark.parametrize(("given", "message"), REFUSED)
def test_condition_is_refused(given: Any, message: str) -> None:
    for module in (dify, ragflow):
        with pytest.raises(FilterError, match=message):
            module.import_condition({"conditions": [given]})


BODIES = [
    ({"logic": "xor", "conditions": []}, "unknown join word 'xor'; allowed: and, or"),
    ({"logic": "and", "logical_operator": "or", "conditions": []}, "only one of logic"),
    ({"conditions": {}}, "a list of conditions is needed"),
    ({}, "a list of conditions is needed"),
    ({"conditions": None}, "a list of conditions is needed"),
    ({"condition": []}, "unknown key 'condition'"),
    ([], "an object is needed"),
    ("", "an object is needed"),
]


@pytest.mark.parametrize(("body", "message"), BODIES)
def test_body_is_refused(body: Any, message: str) -> None:
    for module in (dify, ragflow):
        with pytest.raises(FilterError, match=message):
            module.import_condition(body)


def test_meta_data_filter() -> None:
    manual = {
        "method": "manual",
        "logic": "or",
        "manual": [
            {"key": "year", "op": "≥", "value": "2024"},
            {"key": "dept", "op": "in", "value": ["HR", "IT"]},
        ],
    }
    meant = {"op": "or", "of": [leaf("year", "ge", "2024"), leaf("dept", "in", ["HR", "IT"])]}
    assert ragflow.import_filter(manual) == ragflow.MetaDataFilter(Mode.MANUAL, parse_filter(meant))
    semi = {"method": "semi_auto", "semi_auto": ["author", {"key": "year", "op": ">"}]}
    assert ragflow.import_filter(semi) == ragflow.MetaDataFilter(
        Mode.SEMI_AUTO, keys=(Key(name="author"), Key(name="year", op=Op.GT))
    )
    assert ragflow.import_filter({"method": "auto"}).mode is Mode.AUTO
    assert ragflow.import_filter({"method": "disabled"}).mode is Mode.OFF
    assert ragflow.import_filter({}).mode is Mode.OFF


@pytest.mark.parametrize(
    ("body", "message"),
    [({"method": "magic"}, "unknown method 'magic'; allowed: disabled, auto, semi_auto, manual"),
     ({"manual": []}, "unknown method None"),
     ({"method": "manual"}, "a list of conditions is needed"),
     ({"method": "semi_auto"}, "a list of field names is needed"),
     ({"method": "semi_auto", "semi_auto": [3]}, "an object is needed"),
     ({"method": "semi_auto", "semi_auto": [{"key": "a", "op": "~"}]}, "unknown operator"),
     ({"method": "manual", "manual": [{"key": "a", "op": "=", "value": None}]}, "needs a value"),
     (None, "an object is needed")],
)  # fmt: skip
def test_meta_data_filter_is_refused(body: Any, message: str) -> None:
    with pytest.raises(FilterError, match=message):
        ragflow.import_filter(body)


def test_presence_parts_the_rows() -> None:
    kb = Collection(name="kb", fields=(Field(name="tag", type=FieldType.STRING),))
    rows: list[dict[str, Any]] = [{"tag": ""}, {"tag": None}, {}, {"tag": "a"}, {"tag": []}]
    for op, expected in (("empty", [0, 1, 2, 4]), ("not empty", [3])):
        f = dify.import_condition({"conditions": [condition("tag", op)]})
        matches = to_predicate(bind(f, kb))
        assert [i for i, row in enumerate(rows) if matches(row)] == expected


def test_contains_looks_into_the_metadata_and_in_is_membership() -> None:
    kb = Collection(name="kb", fields=(Field(name="author", type=FieldType.STRING),))
    rows: list[dict[str, Any]] = [{"author": "Tobias K"}, {"author": "To"}]
    inside = dify.import_condition({"conditions": [condition("author", "contains", "Tob")]})
    member = dify.import_condition({"conditions": [condition("author", "in", "Tob,To")]})
    assert [to_predicate(bind(inside, kb))(row) for row in rows] == [True, False]
    assert [to_predicate(bind(member, kb))(row) for row in rows] == [False, True]


def test_export() -> None:
    f = parse_filter(
        {"op": "and", "of": [leaf("dept", "ne", "HR"), leaf("year", "in", [1, 2]),
                             leaf("owner", "not_empty")]}
    )  # fmt: skip
    assert ragflow.export_condition(f) == {
        "logic": "and",
        "conditions": [
            {"name": "dept", "comparison_operator": "≠", "value": "HR"},
            {"name": "year", "comparison_operator": "in", "value": [1, 2]},
            {"name": "owner", "comparison_operator": "not empty"},
        ],
    }
    assert ragflow.export_filter(f, COMPAT) == {
        "method": "manual",
        "logic": "and",
        "manual": [
            {"key": "dept", "op": "≠", "value": "HR"},
            {"key": "year", "op": "in", "value": ["1", "2"]},
            {"key": "owner", "op": "not empty"},
        ],
    }
    assert dify.export_condition(f) == {
        "logical_operator": "and",
        "conditions": [
            {"name": "dept", "comparison_operator": "is not", "value": "HR"},
            {"name": "year", "comparison_operator": "in", "value": [1, 2]},
            {"name": "owner", "comparison_operator": "not empty"},
        ],
    }


def test_everything_is_an_empty_list() -> None:
    assert ragflow.export_condition(EVERYTHING) == {"logic": "and", "conditions": []}


A, B = (Compare(op=Op.EQ, field=f, value=1) for f in "ab")
UNSAYABLE = [
    NOTHING,
    AllOf(of=(A, AnyOf(of=(A, B)))),
    Not(of=Compare(op=Op.STARTS_WITH, field="a", value="x")),
    Not(of=Compare(op=Op.GT, field="a", value=1)),
    Compare(op=Op.EQ, field="a", value="{{x}}"),
]


@pytest.mark.parametrize("f", UNSAYABLE)
def test_what_is_not_flat_cannot_be_exported(f: Filter) -> None:
    for export in (ragflow.export_condition, ragflow.export_filter, dify.export_condition):
        with pytest.raises(FilterError, match=r"RAGFlow|Dify"):
            export(f)


def test_what_is_flat_after_normalising_can() -> None:
    f = Not(of=AnyOf(of=(A, AllOf(of=(B,)))))
    assert ragflow.import_condition(ragflow.export_condition(f)) == normalise(f)


@given(st.lists(COMPARES, max_size=4), st.booleans())
def test_import_of_an_export_is_the_same_filter(parts: list[Compare], either: bool) -> None:
    f: Filter = AnyOf(of=tuple(parts)) if either else AllOf(of=tuple(parts))
    assume(f != NOTHING)
    assume(not any("{" in str(part.value) for part in parts))
    back = [
        ragflow.import_condition(ragflow.export_condition(f)),
        ragflow.import_filter(ragflow.export_filter(f)).filter,
        dify.import_condition(dify.export_condition(f)),
    ]
    same = dump_filter(normalise(f))
    assert [dump_filter(normalise(each)) for each in back] == [same] * 3


KB = Collection(
    name="kb",
    fields=(
        Field(
            name="status",
            type=FieldType.STRING,
            values=("active", "act", "pending", "done"),
            profile=Profile(complete=True),
        ),
        Field(
            name="tags",
            type=FieldType.STRING_LIST,
            values=("a", "b"),
            profile=Profile(complete=True),
        ),
        Field(name="year", type=FieldType.INT),
    ),
)


def compat(*conditions: Any, rows: list[dict[str, Any]], **more: Any) -> list[bool]:
    f = ragflow.import_condition({"conditions": list(conditions), **more}, COMPAT, KB)
    matches = to_predicate(bind(f, KB))
    return [matches(row) for row in rows]


STATUS: list[dict[str, Any]] = [{"status": "active"}, {"status": "act"}, {"status": "done"}, {}]
TAGS: list[dict[str, Any]] = [{"tags": ["a", "b"]}, {"tags": ["a"]}, {"tags": ["b"]}, {}]
YEARS: list[dict[str, Any]] = [{"year": 2023}, {"year": 2024}]


def test_ragflow_compat_does_what_ragflow_does() -> None:
    is_in = condition("status", "in", "active,pending")
    assert compat(is_in, rows=STATUS) == [True, True, False, False]
    assert compat(condition("tags", "≠", "a"), rows=TAGS) == [True, False, True, False]
    assert compat(condition("tags", "not contains", "a"), rows=TAGS) == [True, False, True, False]
    assert compat(condition("year", "=", 2023), rows=YEARS) == [False, False]
    assert compat(condition("year", "=", "2023"), rows=YEARS) == [True, False]
    assert compat(condition("status", "empty"), rows=STATUS) == [False] * 4
    assert compat(condition("status", "not empty"), rows=STATUS) == [True, True, True, False]
    assert compat(rows=YEARS) == [False, False]


def test_ragflow_compat_takes_any_other_join_word_for_or() -> None:
    parts = condition("status", "=", "act"), condition("status", "=", "done")
    assert compat(*parts, rows=STATUS, logic="xor") == [False, True, True, False]
    assert compat(*parts, rows=STATUS, logic="and") == [False] * 4


def test_ragflow_compat_knows_few_spellings() -> None:
    """`>=` and `is` are converted in `metadata_condition`, in `manual` they match nothing."""
    year = condition("year", ">=", "2024")
    assert compat(year, rows=YEARS) == [False, True]
    assert compat(condition("year", "==", "2024"), rows=YEARS) == [False, False]
    manual = {"method": "manual", "manual": [{"key": "year", "op": ">=", "value": "2024"}]}
    f = ragflow.import_filter(manual, COMPAT, KB).filter
    assert not to_predicate(bind(f, KB))({"year": 2024})


def test_strict_differs_where_it_should() -> None:
    def strict(*conditions: Any, rows: list[dict[str, Any]]) -> list[bool]:
        f = ragflow.import_condition({"conditions": list(conditions)})
        return [to_predicate(bind(f, KB))(row) for row in rows]

    assert strict(condition("status", "in", "active,pending"), rows=STATUS) == [
        True, False, False, False,
    ]  # fmt: skip
    assert strict(condition("tags", "≠", "a"), rows=TAGS) == [False, False, True, False]
    assert strict(condition("year", "=", 2023), rows=YEARS) == [True, False]
    assert strict(condition("status", "empty"), rows=STATUS) == [False, False, False, True]
    assert strict(rows=YEARS) == [True, True]


def test_compat_refuses_foreign_shapes_too() -> None:
    for body in ({"conditions": {"a": 1}}, {"conditions": ["x"]}, 3):
        with pytest.raises(FilterError):
            ragflow.import_condition(body, COMPAT, KB)
        with pytest.raises(FilterError):
            dify.import_condition(body, COMPAT, KB)
