"""Filters in the form in which they are compared.

Values are brought to the types of the fields, strings are folded, the filter is normalised.
On lists `eq` and `contains` mean the same, on ints and days `gt 5` and `ge 6`; the order of
parts means nothing.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import assert_never

from evals.golds import Expected
from schemas.check import bind
from schemas.collection import Collection, FieldType
from schemas.filters import AllOf, AnyOf, Compare, Element, Filter, Not, Op, Value
from schemas.folding import fold
from schemas.normalise import normalise

_ON_LISTS = {Op.CONTAINS: Op.EQ, Op.NOT_CONTAINS: Op.NE}
_SHOWN = {Op.EQ: Op.CONTAINS, Op.NE: Op.NOT_CONTAINS}
_STRICT = {Op.GT: (Op.GE, 1), Op.LE: (Op.LT, 1)}
_DISCRETE = (FieldType.INT, FieldType.DATE)


@dataclass(frozen=True)
class Item:
    """One condition; `op` as it is written, `key` what it is compared by."""

    field: str
    op: str
    key: str


def canonical(f: Filter, collection: Collection) -> Filter:
    """Raises FilterError if the filter does not fit the collection."""
    return normalise(_folded(bind(f, collection).root, collection))


def shape(f: Filter, collection: Collection) -> str:
    """Equal for filters that consist of the same conditions in the same structure."""
    match f:
        case Compare():
            return key(f, collection)
        case AllOf(of=parts) | AnyOf(of=parts):
            return f"{f.op}({','.join(sorted(shape(part, collection) for part in parts))})"
        case Not(of=part):
            return f"not({shape(part, collection)})"
        case _:
            assert_never(f)


def key(leaf: Compare, collection: Collection) -> str:
    """What one comparison of a canonical filter says."""
    op, value = leaf.op, leaf.value
    type_ = collection.field(leaf.field).type
    if op in _STRICT and type_ in _DISCRETE and isinstance(value, int | str):
        op, step = _STRICT[op]
        value = _next(value, step)
    if isinstance(value, tuple):
        value = tuple(sorted(value, key=lambda item: (str(type(item)), item)))
    return json.dumps([leaf.field, op, value], ensure_ascii=False)


def items(f: Filter, collection: Collection, *, denied: bool = False) -> Iterator[Item]:
    """The conditions of a canonical filter, whatever joins them."""
    match f:
        case Compare():
            listed = collection.field(f.field).type.is_list
            op = _SHOWN.get(f.op, f.op) if listed else f.op
            said = key(f, collection)
            yield Item(f.field, op.value, f"not {said}" if denied else said)
        case AllOf(of=parts) | AnyOf(of=parts):
            for part in parts:
                yield from items(part, collection, denied=denied)
        case Not(of=part):
            yield from items(part, collection, denied=not denied)
        case _:
            assert_never(f)


def understood(f: Filter, expected: Expected, collection: Collection) -> Filter:
    """A canonical filter with accepted comparisons replaced by those that they stand for."""
    meant = canonical(expected.filter, collection)
    own = {item.key for item in items(meant, collection)}
    replaced: dict[str, Compare] = {}
    for accepted, stands_for in expected.synonyms:
        said, means = canonical(accepted, collection), canonical(stands_for, collection)
        if isinstance(said, Compare) and isinstance(means, Compare):
            replaced[key(said, collection)] = means
    wanted = {said: means for said, means in replaced.items() if said not in own}
    return normalise(_replaced(f, wanted, collection)) if wanted else f


def _replaced(f: Filter, wanted: Mapping[str, Compare], collection: Collection) -> Filter:
    match f:
        case Compare():
            return wanted.get(key(f, collection), f)
        case AllOf(of=parts):
            return AllOf(of=tuple(_replaced(part, wanted, collection) for part in parts))
        case AnyOf(of=parts):
            return AnyOf(of=tuple(_replaced(part, wanted, collection) for part in parts))
        case Not(of=part):
            return Not(of=_replaced(part, wanted, collection))
        case _:
            assert_never(f)


def _folded(f: Filter, collection: Collection) -> Filter:
    match f:
        case Compare():
            type_ = collection.field(f.field).type
            op = _ON_LISTS.get(f.op, f.op) if type_.is_list else f.op
            text = type_.element is FieldType.STRING
            return Compare(op=op, field=f.field, value=_fold(f.value) if text else f.value)
        case AllOf(of=parts):
            return AllOf(of=tuple(_folded(part, collection) for part in parts))
        case AnyOf(of=parts):
            return AnyOf(of=tuple(_folded(part, collection) for part in parts))
        case Not(of=part):
            return Not(of=_folded(part, collection))
        case _:
            assert_never(f)


def _fold(value: Value) -> Value:
    if isinstance(value, tuple):
        return tuple(_fold_one(item) for item in value)
    return None if value is None else _fold_one(value)


def _fold_one(value: Element) -> Element:
    return fold(value) if isinstance(value, str) else value


def _next(value: int | str, step: int) -> int | str:
    if isinstance(value, int):
        return value + step
    try:
        return (dt.date.fromisoformat(value) + dt.timedelta(days=step)).isoformat()
    except OverflowError:
        return value
