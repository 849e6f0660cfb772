"""Days, months, quarters and years moved to where documents are, and widened."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from schemas.bounds import Value
from schemas.check import bind
from schemas.collection import Collection, Field, FieldType
from schemas.errors import FilterError
from schemas.filters import AllOf, Compare, Filter, Op, all_of
from schemas.loosen import Rung, Unit
from schemas.normalise import normalise
from schemas.periods import (
    EPOCH,
    FIRST_DAY,
    LAST_DAY,
    MS_PER_DAY,
    day_number,
    iso_day,
    parse_moment,
    parse_period,
)

TRIED = 4
"""So many nearest values are tried."""

_BLIND = (-1, 1, -2, 2)


class Grain(StrEnum):
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"
    SPAN = "span"


_MONTHS = {Grain.MONTH: 1, Grain.QUARTER: 3, Grain.YEAR: 12}


@dataclass(frozen=True)
class Span:
    """Half-open days [start, end); None where a side is open."""

    start: int | None
    end: int | None

    @property
    def grain(self) -> Grain:
        if self.start is None or self.end is None:
            return Grain.SPAN
        for grain in (Grain.DAY, Grain.WEEK):
            if self.end - self.start == _DAYS[grain] and _floor(self.start, grain) == self.start:
                return grain
        for grain in _MONTHS:
            if _floor(self.start, grain) == self.start and _next(self.start, grain) == self.end:
                return grain
        return Grain.SPAN


_DAYS = {Grain.DAY: 1, Grain.WEEK: 7}


def span_of(unit: Unit, collection: Collection) -> Span | None:
    """The days that a unit asks for; None if it is no condition on days."""
    parts = normalise(bind(unit.filter, collection).root)
    found = parts.of if isinstance(parts, AllOf) else (parts,)
    start: int | None = None
    end: int | None = None
    for part in found:
        if not isinstance(part, Compare):
            return None
        side = _side(part, collection.field(part.field))
        if side is None:
            return None
        start, end = side.start if start is None else start, side.end if end is None else end
    if start is not None and end is not None and start >= end:
        return None
    return Span(start, end)


def period_rungs(unit: Unit, collection: Collection) -> Iterator[Rung]:
    """Nearest periods first, then wider ones."""
    span = span_of(unit, collection)
    if span is None:
        return
    (name,) = unit.fields
    field = collection.field(name)
    for near in _nearest(span, field):
        yield Rung("nearest", unit, filter_of(near, name))
    for wide in _wider(span):
        yield Rung("widen", unit, filter_of(wide, name))


def filter_of(span: Span, name: str) -> Filter:
    parts: list[Filter] = []
    if span.start is not None:
        parts.append(Compare(op=Op.GE, field=name, value=iso_day(span.start)))
    if span.end is not None and span.end <= LAST_DAY:
        parts.append(Compare(op=Op.LT, field=name, value=iso_day(span.end)))
    return all_of(*parts)


def _side(leaf: Compare, field: Field) -> Span | None:
    day = _day(leaf.value, field)
    if day is None:
        return None
    match leaf.op:
        case Op.GE:
            return Span(day, None)
        case Op.LT:
            return Span(None, day)
        case Op.EQ if field.type is FieldType.DATE:
            return Span(day, day + 1)
        case Op.GT if field.type is FieldType.DATE:
            return Span(day + 1, None)
        case Op.LE if field.type is FieldType.DATE:
            return Span(None, day + 1)
        case _:
            return None


def _day(value: Value, field: Field) -> int | None:
    """The day of a bound value; of a time only if it is midnight in UTC."""
    if not isinstance(value, str):
        return None
    moment = parse_moment(value) if field.type is FieldType.DATETIME else None
    if moment is not None:
        day, rest = divmod(moment.ms, MS_PER_DAY)
        return None if rest else day
    return parse_period(value).start if field.type is FieldType.DATE else None


def _nearest(span: Span, field: Field) -> Iterator[Span]:
    days = known_days(field)
    if span.start is not None and span.end is not None:
        moved = (_moved(span, steps) for steps in _steps(span, days, field))
        yield from (one for one in moved if one is not None)
    elif span.start is not None:
        before = [day for day in days if day < span.start]
        yield from (Span(day, None) for day in sorted(before, reverse=True)[:TRIED])
    elif span.end is not None:
        behind = [day for day in days if day >= span.end]
        yield from (Span(None, day + 1) for day in sorted(behind)[:TRIED])


def _steps(span: Span, days: Sequence[int], field: Field) -> list[int]:
    """By how many periods of its length a period is moved, the nearest first, earlier ones
    before later ones.
    """
    steps = {_distance(span, day) for day in days}
    if field.profile is None or not field.profile.complete:
        steps |= set(_BLIND)
    if field.profile is not None:
        first, last = (_distance(span, d) for d in _bounds(field, days) or (FIRST_DAY, LAST_DAY))
        steps = {step for step in steps if first <= step <= last}
    return sorted(steps - {0}, key=lambda step: (abs(step), step))[:TRIED]


def _bounds(field: Field, days: Sequence[int]) -> tuple[int, int] | None:
    """The first and the last day that documents have, where both are known."""
    if field.profile is None:
        return None
    first, last = _as_day(field.profile.minimum), _as_day(field.profile.maximum)
    if first is None or last is None:
        return None
    return min((first, *days)), max((last, *days))


def known_days(field: Field) -> tuple[int, ...]:
    """The days of a field's known values, each once."""
    found = (_as_day(value) for value in field.values)
    return tuple(dict.fromkeys(day for day in found if day is not None))


def _as_day(value: object) -> int | None:
    if not isinstance(value, str):
        return None
    try:
        moment = parse_moment(value)
        return parse_period(value).start if moment is None else moment.ms // MS_PER_DAY
    except FilterError:
        return None


def _moved(span: Span, steps: int) -> Span | None:
    """A period moved by its own length; None beyond the calendar."""
    if span.start is None or span.end is None:
        return None
    grain = span.grain
    try:
        if grain in _MONTHS:
            months = _MONTHS[grain]
            start = _plus_months(span.start, steps * months)
            return Span(start, _next(start, grain))
    except ValueError:
        return None
    length = span.end - span.start
    start, end = span.start + steps * length, span.end + steps * length
    return Span(start, end) if start >= FIRST_DAY and end <= LAST_DAY else None


def _distance(span: Span, day: int) -> int:
    """How many periods lie between a period and the one of a day."""
    if span.start is None or span.end is None:
        return 0
    grain = span.grain
    if grain in _MONTHS:
        return (_months(day) - _months(span.start)) // _MONTHS[grain]
    return (day - span.start) // (span.end - span.start)


def _wider(span: Span) -> list[Span]:
    """Whole months, quarters and years around it, then a year more on each open side."""
    hulls = [_hull(span, grain) for grain in _MONTHS]
    year = hulls[-1]
    hulls.append(
        Span(
            None if year.start is None else _year_before(year.start),
            None if year.end is None else _year_after(year.end),
        )
    )
    return [hull for hull in dict.fromkeys(hulls) if hull != span]


def _hull(span: Span, grain: Grain) -> Span:
    return Span(
        None if span.start is None else _floor(span.start, grain),
        None if span.end is None else _next(span.end - 1, grain),
    )


def _floor(day: int, grain: Grain) -> int:
    """The first day of the period that a day lies in."""
    date = _date(day)
    match grain:
        case Grain.WEEK:
            return day - date.weekday()
        case Grain.MONTH:
            return day_number(date.replace(day=1))
        case Grain.QUARTER:
            return day_number(date.replace(month=(date.month - 1) // 3 * 3 + 1, day=1))
        case Grain.YEAR:
            return day_number(date.replace(month=1, day=1))
        case _:
            return day


def _next(day: int, grain: Grain) -> int:
    """The first day behind the period that a day lies in; behind the calendar, LAST_DAY + 1."""
    try:
        return _plus_months(_floor(day, grain), _MONTHS[grain])
    except ValueError:
        return LAST_DAY + 1


def _year_before(day: int) -> int:
    return FIRST_DAY if _date(day).year == dt.MINYEAR else _plus_months(day, -12)


def _year_after(day: int) -> int:
    return LAST_DAY + 1 if day > LAST_DAY - 366 else _plus_months(day, 12)


def _plus_months(day: int, months: int) -> int:
    """The first of a month moved by months. ValueError beyond the calendar."""
    year, month = divmod(_months(day) + months, 12)
    return day_number(dt.date(year, month + 1, 1))


def _months(day: int) -> int:
    date = _date(day)
    return date.year * 12 + date.month - 1


def _date(day: int) -> dt.date:
    return EPOCH + dt.timedelta(days=min(max(day, FIRST_DAY), LAST_DAY))
