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


def is_day_shaped(text: str) -> bool:
    """Whether a text is written like a full day, even one that no calendar has."""
    return _DATE.fullmatch(_plain(text)) is not None


def is_time_shaped(text: str) -> bool:
    return _TIME.fullmatch(_plain(text)) is not None


def to_day(text: str) -> dt.date | None:
    """`2024-1-5`, `2024/01/05`, `2024.1.5`, `2024年1月5日` or `20240105`; None if it is no day
    of the calendar.
    """
    match = _DATE.fullmatch(_plain(text)) or _COMPACT.fullmatch(_plain(text))
    return _day(match) if match else None


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
    return unicodedata.normalize("NFKC", text).strip()


def _day(match: re.Match[str]) -> dt.date | None:
    parts = match.groupdict()
    month = parts["month"] or parts.get("month_zh") or "0"
    day = parts["day"] or parts.get("day_zh") or "0"
    try:
        return dt.date(int(parts["year"]), int(month), int(day))
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
