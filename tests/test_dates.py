"""Dates and periods in questions."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.planning.cues import Direction
from agent.planning.dated import Calendar, Dated
from agent.planning.dates import find_dates

CALENDAR = Calendar(dt.date(2026, 3, 15))


def one(text: str, calendar: Calendar = CALENDAR) -> Dated:
    found = find_dates(text, calendar)
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("papers of 2024", "2024-01-01", "2025-01-01"),
        ("Q3 2024", "2024-07-01", "2024-10-01"),
        ("2024Q1", "2024-01-01", "2024-04-01"),
        ("the second quarter of last year", "2025-04-01", "2025-07-01"),
        ("2024-05", "2024-05-01", "2024-06-01"),
        ("May 2024", "2024-05-01", "2024-06-01"),
        ("2024/02/29", "2024-02-29", "2024-03-01"),
        ("March 5th, 2019", "2019-03-05", "2019-03-06"),
        ("the 3rd of April 2020", "2020-04-03", "2020-04-04"),
        ("the first half of 2014", "2014-01-01", "2014-07-01"),
        ("H2 2023", "2023-07-01", "2024-01-01"),
        ("the 1980s", "1980-01-01", "1990-01-01"),
        ("last year", "2025-01-01", "2026-01-01"),
        ("this month", "2026-03-01", "2026-04-01"),
        ("last week", "2026-03-02", "2026-03-09"),
        ("next Friday", "2026-03-20", "2026-03-21"),
        ("yesterday", "2026-03-14", "2026-03-15"),
        ("three days ago", "2026-03-12", "2026-03-13"),
        ("two years ago", "2024-01-01", "2025-01-01"),
        ("in the past five years", "2021-03-15", "2026-03-16"),
        ("over the last twelve months", "2025-03-15", "2026-03-16"),
        ("in March", "2026-03-01", "2026-04-01"),
        ("in April", "2025-04-01", "2025-05-01"),
        ("from August to October 2008", "2008-08-01", "2008-11-01"),
        ("between 1/1/2000 and 12/31/2005", "2000-01-01", "2006-01-01"),
        ("2019-2021", "2019-01-01", "2022-01-01"),
        ("2024年3月15日", "2024-03-15", "2024-03-16"),
        ("二〇二四年", "2024-01-01", "2025-01-01"),
        ("2023年第三季度", "2023-07-01", "2023-10-01"),
        ("去年上半年", "2025-01-01", "2025-07-01"),
        ("上半年", "2026-01-01", "2026-07-01"),
        ("去年", "2025-01-01", "2026-01-01"),
        ("上个月", "2026-02-01", "2026-03-01"),
        ("三天前", "2026-03-12", "2026-03-13"),
        ("最近两年", "2024-03-15", "2026-03-16"),
        ("近半年", "2025-09-15", "2026-03-16"),
        ("下周六", "2026-03-21", "2026-03-22"),
        ("20世纪90年代", "1990-01-01", "2000-01-01"),
        ("2022到2024年间", "2022-01-01", "2025-01-01"),
        ("从2019年5月至2020年1月", "2019-05-01", "2020-02-01"),
        ("本财年", "2026-01-01", "2027-01-01"),
        ("2024财年", "2024-01-01", "2025-01-01"),
        ("the last fiscal year", "2025-01-01", "2026-01-01"),
        ("financial year 2024", "2024-01-01", "2025-01-01"),
    ],
)
def test_a_period_is_half_open(text: str, start: str, end: str) -> None:
    period = one(text).period
    assert (period.start.isoformat(), period.end.isoformat()) == (start, end)


@pytest.mark.parametrize(
    ("text", "direction"),
    [
        ("since 2020", Direction.SINCE),
        ("no earlier than 2020", Direction.SINCE),
        ("2020 or later", Direction.SINCE),
        ("from 2020 onwards", Direction.SINCE),
        ("before 2020", Direction.BEFORE),
        ("pre-2020", Direction.BEFORE),
        ("older than 2020", Direction.BEFORE),
        ("after 2020-03-01", Direction.AFTER),
        ("up to and including 2020", Direction.UNTIL),
        ("by the end of 2020", Direction.UNTIL),
        ("before the end of 2020", Direction.UNTIL),
        ("2020年以来", Direction.SINCE),
        ("自2020年起", Direction.SINCE),
        ("不早于2020年", Direction.SINCE),
        ("2020年以前", Direction.BEFORE),
        ("早于2020年", Direction.BEFORE),
        ("2020年3月1日之后", Direction.AFTER),
        ("截至2020年6月30日", Direction.UNTIL),
        ("2020年及更早", Direction.UNTIL),
        ("2020年底之前", Direction.UNTIL),
        ("in 2020", None),
        ("reports from 2020", None),
        ("2020年发布的", None),
    ],
)
def test_words_beside_a_period_give_its_direction(text: str, direction: Direction | None) -> None:
    assert one(text).direction is direction


@pytest.mark.parametrize(
    "text",
    ["Python 3.12", "10_000_000", "manylinux2010", "may I ask", "2024-13-40", "5%", "第三章"],
)
def test_what_is_no_date_is_left_alone(text: str) -> None:
    assert find_dates(text, CALENDAR) == ()


def test_an_ambiguous_date_is_noted_unless_the_order_is_known() -> None:
    american = one("03/04/2025")
    assert american.period.start == dt.date(2025, 3, 4)
    assert "month/day/year" in american.note
    european = one("03/04/2025", Calendar(CALENDAR.today, day_first=True))
    assert (european.period.start, european.note) == (dt.date(2025, 4, 3), "")
    assert one("23/04/2025").note == ""


def test_a_fiscal_year_is_named_after_its_end() -> None:
    period = one("FY2024", Calendar(CALENDAR.today, fiscal_start=10)).period
    assert (period.start, period.end) == (dt.date(2023, 10, 1), dt.date(2024, 10, 1))


@pytest.mark.parametrize(
    ("text", "today", "year"),
    [
        ("this fiscal year", dt.date(2026, 3, 15), 2025),
        ("this fiscal year", dt.date(2026, 10, 1), 2026),
        ("上财年", dt.date(2026, 9, 30), 2024),
        ("本财年", dt.date(2026, 12, 31), 2026),
    ],
)
def test_a_fiscal_year_counts_from_today(text: str, today: dt.date, year: int) -> None:
    period = one(text, Calendar(today, fiscal_start=10)).period
    assert (period.start, period.end) == (dt.date(year, 10, 1), dt.date(year + 1, 10, 1))


def test_several_years_stay_several() -> None:
    found = find_dates("2021, 2022 and 2023", CALENDAR)
    assert [dated.words for dated in found] == ["2021", "2022", "2023"]


@settings(deadline=None)
@given(st.dates(min_value=dt.date(1700, 1, 1), max_value=dt.date(2190, 1, 1)))
def test_every_day_is_found_in_either_language(day: dt.date) -> None:
    chinese = f"{day.year}年{day.month}月{day.day}日发布"
    english = f"published on {day.day} {day:%B} {day.year}"
    for text in (f"on {day.isoformat()}?", chinese, english):
        period = one(text).period
        assert (period.start, period.end) == (day, day + dt.timedelta(days=1))


@settings(deadline=None)
@given(st.text(max_size=60), st.dates(dt.date(1900, 1, 1), dt.date(2100, 1, 1)))
def test_any_text_is_read_without_failing(text: str, today: dt.date) -> None:
    for dated in find_dates(text, Calendar(today)):
        assert dated.period.start < dated.period.end
        assert text[dated.start : dated.end] == dated.words
