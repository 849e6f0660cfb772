"""Half-open periods of days, and the arithmetic that relative dates need."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from enum import StrEnum

from dateutil.relativedelta import relativedelta


class Unit(StrEnum):
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    HALF = "half"
    YEAR = "year"
    DECADE = "decade"


_STEP = {
    Unit.DAY: relativedelta(days=1),
    Unit.WEEK: relativedelta(weeks=1),
    Unit.MONTH: relativedelta(months=1),
    Unit.QUARTER: relativedelta(months=3),
    Unit.HALF: relativedelta(months=6),
    Unit.YEAR: relativedelta(years=1),
    Unit.DECADE: relativedelta(years=10),
}


@dataclass(frozen=True)
class Period:
    """Days from `start` up to, but without, `end`."""

    start: dt.date
    end: dt.date


def day(year: int, month: int, number: int) -> Period | None:
    """One day; None where the calendar has no such day."""
    try:
        start = dt.date(year, month, number)
    except ValueError:
        return None
    return Period(start, start + dt.timedelta(days=1))


def month(year: int, number: int) -> Period | None:
    """One month; None where there is no such month or year."""
    try:
        start = dt.date(year, number, 1)
    except ValueError:
        return None
    return _from(start, Unit.MONTH)


def quarter(year: int, number: int, first_month: int = 1) -> Period | None:
    """One quarter (1..4) of the year that begins in `first_month`."""
    whole = years(year, 1, first_month)
    if whole is None or not 1 <= number <= 4:
        return None
    return _from(whole.start + relativedelta(months=3 * (number - 1)), Unit.QUARTER)


def half(year: int, number: int, first_month: int = 1) -> Period | None:
    """One half (1 or 2) of the year that begins in `first_month`."""
    whole = years(year, 1, first_month)
    if whole is None or number not in (1, 2):
        return None
    return _from(whole.start + relativedelta(months=6 * (number - 1)), Unit.HALF)


def years(year: int, number: int = 1, first_month: int = 1) -> Period | None:
    """`number` years from `year`. A year that does not begin in January is named after its end."""
    try:
        start = dt.date(year - (1 if first_month > 1 else 0), first_month, 1)
        return Period(start, start + relativedelta(years=number))
    except ValueError:
        return None


def fiscal_year(today: dt.date, shift: int, first_month: int) -> Period | None:
    """The fiscal year around a day, `shift` of them later."""
    ends_next_year = first_month > 1 and today.month >= first_month
    return years(today.year + ends_next_year + shift, 1, first_month)


def containing(on: dt.date, unit: Unit, shift: int = 0) -> Period | None:
    """The named period around a day (the week, month, year …), `shift` periods later."""
    try:
        moved = on + _STEP[unit] * shift
        return _from(_begin(moved, unit), unit)
    except (ValueError, OverflowError):
        return None


def window(today: dt.date, unit: Unit, number: int, ahead: bool = False) -> Period | None:
    """The rolling window of `number` units that ends with today (or begins with it, `ahead`)."""
    try:
        if ahead:
            return Period(today, today + _STEP[unit] * number + dt.timedelta(days=1))
        return Period(today - _STEP[unit] * number, today + dt.timedelta(days=1))
    except (ValueError, OverflowError):
        return None


def _from(start: dt.date, unit: Unit) -> Period | None:
    try:
        return Period(start, start + _STEP[unit])
    except (ValueError, OverflowError):
        return None


def _begin(on: dt.date, unit: Unit) -> dt.date:
    match unit:
        case Unit.DAY:
            return on
        case Unit.WEEK:
            return on - dt.timedelta(days=on.weekday())
        case Unit.MONTH:
            return on.replace(day=1)
        case Unit.QUARTER:
            return on.replace(month=(on.month - 1) // 3 * 3 + 1, day=1)
        case Unit.HALF:
            return on.replace(month=(on.month - 1) // 6 * 6 + 1, day=1)
        case Unit.YEAR:
            return on.replace(month=1, day=1)
        case Unit.DECADE:
            return on.replace(year=on.year // 10 * 10, month=1, day=1)
