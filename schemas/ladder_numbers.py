"""Numbers moved to values that documents have, and ranges widened."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from schemas.bounds import INT64_MAX, INT64_MIN
from schemas.check import bind
from schemas.collection import Collection, Field, FieldType
from schemas.filters import AllOf, Compare, Filter, Op, all_of
from schemas.loosen import Rung, Unit
from schemas.normalise import normalise

TRIED = 4
SHARE = 0.1
"""By this share of its size a range or a bound is widened."""

_YEARS = range(1900, 2101)
_YEAR_WORDS = ("year", "年份", "年度", "年")

Number = int | float


@dataclass(frozen=True)
class _Range:
    """Comparisons with numbers: the bounds as they are written, or the values asked for."""

    low: Compare | None = None
    high: Compare | None = None
    values: tuple[Number, ...] = ()


def number_rungs(unit: Unit, collection: Collection) -> Iterator[Rung]:
    """Nearest known values first, then 10 % more on each side."""
    (name,) = unit.fields
    field = collection.field(name)
    asked = _asked(unit, collection)
    if asked is None:
        return
    known = _known(field)
    if asked.values:
        for value in _nearest(asked.values, known, field):
            yield Rung("nearest", unit, Compare(op=Op.EQ, field=name, value=value))
    else:
        for low, high in _moved(asked, known):
            yield Rung("nearest", unit, _filter(name, low, high))
    wider = _wider(asked, field)
    if wider is not None:
        yield Rung("widen", unit, _filter(name, *wider))


def is_year(field: Field, value: object) -> bool:
    """Whether a whole number is a calendar year, by the field's name and its size."""
    named = any(word in field.name.casefold() for word in _YEAR_WORDS)
    return named and isinstance(value, int) and not isinstance(value, bool) and value in _YEARS


def _asked(unit: Unit, collection: Collection) -> _Range | None:
    root = normalise(bind(unit.filter, collection).root)
    low: Compare | None = None
    high: Compare | None = None
    for part in root.of if isinstance(root, AllOf) else (root,):
        if not isinstance(part, Compare):
            return None
        match part.op:
            case Op.EQ | Op.IN if low is None and high is None:
                return _Range(values=_numbers(part)) if _numbers(part) else None
            case Op.GE | Op.GT:
                low = part
            case Op.LE | Op.LT:
                high = part
            case _:
                return None
    if any(bound is not None and not _numbers(bound) for bound in (low, high)):
        return None
    return _Range(low, high)


def _numbers(leaf: Compare) -> tuple[Number, ...]:
    items = leaf.value if isinstance(leaf.value, tuple) else (leaf.value,)
    return tuple(i for i in items if isinstance(i, int | float) and not isinstance(i, bool))


def _known(field: Field) -> list[Number]:
    return sorted(
        value
        for value in field.values
        if isinstance(value, int | float) and not isinstance(value, bool)
    )


def _nearest(
    asked: Sequence[Number], known: Sequence[Number], field: Field
) -> Sequence[int | float]:
    """Values by their distance from the nearest one asked for, lower ones before higher ones."""
    found = set(known)
    complete = field.profile is not None and field.profile.complete
    if not complete and all(is_year(field, value) for value in asked):
        found |= {value + step for value in asked for step in (-2, -1, 1, 2)}
    found -= set(asked)
    return sorted(found, key=lambda one: (min(abs(one - value) for value in asked), one))[:TRIED]


def _moved(
    asked: _Range, known: Sequence[Number]
) -> Iterator[tuple[Number | Compare | None, Number | Compare | None]]:
    """One bound moved out to a known value, the smallest move first."""
    moves: list[tuple[Number, Number | Compare | None, Number | Compare | None]] = []
    if asked.low is not None:
        (bound,) = _numbers(asked.low)
        moves += [(bound - v, v, asked.high) for v in known if v <= bound]
    if asked.high is not None:
        (bound,) = _numbers(asked.high)
        moves += [(v - bound, asked.low, v) for v in known if v >= bound]
    moves.sort(key=lambda move: move[0])
    yield from ((low, high) for _, low, high in moves[:TRIED])


def _wider(asked: _Range, field: Field) -> tuple[Number | None, Number | None] | None:
    """Both bounds after they were moved out; None where there is nothing to go by."""
    if asked.values:
        low: Number | None = min(asked.values)
        high: Number | None = max(asked.values)
    else:
        low = _numbers(asked.low)[0] if asked.low is not None else None
        high = _numbers(asked.high)[0] if asked.high is not None else None
    step = _step(low, high, field)
    if not step or not math.isfinite(step):
        return None
    return _bounded(low, -step), _bounded(high, step)


def _step(low: Number | None, high: Number | None, field: Field) -> Number:
    if low is not None and high is not None and high > low:
        size = high - low
    else:
        size = abs(low if low is not None else high or 0)
    if field.type is FieldType.INT and isinstance(size, int):
        is_year_ = is_year(field, low) or is_year(field, high)
        return 1 if is_year_ else max(1, -(-size // round(1 / SHARE)))
    return size * SHARE


def _bounded(bound: Number | None, step: Number) -> Number | None:
    if bound is None:
        return None
    moved = bound + step
    if isinstance(moved, int):
        return min(max(moved, INT64_MIN), INT64_MAX)
    return moved if math.isfinite(moved) else bound


def _filter(name: str, low: Number | Compare | None, high: Number | Compare | None) -> Filter:
    parts: list[Filter] = []
    for op, bound in ((Op.GE, low), (Op.LE, high)):
        if isinstance(bound, Compare):
            parts.append(bound)
        elif bound is not None:
            parts.append(Compare(op=op, field=name, value=bound))
    return all_of(*parts)
