"""Every spelling of an operator at every door, and strings that look like something else."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.compile import dify, ragflow
from schemas.errors import FilterError
from schemas.filters import AllOf, Compare, Op, dump_filter
from schemas.normalise import normalise
from schemas.operators import SPELLINGS
from tests.hostile import HOSTILE_NAMES, HOSTILE_TEXTS

WRITTEN: dict[str, Op] = {
    "=": Op.EQ, "==": Op.EQ, "is": Op.EQ, "eq": Op.EQ,
    "≠": Op.NE, "!=": Op.NE, "<>": Op.NE, "is not": Op.NE, "not is": Op.NE, "neq": Op.NE,
    ">": Op.GT, "after": Op.GT, "<": Op.LT, "before": Op.LT,
    "≥": Op.GE, ">=": Op.GE, "gte": Op.GE, "geq": Op.GE,
    "≤": Op.LE, "<=": Op.LE, "lte": Op.LE, "leq": Op.LE,
    "contains": Op.CONTAINS, "not contains": Op.NOT_CONTAINS,
    "start with": Op.STARTS_WITH, "starts with": Op.STARTS_WITH,
    "end with": Op.ENDS_WITH, "ends with": Op.ENDS_WITH,
    "in": Op.IN, "not in": Op.NOT_IN,
    "empty": Op.EMPTY, "is null": Op.EMPTY, "not empty": Op.NOT_EMPTY, "is not null": Op.NOT_EMPTY,
}  # fmt: skip
DOORS = [
    pytest.param("name", "comparison_operator", id="metadata_condition"),
    pytest.param("key", "op", id="manual"),
    pytest.param("key", "operator", id="key and operator"),
]


@pytest.mark.parametrize("written", WRITTEN)
@pytest.mark.parametrize(("name", "operator"), DOORS)
def test_spelling_is_read_at_every_door(written: str, name: str, operator: str) -> None:
    op = WRITTEN[written]
    condition: dict[str, Any] = {name: "issued", operator: written}
    if op.takes_value:
        condition["value"] = "2024"
    value = ("2024",) if op.takes_list else "2024" if op.takes_value else None
    meant = Compare(op=op, field="issued", value=value)
    assert ragflow.import_condition({"conditions": [condition]}) == meant
    assert dify.import_condition({"conditions": [condition]}) == meant
    assert ragflow.import_filter({"method": "manual", "manual": [condition]}).filter == meant


def test_every_operator_has_a_spelling_here() -> None:
    assert set(WRITTEN.values()) == set(Op)
    assert all(WRITTEN[spelling.wire] is op for op, spelling in SPELLINGS.items())


@pytest.mark.parametrize("written", ["like", "=~", "=>", "", "not", "between", None, 3])
@pytest.mark.parametrize(("name", "operator"), DOORS)
def test_unknown_spelling_names_the_allowed(written: Any, name: str, operator: str) -> None:
    condition = {name: "issued", operator: written, "value": "x"}
    with pytest.raises(FilterError, match=r"unknown operator.*allowed: eq, ne, gt"):
        ragflow.import_filter({"method": "manual", "manual": [condition]})
    with pytest.raises(FilterError, match=r"unknown operator.*allowed: eq, ne, gt"):
        dify.import_condition({"conditions": [condition]})


def is_variable(text: str) -> bool:
    return bool(re.search(r"\{\{[^{}]*\}\}|\{(sys|env)\.\w+\}|\{[\w:]+@[\w.]+\}", text))


@given(st.lists(st.tuples(HOSTILE_NAMES, HOSTILE_TEXTS), min_size=1, max_size=3))
def test_any_string_comes_back_or_is_refused(pairs: list[tuple[str, str]]) -> None:
    """What another system would take for a variable is not sent to it."""
    f = AllOf(of=tuple(Compare(op=Op.EQ, field=name, value=text) for name, text in pairs))
    same = dump_filter(normalise(f))
    for there, back in (
        (ragflow.export_condition, ragflow.import_condition),
        (dify.export_condition, dify.import_condition),
    ):
        if any(is_variable(text) for _, text in pairs):
            with pytest.raises(FilterError, match="for a variable"):
                there(f)
        else:
            assert dump_filter(normalise(back(there(f)))) == same
