"""Days, times and the periods that people name: 2024, 2024-Q3, 2024-05, 2024-W05, 2024-05-01.

Days count from 1970-01-01; times are milliseconds since 1970-01-01T00:00Z.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass

from schemas.errors import FilterError

EPOCH = dt.date(1970, 1, 1)
_EPOCH_TIME = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
MS_PER_DAY = 86_400_000
FIRST_DAY = (dt.date.min - EPOCH).days
LAST_DAY = (dt.date.max - EPOCH).days
LAST_MS = (LAST_DAY + 1) * MS_PER_DAY - 1

DATE_FORMS = "2024-05-31, 2024-05, 2024-Q2, 2024-W22, 2024"
TIME_FORMS = "2024-05-31T10:00:00Z or 2024-05-31T10:00:00+02:00"

_YEAR = re.compile(r"(\d{4})")
_MONTH = re.compile(r"(\d{4})-(\d{2})")
_QUARTER = re.compile(r"(\d{4})-?[Qq]([1-4])")
_WEEK = re.compile(r"(\d{4})-?[Ww](\d{2})")
_DAY = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_TIME = re.compile(r"(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?)(.*)")
_ZONE = re.compile(r"[Zz]|[+-]\d{2}:?\d{2}")


@dataclass(frozen=True)
class Period:
    """Half-open days [start, end). An `end` beyond the calendar is LAST_DAY + 1."""

    start: int
    end: int

    @property
    def is_day(self) -> bool:
        return self.end - self.start == 1


@dataclass(frozen=True)
class Moment:
    """A time: whole milliseconds, and whether something below them was left off."""

    ms: int
    exact: bool
    day: int


def day_number(day: dt.date) -> int:
    return (day - EPOCH).days


def iso_day(number: int) -> str:
    """The ISO form of a day number between FIRST_DAY and LAST_DAY."""
    return (EPOCH + dt.timedelta(days=number)).isoformat()


def iso_time(ms: int) -> str:
    """The ISO form in UTC, with milliseconds only where there are some."""
    time = _EPOCH_TIME + dt.timedelta(milliseconds=ms)
    spec = "milliseconds" if ms % 1000 else "seconds"
    return time.isoformat(timespec=spec).replace("+00:00", "Z")


def parse_period(text: str) -> Period:
    """The days that a date or period covers. Raises FilterError on what is none."""
    try:
        return _period(text)
    except ValueError as error:
        raise FilterError(f"{text!r} is not a date: {error}") from error


def _period(text: str) -> Period:
    if found := _DAY.fullmatch(text):
        start = dt.date(*map(int, found.groups()))
        return Period(day_number(start), day_number(start) + 1)
    if found := _YEAR.fullmatch(text):
        return _months(int(found[1]), 1, 12)
    if found := _MONTH.fullmatch(text):
        return _months(int(found[1]), int(found[2]), 1)
    if found := _QUARTER.fullmatch(text):
        return _months(int(found[1]), 3 * int(found[2]) - 2, 3)
    if found := _WEEK.fullmatch(text):
        monday = day_number(dt.date.fromisocalendar(int(found[1]), int(found[2]), 1))
        return Period(monday, monday + 7)
    raise ValueError(f"allowed are forms like {DATE_FORMS}")


def _months(year: int, month: int, count: int) -> Period:
    start = day_number(dt.date(year, month, 1))
    last = month + count - 1
    if last < 12:
        return Period(start, day_number(dt.date(year, last + 1, 1)))
    return Period(start, day_number(dt.date(year, 12, 31)) + 1)


def parse_moment(text: str) -> Moment | None:
    """The moment that an ISO time means, None if the text has not the form of a time.

    Raises FilterError on a time without a zone and on an impossible one.
    """
    found = _TIME.fullmatch(text)
    if found is None:
        return None
    day, clock, zone = found.groups()
    if not _ZONE.fullmatch(zone):
        raise FilterError(f"{text!r} is a time without a zone; write {TIME_FORMS}")
    try:
        time = dt.datetime.fromisoformat(f"{day}T{clock.replace(',', '.')}{zone.upper()}")
        passed = time.astimezone(dt.UTC) - _EPOCH_TIME
    except (ValueError, OverflowError) as error:
        raise FilterError(f"{text!r} is not a time: {error}") from error
    ms, rest = divmod(passed, dt.timedelta(milliseconds=1))
    exact = not rest or ms == LAST_MS
    return Moment(ms=ms, exact=exact, day=day_number(dt.date.fromisoformat(day)))
