"""Dates and periods in English (and in digits) within a text."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator

from agent.planning import periods
from agent.planning.dated import Calendar, Dated
from agent.planning.numerals import COUNT_EN, ORDINALS, count
from agent.planning.periods import Period, Unit

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sept sep",
            "october oct",
            "november nov",
            "december dec",
        ),
        start=1,
    )
    for name in names.split()
}
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTH = "(?P<month>" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\b(?:\.(?=\s*\d))?"
_YEAR = r"(?P<year>(?:1[6-9]|20|21)\d\d)(?!\d|[.,]\d|[-–/]\d\d(?!\d)|\s?(?:%|x\b))"
_DAY = r"(?P<day>0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?"
_ORDINAL = r"(?P<nth>1st|2nd|3rd|4th|first|second|third|fourth)"
_THAT_YEAR = rf"(?:,?\s*(?:of\s+|in\s+)?(?:{_YEAR}|(?P<rel>last|this|next)\s+year))"
_UNIT = r"(?P<unit>day|week|month|quarter|year|decade)s?"
_DECADES = {"twenties": 20, "thirties": 30, "sixties": 60, "seventies": 70, "eighties": 80}
_DECADES |= {"nineties": 90, "forties": 40, "fifties": 50}

Make = Callable[[re.Match[str], Calendar], Period | None]


def find(text: str, calendar: Calendar) -> Iterator[Dated]:
    """Every reading, overlapping ones too; the caller keeps the longest."""
    for pattern, make, traits in _RULES:
        for found in pattern.finditer(text):
            period = make(found, calendar)
            if period is not None:
                yield Dated(
                    start=found.start(),
                    end=found.end(),
                    words=found.group(),
                    period=period,
                    rolling="rolling" in traits,
                    bare_year="year" in traits,
                    guessed="guessed" in traits,
                    note=_note(found, calendar) if "ambiguous" in traits else "",
                )


def _iso(m: re.Match[str], _: Calendar) -> Period | None:
    return periods.day(int(m["year"]), int(m["month"]), int(m["day"]))


def _slashed(m: re.Match[str], calendar: Calendar) -> Period | None:
    first, second, year = int(m["a"]), int(m["b"]), int(m["year"])
    year += 2000 if year < 70 else 1900 if year < 100 else 0
    day_first = second <= 12 and (first > 12 or bool(calendar.day_first))
    number, month = (first, second) if day_first else (second, first)
    return periods.day(year, month, number)


def _note(m: re.Match[str], calendar: Calendar) -> str:
    if int(m["a"]) > 12 or int(m["b"]) > 12 or m["a"] == m["b"] or calendar.day_first is not None:
        return ""
    return f"{m.group()} was read as month/day/year"


def _named_day(m: re.Match[str], calendar: Calendar) -> Period | None:
    month, number = _MONTHS[m["month"].lower()], int(m["day"])
    if m.groupdict().get("year") or m.groupdict().get("rel"):
        return periods.day(_year(m, calendar.today), month, number)
    return _nearest(lambda year: periods.day(year, month, number), calendar)


def _day_of_month(m: re.Match[str], calendar: Calendar) -> Period | None:
    return periods.day(calendar.today.year, calendar.today.month, int(m["day"]))


def _day_of_that_month(m: re.Match[str], calendar: Calendar) -> Period | None:
    shift = {"last": -1, "this": 0, "next": 1}[m["rel"].lower()]
    month = periods.containing(calendar.today, Unit.MONTH, shift)
    return (
        None if month is None else periods.day(month.start.year, month.start.month, int(m["day"]))
    )


def _year_month(m: re.Match[str], _: Calendar) -> Period | None:
    return periods.month(int(m["year"]), int(m["month"]))


def _named_month(m: re.Match[str], calendar: Calendar) -> Period | None:
    month = _MONTHS[m["month"].lower()]
    if m.groupdict().get("year") or m.groupdict().get("rel"):
        return periods.month(_year(m, calendar.today), month)
    return _nearest(lambda year: periods.month(year, month), calendar)


def _quarter(m: re.Match[str], calendar: Calendar) -> Period | None:
    number, first = _nth(m), calendar.fiscal_start if m.groupdict().get("fiscal") else 1
    if m.groupdict().get("year") or m.groupdict().get("rel"):
        return periods.quarter(_year(m, calendar.today), number, first)
    return _nearest(lambda year: periods.quarter(year, number, first), calendar)


def _half(m: re.Match[str], calendar: Calendar) -> Period | None:
    number = _nth(m)
    if m.groupdict().get("year") or m.groupdict().get("rel"):
        return periods.half(_year(m, calendar.today), number)
    return _nearest(lambda year: periods.half(year, number), calendar)


def _nearest(make: Callable[[int], Period | None], calendar: Calendar) -> Period | None:
    """A date without a year: the latest that has begun by today."""
    this_year = make(calendar.today.year)
    if this_year is not None and this_year.start <= calendar.today:
        return this_year
    return make(calendar.today.year - 1)


def _calendar_year(m: re.Match[str], _: Calendar) -> Period | None:
    return periods.years(int(m["year"]))


def _fiscal_year(m: re.Match[str], calendar: Calendar) -> Period | None:
    year = int(m["short"]) + 2000 if m["short"] else int(m["year"])
    return periods.years(year, 1, calendar.fiscal_start)


def _relative_fiscal_year(m: re.Match[str], calendar: Calendar) -> Period | None:
    shift = {"last": -1, "previous": -1, "this": 0, "current": 0, "next": 1}[m["rel"].lower()]
    return periods.fiscal_year(calendar.today, shift, calendar.fiscal_start)


def _short_year(m: re.Match[str], calendar: Calendar) -> Period | None:
    short = int(m["short"])
    century = 2000 if 2000 + short <= calendar.today.year + 1 else 1900
    return periods.years(century + short)


def _decade(m: re.Match[str], _: Calendar) -> Period | None:
    if m["decade"]:
        return periods.years(int(m["decade"]), 10)
    short = int(m["short"]) if m["short"] else _DECADES[m["name"].lower()]
    return periods.years((2000 if short < 30 else 1900) + short, 10)


def _rolling(m: re.Match[str], calendar: Calendar) -> Period | None:
    number = count(m["count"]) if m["count"] else 1
    if number is None:
        return None
    ahead = m["side"].lower() in ("next", "coming", "upcoming")
    return periods.window(calendar.today, Unit(m["unit"].lower()), number, ahead)


def _named(m: re.Match[str], calendar: Calendar) -> Period | None:
    shift = {"last": -1, "previous": -1, "this": 0, "current": 0, "next": 1}[m["rel"].lower()]
    return periods.containing(calendar.today, Unit(m["unit"].lower()), shift)


def _weekday(m: re.Match[str], calendar: Calendar) -> Period | None:
    wanted = _DAYS.index(m["weekday"].lower())
    today, side = calendar.today, (m["rel"] or "last").lower()
    monday = today - dt.timedelta(days=today.weekday())
    match side:
        case "this":
            on = monday + dt.timedelta(days=wanted)
        case "next":
            on = monday + dt.timedelta(days=wanted + 7)
        case _:
            on = today - dt.timedelta(days=(today.weekday() - wanted - 1) % 7 + 1)
    return periods.containing(on, Unit.DAY)


def _ago(m: re.Match[str], calendar: Calendar) -> Period | None:
    number = count(m["count"])
    if number is None:
        return None
    return periods.containing(calendar.today, Unit(m["unit"].lower()), -number)


def _near_day(m: re.Match[str], calendar: Calendar) -> Period | None:
    shift = {"today": 0, "tonight": 0, "yesterday": -1, "tomorrow": 1}
    words = " ".join(m.group().lower().split())
    days = {"day before yesterday": -2, "day after tomorrow": 2}
    number = shift.get(words, days.get(words.removeprefix("the ")))
    return None if number is None else periods.containing(calendar.today, Unit.DAY, number)


def _year_to_date(_: re.Match[str], calendar: Calendar) -> Period | None:
    start = calendar.today.replace(month=1, day=1)
    return Period(start, calendar.today + dt.timedelta(days=1))


def _year(m: re.Match[str], today: dt.date) -> int:
    groups = m.groupdict()
    if groups.get("year"):
        return int(groups["year"])
    return today.year + {"last": -1, "this": 0, "next": 1}[groups["rel"].lower()]


def _nth(m: re.Match[str]) -> int:
    text = m["nth"].lower()
    return int(text[0]) if text[0].isdigit() else ORDINALS[text]


def _rule(pattern: str, make: Make, *traits: str) -> tuple[re.Pattern[str], Make, tuple[str, ...]]:
    return re.compile(r"(?<![\w.])" + pattern + r"(?!\w)", re.IGNORECASE | re.ASCII), make, traits


_RULES = (
    _rule(r"(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})", _iso),
    _rule(r"(?P<a>\d{1,2})/(?P<b>\d{1,2})/(?P<year>\d{4}|\d\d)", _slashed, "ambiguous"),
    _rule(rf"{_DAY}\s+(?:of\s+)?{_MONTH}{_THAT_YEAR}", _named_day),
    _rule(rf"{_MONTH}\s+(?:the\s+)?{_DAY}{_THAT_YEAR}", _named_day),
    _rule(rf"{_DAY}\s+(?:of\s+)?{_MONTH}", _named_day, "guessed"),
    _rule(rf"{_MONTH}\s+(?:the\s+)?{_DAY}", _named_day, "guessed"),
    _rule(rf"the\s+{_DAY.replace('?:st|nd|rd|th)?', '?:st|nd|rd|th)')}", _day_of_month, "guessed"),
    _rule(r"(?P<year>(?:19|20)\d\d)[-/](?P<month>0[1-9]|1[0-2])(?![-/\d])", _year_month),
    _rule(rf"{_MONTH}{_THAT_YEAR}", _named_month),
    _rule(
        rf"(?<=in\s|ce\s|re\s|er\s|il\s|of\s|ng\s|om\s|by\s|st\s){_MONTH}", _named_month, "guessed"
    ),
    _rule(rf"\A{_MONTH}(?=\W*\Z)", _named_month, "guessed"),
    _rule(rf"(?P<fiscal>fiscal\s+|FY\s?)?Q(?P<nth>[1-4]){_THAT_YEAR}", _quarter),
    _rule(rf"{_YEAR}[\s-]?Q(?P<nth>[1-4])", _quarter),
    _rule(r"Q(?P<nth>[1-4])", _quarter, "guessed"),
    _rule(rf"(?:the\s+)?{_ORDINAL}\s+quarter{_THAT_YEAR}", _quarter),
    _rule(rf"(?:the\s+)?{_ORDINAL}\s+quarter", _quarter, "guessed"),
    _rule(rf"H(?P<nth>[12]){_THAT_YEAR}", _half),
    _rule(rf"{_YEAR}[\s-]?H(?P<nth>[12])", _half),
    _rule(r"H(?P<nth>[12])", _half, "guessed"),
    _rule(rf"(?:the\s+)?{_ORDINAL}\s+half{_THAT_YEAR}", _half),
    _rule(rf"(?:the\s+)?{_ORDINAL}\s+half\s+of\s+the\s+year", _half, "guessed"),
    _rule(rf"(?:the\s+year\s+)?{_YEAR}", _calendar_year, "year"),
    _rule(
        r"(?:the\s+)?(?P<rel>last|previous|this|current|next)\s+(?:fiscal|financial)\s+year",
        _relative_fiscal_year,
    ),
    _rule(
        rf"(?:FY\s?|(?:fiscal|financial)\s+(?:year\s+)?)(?:{_YEAR}|(?P<short>\d\d))", _fiscal_year
    ),
    _rule(r"['’](?P<short>\d\d)", _short_year),
    _rule(rf"{_DAY}\s+of\s+(?P<rel>last|this|next)\s+month", _day_of_that_month),
    _rule(rf"(?P<weekday>{'|'.join(_DAYS)})\s+(?:of\s+)?(?P<rel>last|this|next)\s+week", _weekday),
    _rule(
        r"(?:the\s+)?(?:(?P<decade>(?:1[89]|20)\d0)['’]?s|['’]?(?P<short>[2-9]0)['’]?s|(?P<name>"
        + "|".join(_DECADES)
        + "))",
        _decade,
    ),
    _rule(
        r"(?:the\s+)?(?P<side>past|last|previous|recent|next|coming|upcoming)\s+"
        rf"(?P<count>{COUNT_EN})\s+{_UNIT}",
        _rolling,
        "rolling",
    ),
    _rule(rf"(?:the\s+)?(?P<side>past)\s+(?P<count>){_UNIT}", _rolling, "rolling"),
    _rule(
        r"(?:the\s+)?(?P<rel>last|previous|this|current|next)\s+(?P<unit>week|month|quarter|year|decade)",
        _named,
    ),
    _rule(rf"(?:(?P<rel>last|this|next)\s+)?(?P<weekday>{'|'.join(_DAYS)})", _weekday),
    _rule(rf"(?P<count>{COUNT_EN})\s+{_UNIT}\s+ago", _ago),
    _rule(
        r"(?:today|tonight|yesterday|tomorrow|(?:the\s+)?day\s+(?:before\s+yesterday|after\s+tomorrow))",
        _near_day,
    ),
    _rule(r"(?:so\s+far\s+this\s+year|(?:the\s+)?year\s+to\s+date|YTD)", _year_to_date, "rolling"),
)
