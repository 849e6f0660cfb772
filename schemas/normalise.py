"""One form for filters that say the same in different words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeGuard, assert_never

from schemas.filters import (
    BOUNDS,
    EVERYTHING,
    NOTHING,
    AllOf,
    AnyOf,
    Compare,
    Element,
    Filter,
    Not,
    Op,
    dump_filter,
)
from schemas.operators import ORDERING, SPELLINGS

_MERGED = {Op.EQ: Op.IN, Op.IN: Op.IN, Op.NE: Op.NOT_IN, Op.NOT_IN: Op.NOT_IN}
_ALONE = {Op.IN: Op.EQ, Op.NOT_IN: Op.NE}


def normalise(f: Filter) -> Filter:
    """The filter with the same meaning in fewer nodes; normalising again changes nothing.

    Groups are flattened and constants folded, negations pushed down (but not into orderings,
    which differ on lists), repetitions dropped, and equalities of one field merged into `in`.
    The order of what is left is that of its first occurrence. No knowledge of a collection is
    used: `schemas.facts` tells more.
    """
    return _normal(f, negated=False)


def _normal(f: Filter, *, negated: bool) -> Filter:
    match f:
        case Compare():
            return _compare(f, negated=negated)
        case Not(of=part):
            return _normal(part, negated=not negated)
        case AllOf(of=parts) | AnyOf(of=parts):
            inner = [_normal(part, negated=negated) for part in parts]
            return _every(inner) if isinstance(f, AllOf) is not negated else _some(inner)
        case _:
            assert_never(f)


def _compare(c: Compare, *, negated: bool) -> Filter:
    leaf = _alone(c)
    if not negated:
        return leaf
    partner = SPELLINGS[leaf.op].negation
    if partner is None or leaf.op in ORDERING:
        return Not(of=leaf)
    return leaf.model_copy(update={"op": partner})


def _alone(c: Compare) -> Compare:
    """Membership in one value is equality; a value alone is a list of one."""
    if not c.op.takes_list:
        return c
    items = c.value if isinstance(c.value, tuple) else (c.value,)
    unique = _unique(item for item in items if item is not None)
    if len(unique) == 1:
        return Compare(op=_ALONE[c.op], field=c.field, value=unique[0])
    if c.value is None:
        return c
    return Compare(op=c.op, field=c.field, value=unique)


def _unique(items: Iterable[Element]) -> tuple[Element, ...]:
    """`1`, `1.0` and `true` are three values."""
    return tuple({(type(item), item): item for item in items}.values())


def _every(parts: list[Filter]) -> Filter:
    flat = _flat(parts, AllOf)
    if NOTHING in flat:
        return NOTHING
    merged = _merge([part for part in flat if part != EVERYTHING], Op.NOT_IN)
    return merged[0] if len(merged) == 1 else AllOf(of=tuple(merged))


def _some(parts: list[Filter]) -> Filter:
    flat = _flat(parts, AnyOf)
    if EVERYTHING in flat:
        return EVERYTHING
    merged = _merge([part for part in flat if part != NOTHING], Op.IN)
    return merged[0] if len(merged) == 1 else AnyOf(of=tuple(merged))


def _flat(parts: list[Filter], group: type[AllOf] | type[AnyOf]) -> list[Filter]:
    """An empty group of the same kind is the neutral element and falls away here."""
    flat: list[Filter] = []
    for part in parts:
        flat.extend(part.of if isinstance(part, group) else (part,))
    return list({dump_filter(part): part for part in flat}.values())


def _merge(parts: list[Filter], into: Op) -> list[Filter]:
    """Equalities under `or` become one `in`, inequalities under `and` one `not_in`."""
    lists: dict[str, list[Compare]] = {}
    for part in parts:
        if _mergeable(part, into):
            lists.setdefault(part.field, []).append(part)
    merged: list[Filter] = []
    for part in parts:
        group = lists.get(part.field, []) if _mergeable(part, into) else []
        items = _unique(item for member in group for item in _items(member))
        if len(group) < 2 or len(items) > BOUNDS.list_length:
            merged.append(part)
        elif part is group[0]:
            merged.append(_alone(Compare(op=into, field=part.field, value=items)))
    return merged


def _items(c: Compare) -> tuple[Element, ...]:
    if isinstance(c.value, tuple):
        return c.value
    return () if c.value is None else (c.value,)


def _mergeable(part: Filter, into: Op) -> TypeGuard[Compare]:
    return (
        isinstance(part, Compare)
        and _MERGED.get(part.op) is into
        and part.value is not None
        and (part.op.takes_list or not isinstance(part.value, tuple))
    )
