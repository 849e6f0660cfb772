from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from schemas.collection import Column, ColumnKind, Encoding, Field, FieldType
from schemas.errors import FilterError
from schemas.periods import (
    LAST_DAY,
    Period,
    day_number,
    iso_day,
    iso_time,
    parse_moment,
    parse_period,
)
from schemas.values import as_bool, as_float32, as_number, as_text, read_row


def day(text: str) -> int:
    return day_number(dt.date.fromisoformat(text))


PERIODS = [
    ("2024-02-29", "2024-02-29", "2024-03-01"),
    ("2024", "2024-01-01", "2025-01-01"),
    ("2024-05", "2024-05-01", "2024-06-01"),
    ("2024-12", "2024-12-01", "2025-01-01"),
    ("2024-Q3", "2024-07-01", "2024-10-01"),
    ("2024q4", "2024-10-01", "2025-01-01"),
    ("2024-W05", "2024-01-29", "2024-02-05"),
    ("2024W01", "2024-01-01", "2024-01-08"),
    ("2020-W53", "2020-12-28", "2021-01-04"),
    ("0001", "0001-01-01", "0002-01-01"),
]


@pytest.mark.parametrize(("text", "start", "end"), PERIODS)
def test_period_is_half_open(text: str, start: str, end: str) -> None:
    assert parse_period(text) == Period(day(start), day(end))


def test_the_calendar_ends_in_9999() -> None:
    assert parse_period("9999-12-31") == Period(LAST_DAY, LAST_DAY + 1)
    assert parse_period("9999").end == parse_period("9999-Q4").end == LAST_DAY + 1


@pytest.mark.parametrize(
    "text",
    ["2024-02-30", "2023-02-29", "2024-13", "2024-00", "2024-Q5", "2024-W54", "2021-W53", "0000",
     "2024-1-9", "24-01-01", "01/02/2024", "20240101", "yesterday", "", "2024-05-01x", "2024-05-"],
)  # fmt: skip
def test_impossible_date_is_an_error(text: str) -> None:
    with pytest.raises(FilterError, match="is not a date"):
        parse_period(text)


MOMENTS = [
    ("2024-05-01T10:00:00Z", "2024-05-01T10:00:00Z"),
    ("2024-05-01t10:00z", "2024-05-01T10:00:00Z"),
    ("2024-05-01 12:30:00+02:00", "2024-05-01T10:30:00Z"),
    ("2024-05-01T23:00:00-05:00", "2024-05-02T04:00:00Z"),
    ("1969-12-31T23:59:59.5Z", "1969-12-31T23:59:59.500Z"),
    ("2024-05-01T10:00:00,25Z", "2024-05-01T10:00:00.250Z"),
]


@pytest.mark.parametrize(("text", "utc"), MOMENTS)
def test_moment_is_the_same_in_utc(text: str, utc: str) -> None:
    moment = parse_moment(text)
    assert moment is not None
    assert moment.exact
    assert iso_time(moment.ms) == utc


def test_what_lies_below_a_millisecond_is_noticed() -> None:
    moment = parse_moment("1969-12-31T23:59:59.9995Z")
    assert moment is not None
    assert (moment.ms, moment.exact) == (-1, False)


@pytest.mark.parametrize("text", ["2024-05-01", "10:00", "2024", "2024-05-01T", "now"])
def test_other_texts_are_no_moments(text: str) -> None:
    assert parse_moment(text) is None


@pytest.mark.parametrize(
    ("text", "why"),
    [("2024-05-01T10:00:00", "without a zone"), ("2024-05-01T10:00 CET", "without a zone"),
     ("2024-05-01T25:00:00Z", "is not a time"), ("2024-02-30T10:00:00Z", "is not a time"),
     ("9999-12-31T23:00:00-05:00", "is not a time"),
     ("0001-01-01T00:00:00+14:00", "is not a time")],
)  # fmt: skip
def test_times_need_a_zone_and_a_clock(text: str, why: str) -> None:
    with pytest.raises(FilterError, match=why):
        parse_moment(text)


@settings(deadline=None)
@given(st.dates())
def test_days_round_trip(value: dt.date) -> None:
    assert iso_day(day_number(value)) == value.isoformat()
    assert parse_period(value.isoformat()).start == day_number(value)


@settings(deadline=None)
@given(st.integers(-(10**12), 10**13))
def test_times_round_trip(ms: int) -> None:
    moment = parse_moment(iso_time(ms))
    assert moment is not None
    assert moment.ms == ms


@pytest.mark.parametrize(
    ("value", "number"),
    [(3, 3), ("2023", 2023), (" ２０２３ ", 2023), ("-7", -7), ("2.5", 2.5), (2.0, 2),
     ("1e3", 1000),
     (".5", 0.5), ("001", 1), (-(2**63), -(2**63)), (1e30, 1e30)],
)  # fmt: skip
def test_numbers(value: object, number: float) -> None:
    assert as_number(value) == number
    assert type(as_number(value)) is type(number)


@pytest.mark.parametrize(
    "value", [True, "true", "", "1,000", "0x10", "1_000", "nan", "inf", "two", None, [1], "1 2"]
)
def test_other_things_are_no_numbers(value: object) -> None:
    with pytest.raises(FilterError, match="is not a"):
        as_number(value)


def test_numbers_stay_within_64_bits() -> None:
    for value in (2**63, str(2**63), "9" * 30):
        with pytest.raises(FilterError, match="outside 64 bits"):
            as_number(value)


@pytest.mark.parametrize(
    ("value", "meant"),
    [(True, True), ("True", True), (" YES ", True), ("是", True), ("off", False), ("No", False),
     ("否", False), (False, False)],
)  # fmt: skip
def test_booleans(value: object, meant: bool) -> None:
    assert as_bool(value) is meant


@pytest.mark.parametrize("value", [0, 1, 1.0, "1", "0", "maybe", "", None])
def test_numbers_are_no_booleans(value: object) -> None:
    with pytest.raises(FilterError, match="is not a boolean"):
        as_bool(value)


def test_texts() -> None:
    assert [as_text(v) for v in ("001", 1, True, 2.5)] == ["001", "1", "true", "2.5"]
    with pytest.raises(FilterError):
        as_text(None)


def test_single_precision() -> None:
    assert as_float32(0.5) == 0.5
    assert as_float32(0.1) != 0.1
    assert as_float32(1e39) is None


F = FieldType
ROWS: list[tuple[FieldType, JsonValue, tuple[object, ...]]] = [
    (F.STRING, "  ACME Ltd ", ("acme ltd",)),
    (F.STRING, 2023, ("2023",)),
    (F.STRING, "", ()),
    (F.STRING, " \u3000", ()),
    (F.STRING, None, ()),
    (F.STRING, ["a"], ()),
    (F.STRING, {"a": 1}, ()),
    (F.INT, "2023", (2023,)),
    (F.INT, 2.0, (2,)),
    (F.INT, 2.5, ()),
    (F.INT, True, ()),
    (F.INT, "n/a", ()),
    (F.NUMBER, 1, (1.0,)),
    (F.BOOL, "yes", (True,)),
    (F.BOOL, 1, ()),
    (F.DATE, "1970-01-02", (1,)),
    (F.DATE, "1970-01-02T23:00:00-05:00", (1,)),
    (F.DATE, "1970", ()),
    (F.DATE, "unknown", ()),
    (F.DATE, 1970, ()),
    (F.DATETIME, "1970-01-01T00:00:01Z", (1000,)),
    (F.DATETIME, "1970-01-02", (86_400_000,)),
    (F.DATETIME, "1970-01-01T00:00:01", ()),
    (F.STRING_LIST, ["A", "", None, " b "], ("a", "b")),
    (F.STRING_LIST, "solo", ("solo",)),
    (F.STRING_LIST, [], ()),
    (F.STRING_LIST, [""], ()),
    (F.INT_LIST, [1, "2", 2.5, True], (1, 2)),
]


@pytest.mark.parametrize(("type_", "value", "keys"), ROWS)
def test_row_is_read_as_its_type(
    type_: FieldType, value: JsonValue, keys: tuple[object, ...]
) -> None:
    assert read_row(value, Field(name="x", type=type_)) == keys


def test_exact_reading_keeps_the_letters() -> None:
    field = Field(name="x", type=F.STRING)
    assert read_row(" ACME ", field, exact=True) == (" ACME ",)
    assert read_row("  ", field, exact=True) == ()


STORED = [
    (Encoding.EPOCH_S, 86_400, 1),
    (Encoding.EPOCH_S, -1, -1),
    (Encoding.EPOCH_MS, 86_400_000, 1),
    (Encoding.YYYYMMDD, 19700102, 1),
    (Encoding.YYYYMMDD, 19700230, None),
    (Encoding.YEAR, 1971, 365),
    (Encoding.EPOCH_S, 10**15, 11_574_074_074),
    (Encoding.YYYYMMDD, 10**12, None),
    (Encoding.YEAR, 12345, None),
]


@pytest.mark.parametrize(("encoding", "value", "key"), STORED)
def test_dates_are_read_as_their_column_holds_them(
    encoding: Encoding, value: int, key: int | None
) -> None:
    column = Column(name="c", kind=ColumnKind.INT, encoding=encoding)
    field = Field(name="x", type=F.DATE, column=column)
    assert read_row(value, field) == (() if key is None else (key,))


IN_JSON = [
    (FieldType.STRING, ("a", "1"), (1, 2.5, True, ["a"], {"a": 1}, None, "", "  ")),
    (FieldType.INT, (1, -1, 2.0), ("1", True, 2.5, [1], None, 10**30)),
    (FieldType.NUMBER, (1, 2.5), ("2.5", False, [1.0], None)),
    (FieldType.BOOL, (True, False), (1, 0, "true", None)),
    (FieldType.DATE, ("2024-01-31",), (True, "soon", "2024-02-30", None)),
]


@pytest.mark.parametrize(("type_", "read", "missing"), IN_JSON)
def test_json_is_read_by_type(
    type_: FieldType, read: tuple[JsonValue, ...], missing: tuple[JsonValue, ...]
) -> None:
    field = Field(name="x", type=type_, column=Column(name="j", kind=ColumnKind.JSON, path=("x",)))
    assert all(read_row(value, field) for value in read)
    assert not any(read_row(value, field) for value in missing)


TEXT_DATES = [
    (Encoding.ISO_DAY, "2024-01-31", True),
    (Encoding.ISO_DAY, " 2024-01-31", False),
    (Encoding.ISO_DAY, "2024-01-31T10:00:00Z", False),
    (Encoding.ISO_DAY, "２０２４-01-31", False),
    (Encoding.ISO_TIME, "2024-01-31T10:00:00Z", True),
    (Encoding.ISO_TIME, "2024-01-31", True),
    (Encoding.ISO_TIME, "2024-01-31T10:00:00Z ", False),
]


@pytest.mark.parametrize(("encoding", "text", "is_read"), TEXT_DATES)
def test_dates_in_text_columns_have_one_form(encoding: Encoding, text: str, is_read: bool) -> None:
    column = Column(name="c", kind=ColumnKind.VARCHAR, encoding=encoding)
    field = Field(name="x", type=FieldType.DATE, column=column)
    assert bool(read_row(text, field)) is is_read
