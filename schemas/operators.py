"""The fourteen operators: spellings, partners, wording, and the types they are allowed on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from schemas.collection import FieldType
from schemas.errors import FilterError


class Op(StrEnum):
    EQ = "eq"
    NE = "ne"
    GT = "gt"
    GE = "ge"
    LT = "lt"
    LE = "le"
    CONTAINS = "contains"
    NOT_CONTAINS = "not_contains"
    STARTS_WITH = "starts_with"
    ENDS_WITH = "ends_with"
    IN = "in"
    NOT_IN = "not_in"
    EMPTY = "empty"
    NOT_EMPTY = "not_empty"

    @property
    def takes_value(self) -> bool:
        return self not in PRESENCE

    @property
    def takes_list(self) -> bool:
        return self in MEMBERSHIP

    @property
    def is_negative(self) -> bool:
        """True for the operators that are the exact negation of a positive partner."""
        return self in NEGATIVE


PRESENCE = frozenset({Op.EMPTY, Op.NOT_EMPTY})
MEMBERSHIP = frozenset({Op.IN, Op.NOT_IN})
NEGATIVE = frozenset({Op.NE, Op.NOT_CONTAINS, Op.NOT_IN})
ORDERING = frozenset({Op.GT, Op.GE, Op.LT, Op.LE})
EQUALITY = frozenset({Op.EQ, Op.NE})
TEXTUAL = frozenset({Op.CONTAINS, Op.NOT_CONTAINS, Op.STARTS_WITH, Op.ENDS_WITH})


@dataclass(frozen=True)
class Spelling:
    """How an operator is written. `wire` is RAGFlow's and Dify's; `negation` holds for scalars
    (of the orderings it does not hold on lists, where some element decides).
    """

    wire: str
    aliases: tuple[str, ...]
    negation: Op | None
    english: str
    chinese: str


SPELLINGS: Mapping[Op, Spelling] = {
    Op.EQ: Spelling("=", ("==", "is", "equals", "equal"), Op.NE, "is", "为"),
    Op.NE: Spelling("≠", ("!=", "<>", "is not", "not is", "neq"), Op.EQ, "is not", "不为"),
    Op.GT: Spelling(">", ("after", "greater than"), Op.LE, "is above", "大于"),
    Op.GE: Spelling("≥", (">=", "gte", "geq"), Op.LT, "is at least", "不小于"),
    Op.LT: Spelling("<", ("before", "less than"), Op.GE, "is below", "小于"),
    Op.LE: Spelling("≤", ("<=", "lte", "leq"), Op.GT, "is at most", "不大于"),
    Op.CONTAINS: Spelling("contains", (), Op.NOT_CONTAINS, "contains", "包含"),
    Op.NOT_CONTAINS: Spelling("not contains", (), Op.CONTAINS, "does not contain", "不包含"),
    Op.STARTS_WITH: Spelling("start with", ("starts with",), None, "starts with", "开头为"),
    Op.ENDS_WITH: Spelling("end with", ("ends with",), None, "ends with", "结尾为"),
    Op.IN: Spelling("in", (), Op.NOT_IN, "is one of", "属于"),
    Op.NOT_IN: Spelling("not in", (), Op.IN, "is none of", "不属于"),
    Op.EMPTY: Spelling("empty", ("is null", "is empty"), Op.NOT_EMPTY, "is missing", "为空"),
    Op.NOT_EMPTY: Spelling(
        "not empty", ("is not null", "is not empty"), Op.EMPTY, "is present", "不为空"
    ),
}

_BY_SPELLING: Mapping[str, Op] = {
    text: op
    for op, spelling in SPELLINGS.items()
    for text in (op.value, op.value.replace("_", " "), spelling.wire, *spelling.aliases)
}


def op_from(text: object) -> Op:
    """The operator of any accepted spelling, whatever its case and spacing.

    Raises FilterError naming the canonical spellings.
    """
    if isinstance(text, str):
        found = _BY_SPELLING.get(" ".join(text.casefold().split()))
        if found is not None:
            return found
    allowed = ", ".join(Op)
    raise FilterError(f"unknown operator {text!r}; allowed: {allowed}")


_NUMERIC = EQUALITY | ORDERING | MEMBERSHIP | PRESENCE

OPERATOR_TYPES: Mapping[FieldType, frozenset[Op]] = {
    FieldType.STRING: frozenset(Op),
    FieldType.INT: _NUMERIC,
    FieldType.NUMBER: _NUMERIC,
    FieldType.BOOL: EQUALITY | MEMBERSHIP | PRESENCE,
    FieldType.DATE: _NUMERIC,
    FieldType.DATETIME: _NUMERIC,
    FieldType.STRING_LIST: frozenset(Op),
    FieldType.INT_LIST: _NUMERIC | {Op.CONTAINS, Op.NOT_CONTAINS},
}


def allowed_ops(type_: FieldType) -> tuple[Op, ...]:
    """The operators allowed on a type, in their fixed order."""
    return tuple(op for op in Op if op in OPERATOR_TYPES[type_])


def operator_table() -> str:
    """A Markdown table of every operator on every type, for the docs."""
    types = tuple(FieldType)
    head = "| operator | RAGFlow / Dify | " + " | ".join(types) + " |"
    rule = "|---|---|" + "---|" * len(types)
    rows = [
        f"| `{op}` | `{SPELLINGS[op].wire}` | "
        + " | ".join("yes" if op in OPERATOR_TYPES[type_] else "error" for type_ in types)
        + " |"
        for op in Op
    ]
    return "\n".join((head, rule, *rows)) + "\n"


if __name__ == "__main__":
    import sys

    sys.stdout.write(operator_table())
