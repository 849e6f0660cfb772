from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from schemas.collection import FieldType
from schemas.errors import FilterError
from schemas.operators import OPERATOR_TYPES, SPELLINGS, Op, allowed_ops, op_from, operator_table

ACCEPTED = [
    ("=", Op.EQ), ("==", Op.EQ), ("is", Op.EQ), ("eq", Op.EQ),
    ("≠", Op.NE), ("!=", Op.NE), ("<>", Op.NE), ("is not", Op.NE), ("not is", Op.NE),
    ("neq", Op.NE), (">", Op.GT), ("after", Op.GT), ("≥", Op.GE), (">=", Op.GE), ("gte", Op.GE),
    ("geq", Op.GE), ("<", Op.LT), ("before", Op.LT), ("≤", Op.LE), ("<=", Op.LE), ("lte", Op.LE),
    ("leq", Op.LE), ("contains", Op.CONTAINS), ("not contains", Op.NOT_CONTAINS),
    ("not_contains", Op.NOT_CONTAINS), ("start with", Op.STARTS_WITH),
    ("starts with", Op.STARTS_WITH), ("end with", Op.ENDS_WITH), ("ends_with", Op.ENDS_WITH),
    ("in", Op.IN), ("not in", Op.NOT_IN), ("empty", Op.EMPTY), ("is null", Op.EMPTY),
    ("not empty", Op.NOT_EMPTY), ("is not null", Op.NOT_EMPTY), ("  Not   In ", Op.NOT_IN),
]  # fmt: skip


@pytest.mark.parametrize(("text", "op"), ACCEPTED)
def test_spelling_is_understood(text: str, op: Op) -> None:
    assert op_from(text) is op


@pytest.mark.parametrize("text", ["", "~", "like", "=>", "not", None, 3, ["="]])
def test_unknown_spelling_names_what_is_allowed(text: object) -> None:
    with pytest.raises(FilterError, match=r"allowed: eq, ne, gt"):
        op_from(text)


def test_no_spelling_means_two_operators() -> None:
    spellings = [text for s in SPELLINGS.values() for text in (s.wire, *s.aliases)]
    assert len(spellings) == len(set(spellings))


@pytest.mark.parametrize("op", Op)
def test_negation_is_mutual(op: Op) -> None:
    partner = SPELLINGS[op].negation
    if op in (Op.STARTS_WITH, Op.ENDS_WITH):
        assert partner is None
    else:
        assert partner is not None
        assert SPELLINGS[partner].negation is op


def test_every_type_knows_presence() -> None:
    assert set(OPERATOR_TYPES) == set(FieldType)
    assert all(ops >= {Op.EMPTY, Op.NOT_EMPTY} for ops in OPERATOR_TYPES.values())


def test_booleans_have_no_order_and_numbers_no_text() -> None:
    assert Op.GT not in OPERATOR_TYPES[FieldType.BOOL]
    assert Op.CONTAINS not in OPERATOR_TYPES[FieldType.INT]
    assert Op.CONTAINS in OPERATOR_TYPES[FieldType.INT_LIST]
    assert allowed_ops(FieldType.STRING) == tuple(Op)


def test_table_has_a_row_for_each_operator() -> None:
    table = operator_table().splitlines()
    assert len(table) == 2 + len(Op)
    assert table[0].count("|") == 3 + len(FieldType)
    row = next(line for line in table if line.startswith("| `starts_with`"))
    assert row.split(" | ")[1:] == ["`start with`", "yes", *["error"] * 5, "yes", "error |"]


def test_table_can_be_printed() -> None:
    run = subprocess.run(  # our own module
        [sys.executable, "-m", "schemas.operators"], capture_output=True, text=True, check=True
    )
    assert run.stdout == operator_table()


def test_the_docs_hold_the_table() -> None:
    text = Path(__file__).parents[1].joinpath("docs", "filter-language.md").read_text("utf-8")
    between = text.split("<!-- operators -->\n")[1].split("<!-- /operators -->")[0]
    assert between == operator_table()


def test_the_docs_name_every_spelling() -> None:
    text = Path(__file__).parents[1].joinpath("docs", "filter-language.md").read_text("utf-8")
    words = {"greater than", "less than", "equal"}
    aliases = [a for s in SPELLINGS.values() for a in (s.wire, *s.aliases) if a not in words]
    assert [alias for alias in aliases if f"`{alias}`" not in text] == []
