from __future__ import annotations

import json
import random
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.check import check
from schemas.collection import Collection, Field, FieldType, Profile
from schemas.compile.jsonschema import to_jsonschema
from schemas.filters import parse_filter
from schemas.operators import Op, allowed_ops

KB = Collection(
    name="kb",
    fields=(
        *(Field(name=f"a {type_}", type=type_) for type_ in FieldType),
        Field(
            name="status",
            type=FieldType.STRING,
            values=("Draft", "Final"),
            profile=Profile(complete=True),
        ),
        Field(name="open", type=FieldType.STRING, values=("some", "values")),
    ),
)
SCHEMA: dict[str, Any] = to_jsonschema(KB)


def valid(answer: Any) -> bool:
    return jsonschema.Draft202012Validator(SCHEMA).is_valid(answer)


def group(*of: Any, op: str = "and") -> Any:
    return {"op": op, "of": list(of)}


def leaf(field: str, op: str, value: Any = None) -> dict[str, Any]:
    return {"op": op, "field": field} | ({} if value is None else {"value": value})


def test_schema_is_valid_and_flat() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert "$ref" not in json.dumps(SCHEMA)


ANSWERS = [
    (group(), True),
    (group(leaf("a string", "contains", "x"), leaf("a int", "gt", 3), op="or"), True),
    (group(leaf("status", "eq", "Draft")), True),
    (group(leaf("status", "in", ["Draft", "Final"])), True),
    (group(leaf("status", "starts_with", "Dr")), True),
    (group(leaf("open", "eq", "another")), True),
    (group(leaf("a date", "ge", "2024-05")), True),
    (group(leaf("a datetime", "ge", "2024-05-01T10:00:00Z")), True),
    (group(leaf("a bool", "eq", True)), True),
    (group(leaf("a string_list", "contains", "x")), True),
    (group(leaf("a int", "empty")), True),
    (group(leaf("status", "eq", "draft")), False),
    (group(leaf("color", "eq", "x")), False),
    (group(leaf("a int", "contains", 3)), False),
    (group(leaf("a int", "eq", "3")), False),
    (group(leaf("a bool", "gt", True)), False),
    (group(leaf("a date", "eq", "yesterday")), False),
    (group(leaf("a string", "eq")), False),
    (group(leaf("a string", "eq", "")), False),
    (group(leaf("a string", "in", [])), False),
    (group(leaf("a int", "empty", 3)), False),
    (group(leaf("a int", "eq", 3), op="not"), False),
    (group(group()), False),
    (leaf("a int", "eq", 3), False),
    ({"op": "and"}, False),
    ({**group(), "query": "x"}, False),
]


@pytest.mark.parametrize(("answer", "fits"), ANSWERS)
def test_answer(answer: Any, fits: bool) -> None:
    assert valid(answer) is fits


@pytest.mark.parametrize("field", KB.fields, ids=lambda f: f.name)
def test_each_operator_stands_once(field: Field) -> None:
    leaves = SCHEMA["properties"]["of"]["items"]["anyOf"]
    ops = [
        op
        for each in leaves
        if each["properties"]["field"]["const"] == field.name
        for op in each["properties"]["op"]["enum"]
    ]
    assert sorted(ops) == sorted(op.value for op in allowed_ops(field.type))


GOOD = {
    FieldType.STRING: "Draft",
    FieldType.INT: 3,
    FieldType.NUMBER: 2.5,
    FieldType.BOOL: True,
    FieldType.DATE: "2024-05-01",
    FieldType.DATETIME: "2024-05-01",
}


def answer_of(seed: int) -> Any:
    rng = random.Random(seed)  # noqa: S311  # repeatable, not secret
    field = rng.choice(KB.fields)
    op = rng.choice(list(Op))
    good = GOOD[rng.choice((field.type.element, rng.choice(list(GOOD))))]
    return group(
        leaf(field.name, op, [good] if op.takes_list else good if op.takes_value else None)
    )


@settings(deadline=None)
@given(st.integers(0, 10_000).map(answer_of))
def test_what_fits_the_schema_can_be_bound(answer: Any) -> None:
    if valid(answer):
        assert check(parse_filter(answer), KB).problems == ()


def test_collection_without_fields_allows_the_empty_filter_only() -> None:
    schema = to_jsonschema(Collection(name="bare", fields=()))
    validator = jsonschema.Draft202012Validator(schema)
    assert validator.is_valid(group())
    assert not validator.is_valid(group(leaf("x", "eq", 1)))
