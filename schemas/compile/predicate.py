"""Filters as Python predicates: the reference meaning, by which every hit is checked again."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import assert_never

from pydantic import JsonValue

from schemas.check import Bound
from schemas.collection import Collection, Field
from schemas.errors import FilterError
from schemas.filters import AllOf, AnyOf, Compare, Filter, Not, Op
from schemas.values import Key, bound_keys, read_row

Row = Mapping[str, JsonValue]
Verdict = bool | None
"""True, false or unknown."""

_ORDER = {Op.GT: operator.gt, Op.GE: operator.ge, Op.LT: operator.lt, Op.LE: operator.le}


def to_predicate(b: Bound, *, exact: bool = False) -> Callable[[Row], bool]:
    """A function that tells whether a row matches.

    Rows map field names to values as people write them; dates are ISO strings. `exact` is for
    scope: strings are compared unfolded, character by character.
    """
    judge = _compile(b.root, b.collection, exact)
    return lambda row: judge(row) is True


def _compile(f: Filter, c: Collection, exact: bool) -> Callable[[Row], Verdict]:
    match f:
        case Compare():
            return judge_leaf(f, c.field(f.field), exact=exact)
        case AllOf(of=parts):
            return _joined([_compile(part, c, exact) for part in parts], decided_by=False)
        case AnyOf(of=parts):
            return _joined([_compile(part, c, exact) for part in parts], decided_by=True)
        case Not(of=part):
            return _negated(_compile(part, c, exact))
        case _:
            assert_never(f)


def _joined(
    judges: list[Callable[[Row], Verdict]], *, decided_by: bool
) -> Callable[[Row], Verdict]:
    """Kleene's `or` is decided by one true part, `and` by one false part."""

    def judge(row: Row) -> Verdict:
        unknown = False
        for part in judges:
            verdict = part(row)
            if verdict is decided_by:
                return decided_by
            unknown = unknown or verdict is None
        return None if unknown else not decided_by

    return judge


def _negated(judge: Callable[[Row], Verdict]) -> Callable[[Row], Verdict]:
    def negation(row: Row) -> Verdict:
        verdict = judge(row)
        return None if verdict is None else not verdict

    return negation


def judge_leaf(c: Compare, field: Field, *, exact: bool) -> Callable[[Row], Verdict]:
    """The verdict of one comparison on a row, in Kleene's logic."""
    if not c.op.takes_value:
        wanted = c.op is Op.EMPTY
        return lambda row: (not read_row(row.get(c.field), field, exact=exact)) is wanted
    holds = key_test(c, field, exact=exact)

    def judge(row: Row) -> Verdict:
        keys = read_row(row.get(c.field), field, exact=exact)
        if not keys:
            return None
        return any(map(holds, keys)) is not c.op.is_negative

    return judge


def key_test(c: Compare, field: Field, *, exact: bool = False) -> Callable[[Key], bool]:
    """Whether one element satisfies the positive form of the operator."""
    if isinstance(c.value, tuple):
        members = frozenset(bound_keys(c.value, field, exact=exact))
        return lambda key: key in members
    if c.value is None:
        raise FilterError(f"{c.op} on field {c.field!r} needs a value")
    (wanted,) = bound_keys((c.value,), field, exact=exact)
    match c.op:
        case Op.EQ | Op.NE:
            return lambda key: key == wanted
        case Op.CONTAINS | Op.NOT_CONTAINS if field.type.is_list:
            return lambda key: key == wanted
        case Op.GT | Op.GE | Op.LT | Op.LE:
            holds = _ORDER[c.op]
            return lambda key: bool(holds(key, wanted))
        case Op.CONTAINS | Op.NOT_CONTAINS | Op.STARTS_WITH | Op.ENDS_WITH:
            return _textual(c.op, str(wanted))
        case Op.IN | Op.NOT_IN | Op.EMPTY | Op.NOT_EMPTY:
            raise AssertionError(f"{c.op} has no single value")
        case _ as never:
            assert_never(never)


def _textual(op: Op, wanted: str) -> Callable[[Key], bool]:
    match op:
        case Op.STARTS_WITH:
            return lambda key: str(key).startswith(wanted)
        case Op.ENDS_WITH:
            return lambda key: str(key).endswith(wanted)
        case _:
            return lambda key: wanted in str(key)
