"""Dates and periods in Chinese within a text."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator

from agent.planning import periods
from agent.planning.dated import Calendar, Dated
from agent.planning.numerals import COUNT_ZH, chinese, count
from agent.planning.periods import Period, Unit

_YEAR = r"(?P<year>(?:1[6-9]|20|21)\d\d|[一二][〇零一二三四五六七八九]{3})\s*年度?"
_REL_YEAR = r"(?P<rel>大前年|前年|去年|上一年|今年|本年度?|当年|明年|后年)"
_ANY_YEAR = rf"(?:{_YEAR}|{_REL_YEAR})\s*的?\s*"
_MONTH = r"(?P<month>1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])\s*月份?"
_DAY = (
    r"(?P<day>[12]\d|3[01]|0?[1-9]|二?十[一二三四五六七八九]?|三十一?|[一二三四五六七八九])"
    r"\s*[日号]"
)
_QUARTER = r"(?:第?\s*(?P<nth>[1-4一二三四])\s*季度?|Q(?P<q>[1-4])(?!\d))"
_HALF = r"(?P<half>上|下)半年"
_RELATIVE_YEARS = {
    "大前年": -3,
    "前年": -2,
    "去年": -1,
    "上一年": -1,
    "今年": 0,
    "本年": 0,
    "本年度": 0,
    "当年": 0,
    "明年": 1,
    "后年": 2,
}
_UNITS = {
    "天": Unit.DAY,
    "日": Unit.DAY,
    "周": Unit.WEEK,
    "星期": Unit.WEEK,
    "礼拜": Unit.WEEK,
    "月": Unit.MONTH,
    "季度": Unit.QUARTER,
    "年": Unit.YEAR,
}
_UNIT = r"(?P<unit>天|日|周|星期|礼拜|月|季度|年)"
_NEAR = {
    "大前天": -3,
    "前天": -2,
    "昨天": -1,
    "昨日": -1,
    "今天": 0,
    "今日": 0,
    "明天": 1,
    "后天": 2,
}
_SHIFT = {"上上": -2, "上": -1, "上个": -1, "上一个": -1, "本": 0, "这": 0, "这个": 0, "下": 1}
_SHIFT |= {"下个": 1, "下一个": 1, "下下": 2, "当": 0}

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
                )


def _year(m: re.Match[str], today: dt.date) -> int | None:
    if m["rel"]:
        return today.year + _RELATIVE_YEARS[m["rel"]]
    if not m["year"]:
        return None
    return int(m["year"]) if m["year"].isascii() else chinese(m["year"])


def _number(text: str) -> int:
    return count(text) or 0


def _day(m: re.Match[str], calendar: Calendar) -> Period | None:
    year = _year(m, calendar.today)
    return None if year is None else periods.day(year, _number(m["month"]), _number(m["day"]))


def _day_without_year(m: re.Match[str], calendar: Calendar) -> Period | None:
    month, number = _number(m["month"]), _number(m["day"])
    return _nearest(lambda year: periods.day(year, month, number), calendar)


def _month(m: re.Match[str], calendar: Calendar) -> Period | None:
    year = _year(m, calendar.today)
    return None if year is None else periods.month(year, _number(m["month"]))


def _month_without_year(m: re.Match[str], calendar: Calendar) -> Period | None:
    return _nearest(lambda year: periods.month(year, _number(m["month"])), calendar)


def _quarter(m: re.Match[str], calendar: Calendar) -> Period | None:
    year, number = _year(m, calendar.today), _number(m["nth"] or m["q"])
    return None if year is None else periods.quarter(year, number)


def _quarter_without_year(m: re.Match[str], calendar: Calendar) -> Period | None:
    number = _number(m["nth"] or m["q"])
    return _nearest(lambda year: periods.quarter(year, number), calendar)


def _half(m: re.Match[str], calendar: Calendar) -> Period | None:
    year = _year(m, calendar.today)
    return None if year is None else periods.half(year, 1 if m["half"] == "上" else 2)


def _half_without_year(m: re.Match[str], calendar: Calendar) -> Period | None:
    return _nearest(lambda year: periods.half(year, 1 if m["half"] == "上" else 2), calendar)


def _whole_year(m: re.Match[str], calendar: Calendar) -> Period | None:
    year = _year(m, calendar.today)
    return None if year is None else periods.years(year)


def _fiscal_year(m: re.Match[str], calendar: Calendar) -> Period | None:
    if m["year"]:
        return periods.years(int(m["year"]), 1, calendar.fiscal_start)
    return periods.fiscal_year(calendar.today, _SHIFT[m["shift"]], calendar.fiscal_start)


def _decade(m: re.Match[str], _: Calendar) -> Period | None:
    tens = _number(m["tens"]) if m["tens"].isascii() else chinese(m["tens"][0] + "十")
    if tens is None:
        return None
    century = (int(m["century"]) - 1) * 100 if m["century"] else 2000 if tens < 30 else 1900
    return periods.years(century + tens % 100, 10)


def _nearest(make: Callable[[int], Period | None], calendar: Calendar) -> Period | None:
    this_year = make(calendar.today.year)
    if this_year is not None and this_year.start <= calendar.today:
        return this_year
    return make(calendar.today.year - 1)


def _rolling(m: re.Match[str], calendar: Calendar) -> Period | None:
    if m["count"] == "半":
        return periods.window(calendar.today, Unit.MONTH, 6) if m["unit"] == "年" else None
    number = count(m["count"])
    if number is None:
        return None
    ahead = m["side"] in ("未来", "接下来", "今后")
    return periods.window(calendar.today, _UNITS[m["unit"]], number, ahead)


def _named(m: re.Match[str], calendar: Calendar) -> Period | None:
    return periods.containing(calendar.today, _UNITS[m["unit"]], _SHIFT[m["shift"]])


def _weekday(m: re.Match[str], calendar: Calendar) -> Period | None:
    number = "一二三四五六日天".index(m["weekday"]) % 7 if m["weekday"] != "天" else 6
    monday = calendar.today - dt.timedelta(days=calendar.today.weekday())
    shift = _SHIFT.get(m["shift"] or "本", 0)
    return periods.containing(monday + dt.timedelta(days=number + 7 * shift), Unit.DAY)


def _ago(m: re.Match[str], calendar: Calendar) -> Period | None:
    number = count(m["count"])
    if number is None:
        return None
    return periods.containing(calendar.today, _UNITS[m["unit"]], -number)


def _near_day(m: re.Match[str], calendar: Calendar) -> Period | None:
    return periods.containing(calendar.today, Unit.DAY, _NEAR[m.group()])


def _rule(pattern: str, make: Make, *traits: str) -> tuple[re.Pattern[str], Make, tuple[str, ...]]:
    return re.compile(r"(?<![\d.])" + pattern, re.IGNORECASE), make, traits


_RULES = (
    _rule(_ANY_YEAR + _MONTH + _DAY, _day),
    _rule(_MONTH + _DAY, _day_without_year, "guessed"),
    _rule(_ANY_YEAR + _MONTH, _month),
    _rule(_MONTH + r"(?![日号\d])", _month_without_year, "guessed"),
    _rule(_ANY_YEAR + _QUARTER, _quarter),
    _rule(r"第?\s*(?P<nth>[一二三四])\s*季度(?P<q>)", _quarter_without_year, "guessed"),
    _rule(_ANY_YEAR + _HALF, _half),
    _rule(_HALF, _half_without_year, "guessed"),
    _rule(rf"(?:{_YEAR}(?P<rel>))(?!\s*[代级])", _whole_year, "year"),
    _rule(rf"{_REL_YEAR}(?P<year>)", _whole_year),
    _rule(
        r"(?:(?P<year>(?:19|20)\d\d)\s*年?|(?P<shift>上一个|上个|上|本|这个|下一个|下个|下))\s*"
        r"(?:财年|财政年度?|会计年度)",
        _fiscal_year,
    ),
    _rule(
        r"(?:(?P<century>\d\d)\s*世纪)?\s*(?P<tens>[1-9]0|[一二三四五六七八九]十)\s*年代", _decade
    ),
    _rule(
        rf"(?P<side>最近|近|过去|过往|未来|接下来|今后)的?\s*(?P<count>{COUNT_ZH})\s*个?\s*{_UNIT}(?:内|里|来|间|之内)?",
        _rolling,
        "rolling",
    ),
    _rule(
        r"(?P<shift>上上|上一个|上个|上|本|这个|这|下一个|下个|下下|下|当)(?P<unit>周|星期|礼拜|月|季度)(?![一二三四五六日天])",
        _named,
    ),
    _rule(
        r"(?P<shift>上上|上个|上|本|这个|这|下个|下下|下)?(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天])",
        _weekday,
    ),
    _rule(
        rf"(?!\d{{3,}}\s*年)(?P<count>{COUNT_ZH})\s*个?\s*{_UNIT}(?:之前|以前|前)(?![\u4e00-\u9fff]?的?时)",
        _ago,
    ),
    _rule("大?前天|昨[天日]|今[天日]|明天|后天", _near_day),
)
