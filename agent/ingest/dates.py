"""Days and times as authors write them."""

from __future__ import annotations

import datetime as dt
import re
import unicodedata

_DAY = r"(?P<year>\d{4})(?:(?P<sep>[-/.])(?P<month>\d{1,2})(?P=sep)(?P<day>\d{1,2})"
_DAY += r"|\s*年\s*(?P<month_zh>\d{1,2})\s*月\s*(?P<day_zh>\d{1,2})\s*[日号]?)"
_CLOCK = r"(?P<hour>\d{1,2})[:时点](?P<minute>\d{1,2})分?(?::?(?P<second>\d{1,2})(?:[.,]\d+)?秒?)?"
_ZONE = r"(?P<zone>Z|[-+]\d{2}:?(?:\d{2})?)?"
_DATE = re.compile(_DAY)
_TIME = re.compile(rf"{_DAY}(?:[ T]\s*|(?<=[日号])){_CLOCK}\s*{_ZONE}", re.IGNORECASE)
_COMPACT = re.compile(r"(?P<year>(?:19|20)\d{2})(?P<month>\d{2})(?P<day>\d{2})")
_ORDINAL = r"(?:st|nd|rd|th)?"
_WORDED = re.compile(
    rf"(?P<day>\d{{1,2}}){_ORDINAL}(?:[ -]|\. )(?P<month>[a-z]{{3,9}})\.?,?[ -](?P<year>\d{{4}})"
    rf"|(?P<month_us>[a-z]{{3,9}})\.? (?P<day_us>\d{{1,2}}){_ORDINAL},? (?P<year_us>\d{{4}})",
    re.IGNORECASE,
)
_NAMES = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_MONTHS = {
    spelling: number for number, name in enumerate(_NAMES, start=1) for spelling in (name, name[:3])
} | {"sept": 9}


def is_day_shaped(text: str) -> bool:
    """Whether a text is written like a full day, even one that no calendar has."""
    plain = _plain(text)
    return _DATE.fullmatch(plain) is not None or _worded(plain) is not None


def is_time_shaped(text: str) -> bool:
    return _TIME.fullmatch(_plain(text)) is not None


def to_day(text: str) -> dt.date | None:
    """`2024-1-5`, `2024/01/05`, `2024.1.5`, `2024年1月5日`, `20240105`, `5 January 2024` or
    `Jan. 5, 2024`; None if it is no day of the calendar, or if day and month may be confused.
    """
    plain = _plain(text)
    match = _DATE.fullmatch(plain) or _COMPACT.fullmatch(plain)
    if match:
        return _day(match)
    worded = _worded(plain)
    return _calendar_day(*worded) if worded else None


def to_time(text: str, zone: dt.tzinfo) -> dt.datetime | None:
    """A day with a time; one without a zone is in `zone`, a day alone its beginning there."""
    match = _TIME.fullmatch(_plain(text))
    if match is None:
        day = to_day(text)
        return dt.datetime(day.year, day.month, day.day, tzinfo=zone) if day else None
    day = _day(match)
    if day is None:
        return None
    hour, minute, second = (int(match[part] or 0) for part in ("hour", "minute", "second"))
    try:
        time = dt.time(hour, minute, second, tzinfo=_zone(match["zone"], zone))
    except ValueError:
        return None
    return dt.datetime.combine(day, time)


def _plain(text: str) -> str:
    if text.isascii():
        return text.strip()
    return unicodedata.normalize("NFKC", text).strip()


def _day(match: re.Match[str]) -> dt.date | None:
    parts = match.groupdict()
    month = parts["month"] or parts.get("month_zh") or "0"
    day = parts["day"] or parts.get("day_zh") or "0"
    return _calendar_day(int(parts["year"]), int(month), int(day))


def _worded(text: str) -> tuple[int, int, int] | None:
    """Year, month and day of a date whose month is an English word, whole or three letters."""
    match = _WORDED.fullmatch(text)
    if match is None:
        return None
    word = (match["month"] or match["month_us"]).lower()
    month = _MONTHS.get(word)
    if month is None:
        return None
    day = int(match["day"] or match["day_us"])
    return int(match["year"] or match["year_us"]), month, day


def _calendar_day(year: int, month: int, day: int) -> dt.date | None:
    try:
        return dt.date(year, month, day)
    except ValueError:
        return None


def _zone(written: str | None, default: dt.tzinfo) -> dt.tzinfo:
    if not written:
        return default
    if written in "Zz":
        return dt.UTC
    digits = written[1:].replace(":", "").ljust(4, "0")
    offset = dt.timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return dt.timezone(-offset if written[0] == "-" else offset)
