"""Comparisons brought to the type of their field, by what arithmetic and the calendar say.

The result of each function means the same as the comparison given, on every row. Dates come
out as ISO days, times as ISO times in UTC, periods as half-open pairs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import assert_never

from schemas.collection import ColumnKind, Field, FieldType
from schemas.errors import FilterError
from schemas.filters import AllOf, AnyOf, Compare, Element, Filter, Op, any_of
from schemas.folding import is_blank
from schemas.operators import MEMBERSHIP
from schemas.periods import (
    LAST_DAY,
    MS_PER_DAY,
    TIME_FORMS,
    Moment,
    Period,
    iso_day,
    iso_time,
    parse_moment,
    parse_period,
)
from schemas.values import as_bool, as_float32, as_number, as_text, domain


def coerce(c: Compare, field: Field) -> Filter:
    """The comparison with its value in the field's type. Raises FilterError on a bad value."""
    if not c.op.takes_value:
        return c
    if c.value is None:
        raise FilterError(f"{c.op} on field {c.field!r} needs a value")
    if c.op in MEMBERSHIP:
        return _membership(c, field)
    if isinstance(c.value, tuple):
        raise FilterError(f"{c.op} takes one value, not a list; use in or not_in")
    return _single(c, c.value, field)


def _never(c: Compare) -> Compare:
    """False on every value."""
    return Compare(op=Op.IN, field=c.field, value=())


def _always(c: Compare) -> Compare:
    """True on every value, unknown where it is missing."""
    return Compare(op=Op.NOT_IN, field=c.field, value=())


def _with(c: Compare, op: Op, value: Element) -> Compare:
    return Compare(op=op, field=c.field, value=value)


def _single(c: Compare, value: Element, field: Field) -> Filter:
    match domain(field):
        case FieldType.STRING:
            return _with(c, c.op, _string(value))
        case FieldType.BOOL:
            return _with(c, c.op, as_bool(value))
        case FieldType.INT:
            return _int(c, as_number(value))
        case FieldType.NUMBER:
            return _number(c, as_number(value), single=_is_single(field))
        case FieldType.DATE:
            return _days(c, _date(value))
        case FieldType.DATETIME:
            return _times(c, _time(value))
        case FieldType.STRING_LIST | FieldType.INT_LIST:
            raise AssertionError("a domain is never a list")
        case _ as never:
            assert_never(never)


def _membership(c: Compare, field: Field) -> Filter:
    """`in` as equality with some element; what is no plain equality stands beside the list."""
    items = c.value if isinstance(c.value, tuple) else (c.value,) if c.value is not None else ()
    members, others = _plain(items, field)
    equal = [_single(_with(c, Op.EQ, item), item, field) for item in others]
    ranges = [item for item, found in zip(others, equal, strict=True) if found != _never(c)]
    plain = Compare(op=c.op, field=c.field, value=members)
    if not ranges:
        return plain
    if c.op is Op.IN:
        apart = dict.fromkeys(found for found in equal if found != _never(c))
        return any_of(*([plain] if members else []), *apart)
    outside = dict.fromkeys(_single(_with(c, Op.NE, item), item, field) for item in ranges)
    return AllOf(of=(*([plain] if members else []), *outside))


def _plain(items: Sequence[Element], field: Field) -> tuple[tuple[Element, ...], list[Element]]:
    """The elements that stand for one value each, in the field's type, and those that do not."""
    if set(map(type, items)) == {_NATIVE.get(domain(field))} and not any(map(_is_blank, items)):
        return tuple(dict.fromkeys(items)), []
    read = _reader(field)
    members: dict[Element, None] = {}
    others: list[Element] = []
    for item in items:
        value = read(item)
        if value is None:
            others.append(item)
        else:
            members[value] = None
    return tuple(members), others


_NATIVE = {FieldType.INT: int, FieldType.STRING: str}


def _is_blank(item: Element) -> bool:
    return isinstance(item, str) and is_blank(item)


def _reader(field: Field) -> Callable[[Element], Element | None]:
    match domain(field):
        case FieldType.STRING:
            return _string
        case FieldType.BOOL:
            return as_bool
        case FieldType.INT:
            return _plain_int
        case FieldType.NUMBER:
            return _plain_single if _is_single(field) else _plain_float
        case FieldType.DATE:
            return _plain_day
        case _:
            return _plain_time


def _plain_int(value: Element) -> int | None:
    number = as_number(value)
    return number if isinstance(number, int) else None


def _plain_float(value: Element) -> float | None:
    number = as_number(value)
    return float(number) if float(number) == number else None


def _plain_single(value: Element) -> float | None:
    return as_float32(float(as_number(value)))


def _plain_day(value: Element) -> str | None:
    period = _date(value)
    return iso_day(period.start) if period.is_day else None


def _plain_time(value: Element) -> str | None:
    when = _time(value)
    return iso_time(when.ms) if isinstance(when, Moment) and when.exact else None


def _is_single(field: Field) -> bool:
    return field.column is not None and field.column.kind is ColumnKind.FLOAT


def _string(value: Element) -> str:
    text = as_text(value)
    if is_blank(text):
        raise FilterError(f"{value!r} is no value but an empty text; use empty or not_empty")
    return text


def _beyond(c: Compare, *, above: bool) -> Compare:
    """A comparison with a number above (or below) everything that the field can hold."""
    match c.op:
        case Op.NE | Op.NOT_CONTAINS:
            return _always(c)
        case Op.LT | Op.LE if above:
            return _always(c)
        case Op.GT | Op.GE if not above:
            return _always(c)
        case _:
            return _never(c)


def _between(c: Compare, below: Element, above: Element) -> Compare:
    """A comparison with a number strictly between two neighbouring ones that can be held."""
    match c.op:
        case Op.GT | Op.GE:
            return _with(c, Op.GE, above)
        case Op.LT | Op.LE:
            return _with(c, Op.LE, below)
        case Op.NE | Op.NOT_CONTAINS:
            return _always(c)
        case _:
            return _never(c)


def _int(c: Compare, number: int | float) -> Compare:
    if isinstance(number, int):
        return _with(c, c.op, number)
    if abs(number) >= 2**63:
        return _beyond(c, above=number > 0)
    return _between(c, math.floor(number), math.ceil(number))


def _number(c: Compare, number: int | float, *, single: bool) -> Compare:
    nearest = float(number)
    if single:
        rounded = as_float32(nearest)
        if rounded is None:
            return _beyond(c, above=nearest > 0)
        return _with(c, c.op, rounded)
    if nearest == number:
        return _with(c, c.op, nearest)
    if nearest > number:
        return _between(c, math.nextafter(nearest, -math.inf), nearest)
    return _between(c, nearest, math.nextafter(nearest, math.inf))


def _date(value: Element) -> Period:
    text = _calendar_text(value)
    moment = parse_moment(text)
    return parse_period(text) if moment is None else Period(moment.day, moment.day + 1)


def _time(value: Element) -> Period | Moment:
    text = _calendar_text(value)
    moment = parse_moment(text)
    if moment is not None:
        return moment
    try:
        return parse_period(text)
    except FilterError as error:
        raise FilterError(f"{error}; times are written {TIME_FORMS}") from error


def _calendar_text(value: Element) -> str:
    """A four-digit number is a year."""
    if isinstance(value, int) and not isinstance(value, bool) and 1000 <= value <= 9999:
        return str(value)
    if isinstance(value, str):
        return value.strip()
    raise FilterError(f"{value!r} is not a date")


def _days(c: Compare, period: Period) -> Filter:
    if period.is_day:
        return _with(c, c.op, iso_day(period.start))
    end = iso_day(period.end) if period.end <= LAST_DAY else None
    return _range(c, iso_day(period.start), end)


def _times(c: Compare, when: Period | Moment) -> Filter:
    match when:
        case Moment(ms=ms, exact=True):
            return _with(c, c.op, iso_time(ms))
        case Moment(ms=ms):
            return _between(c, iso_time(ms), iso_time(ms + 1))
        case Period(start=start, end=end):
            stop = iso_time(end * MS_PER_DAY) if end <= LAST_DAY else None
            return _range(c, iso_time(start * MS_PER_DAY), stop)
        case _ as never:
            assert_never(never)


def _range(c: Compare, start: str, end: str | None) -> Filter:
    """A comparison with the half-open range [start, end); no end where the calendar ends."""
    match c.op:
        case Op.EQ:
            first = _with(c, Op.GE, start)
            return first if end is None else AllOf(of=(first, _with(c, Op.LT, end)))
        case Op.NE:
            before = _with(c, Op.LT, start)
            return before if end is None else AnyOf(of=(before, _with(c, Op.GE, end)))
        case Op.GT:
            return _never(c) if end is None else _with(c, Op.GE, end)
        case Op.LE:
            return _always(c) if end is None else _with(c, Op.LT, end)
        case _:
            return _with(c, c.op, start)
