"""What follows from a filter alone, whatever the rows: contradiction, tautology, implication.

Each answer of `True` is certain; `False` means that nothing was found.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import assert_never

from schemas.check import Bound
from schemas.collection import Collection, Field, FieldType
from schemas.compile.predicate import key_test
from schemas.errors import FilterError
from schemas.filters import AllOf, Compare, Element, Filter, Op
from schemas.folding import fold
from schemas.negation import Every, Literal, Normal, Some, negate_compare, negation_normal
from schemas.values import Key, bound_keys, domain

_BRANCHES = 512
"""Beyond so many alternatives nothing is claimed."""

_DISCRETE = frozenset({FieldType.INT, FieldType.DATE, FieldType.DATETIME})
_SMALL = 64
_COMPARED = 50
"""Conditions that are compared with each other."""


def is_contradiction(b: Bound) -> bool:
    """No row can match, such as `year > 2023 and year < 2020`."""
    return _is_unsatisfiable(negation_normal(b.root, b.collection), b.collection)


def is_tautology(b: Bound) -> bool:
    """Every row matches, such as `empty x or not_empty x`."""
    return _is_unsatisfiable(
        _complement(negation_normal(b.root, b.collection), b.collection), b.collection
    )


def implies(narrow: Bound, wide: Bound) -> bool:
    """Every row that matches `narrow` matches `wide`. Raises FilterError on two collections."""
    c = narrow.collection
    if c.by_name != wide.collection.by_name:
        raise FilterError("filters of two collections cannot be compared")
    outside = _complement(negation_normal(wide.root, c), c)
    return _is_unsatisfiable(Every((negation_normal(narrow.root, c), outside)), c)


def subsumed(b: Bound) -> tuple[Filter, ...]:
    """The conditions of the topmost `and` that add nothing: always true, or implied by another
    one. Of two that say the same it is the later one.
    """
    parts = b.root.of if isinstance(b.root, AllOf) else (b.root,)
    bounds = [Bound(part, b.collection) for part in parts[:_COMPARED]]
    kept = list(bounds)
    for one in reversed(bounds):
        others = [other for other in kept if other is not one]
        if is_tautology(one) or any(implies(other, one) for other in others):
            kept = others
    return tuple(one.root for one in bounds if not any(one is other for other in kept))


def _complement(n: Normal, c: Collection) -> Normal:
    """True where `n` is false or unknown."""
    match n:
        case Every(of=parts):
            return Some(tuple(_complement(part, c) for part in parts))
        case Some(of=parts):
            return Every(tuple(_complement(part, c) for part in parts))
        case Literal(compare=compare, negated=negated):
            missing = Literal(Compare(op=Op.EMPTY, field=compare.field))
            if not compare.op.takes_value:
                other = Op.EMPTY if compare.op is Op.NOT_EMPTY else Op.NOT_EMPTY
                return Literal(Compare(op=other, field=compare.field))
            if negated:
                return Some((Literal(compare), missing))
            flipped = negate_compare(compare, is_list=c.field(compare.field).type.is_list)
            opposite = Literal(compare, negated=True) if flipped is None else Literal(flipped)
            return Some((opposite, missing))
        case _:
            assert_never(n)


def _is_unsatisfiable(n: Normal, c: Collection) -> bool:
    branches = _branches(n)
    return branches is not None and all(_conflict(branch, c) for branch in branches)


def _branches(n: Normal) -> list[tuple[Literal, ...]] | None:
    """The alternatives as conjunctions; None if there are too many."""
    match n:
        case Literal():
            return [(n,)]
        case Some(of=parts):
            found = [_branches(part) for part in parts]
            alternatives = [b for branches in found if branches is not None for b in branches]
            return None if None in found or len(alternatives) > _BRANCHES else alternatives
        case Every(of=parts):
            return _conjoined([_branches(part) for part in parts])
        case _:
            assert_never(n)


def _conjoined(
    parts: Sequence[list[tuple[Literal, ...]] | None],
) -> list[tuple[Literal, ...]] | None:
    joined: list[tuple[Literal, ...]] = [()]
    for branches in parts:
        if branches is None or len(joined) * len(branches) > _BRANCHES:
            return None
        joined = [one + other for one, other in product(joined, branches)]
    return joined


def _conflict(literals: Iterable[Literal], c: Collection) -> bool:
    by_field: dict[str, list[Literal]] = {}
    for item in literals:
        by_field.setdefault(item.compare.field, []).append(item)
    return any(_field_conflict(items, c.field(name)) for name, items in by_field.items())


def _field_conflict(items: Sequence[Literal], field: Field) -> bool:
    ops = {item.compare.op for item in items}
    if Op.EMPTY in ops:
        return len(ops) > 1
    values = [item for item in items if item.compare.op.takes_value]
    if any(_is_never(item) for item in values):
        return True
    if field.type.is_list:
        return _list_conflict(values, field)
    candidates = _candidates(values, field)
    if candidates is not None:
        return not any(_fits(value, values, field) for value in candidates)
    return _is_empty_range(values, field) or _text_conflict(values, field)


def _is_never(item: Literal) -> bool:
    return item.compare.op is Op.IN and item.compare.value == ()


def _fits(value: Element, items: Sequence[Literal], field: Field) -> bool:
    (key,) = bound_keys((value,), field)
    return all(
        (key_test(item.compare, field)(key) is not item.compare.op.is_negative) is not item.negated
        for item in items
    )


def _candidates(items: Sequence[Literal], field: Field) -> Sequence[Element] | None:
    """The only values that can be meant, if they are few."""
    for item in items:
        value = item.compare.value
        if item.compare.op is Op.EQ and not isinstance(value, tuple) and value is not None:
            return [value]
        if item.compare.op is Op.IN and isinstance(value, tuple):
            return value
    if field.type is FieldType.BOOL:
        return [True, False]
    low, high = _limits(items, field)
    if domain(field) is FieldType.INT and isinstance(low, int) and isinstance(high, int):
        return range(low, high + 1) if high - low < _SMALL else None
    return None


def _bounds(items: Sequence[Literal], field: Field) -> Iterator[tuple[Op, Key]]:
    for item in items:
        value = item.compare.value
        if item.negated or value is None or isinstance(value, tuple):
            continue
        yield from ((item.compare.op, key) for key in bound_keys((value,), field))


def _limits(items: Sequence[Literal], field: Field) -> tuple[Key | None, Key | None]:
    """The least and the greatest value allowed; of discrete types strict bounds are moved."""
    step = 1 if domain(field) in _DISCRETE else 0
    lows: list[Key] = []
    highs: list[Key] = []
    for op, key in _bounds(items, field):
        strict = step if isinstance(key, int) and op in (Op.GT, Op.LT) else 0
        if op in (Op.GT, Op.GE):
            lows.append(key + strict if isinstance(key, int) else key)
        elif op in (Op.LT, Op.LE):
            highs.append(key - strict if isinstance(key, int) else key)
    return max(lows, default=None), min(highs, default=None)


def _is_empty_range(items: Sequence[Literal], field: Field) -> bool:
    low, high = _limits(items, field)
    if low is None or high is None:
        return False
    if operator.gt(low, high):
        return True
    strict = {(Op.GT, low), (Op.LT, high)} & set(_bounds(items, field))
    return low == high and domain(field) not in _DISCRETE and bool(strict)


def _text_conflict(items: Sequence[Literal], field: Field) -> bool:
    if domain(field) is not FieldType.STRING:
        return False
    wanted = {op: _texts(items, op, negated=False) for op in Op}
    starts, ends = wanted[Op.STARTS_WITH], wanted[Op.ENDS_WITH]
    if any(not (a.startswith(b) or b.startswith(a)) for a, b in product(starts, starts)):
        return True
    if any(not (a.endswith(b) or b.endswith(a)) for a, b in product(ends, ends)):
        return True
    held = [*wanted[Op.CONTAINS], *starts, *ends]
    return (
        any(a in b for a, b in product(wanted[Op.NOT_CONTAINS], held))
        or any(b.startswith(a) for a in _texts(items, Op.STARTS_WITH, negated=True) for b in starts)
        or any(b.endswith(a) for a in _texts(items, Op.ENDS_WITH, negated=True) for b in ends)
    )


def _texts(items: Sequence[Literal], op: Op, *, negated: bool) -> list[str]:
    return [
        fold(str(item.compare.value))
        for item in items
        if item.compare.op is op and item.negated is negated
    ]


_SOME = frozenset({Op.EQ, Op.IN, Op.CONTAINS})
_NONE = frozenset({Op.NE, Op.NOT_IN, Op.NOT_CONTAINS})


def _list_conflict(items: Sequence[Literal], field: Field) -> bool:
    """Some element is asked for that none may be, or an ordering and its negation."""
    banned = {key for item in items if item.compare.op in _NONE for key in _keys(item, field)}
    if any(item.compare.op in _SOME and _keys(item, field) <= banned for item in items):
        return True
    asked = {item.compare for item in items if not item.negated}
    return any(item.negated and item.compare in asked for item in items)


def _keys(item: Literal, field: Field) -> set[Key]:
    value = item.compare.value
    values = value if isinstance(value, tuple) else () if value is None else (value,)
    return set(bound_keys(values, field))
