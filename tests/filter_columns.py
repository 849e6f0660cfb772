"""Fields in columns as others make them, with values as they stand there, also stray ones."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import JsonValue

from schemas.collection import Column, ColumnKind, Encoding, Field, FieldType
from schemas.folding import fold
from schemas.values import as_float32
from tests.hostile import hostile
from tests.strategies import (
    COMPLETE,
    DAYS,
    FLOATS,
    INTS,
    SINGLES,
    TIMES,
    Made,
    bools,
    dates,
    int_lists,
    letterwise,
    numbers,
    own_fields,
    row_of,
    string_lists,
    strings,
)

F, K, E = FieldType, ColumnKind, Encoding
Row = Mapping[str, JsonValue]

YMD = (20231231, 20240101, 20240131, 20240229, 20240515, 20241231, 10101, 99991231, 19691231)
YEARS = (1999, 2023, 2024, 2025, 1, 9999)
MS = (1704067200000, 1704067199999, 1704096000250, 0, -1, 86_400_000, 1715731200000, 10**17)
SECONDS = (1704067200, 1704067199, 0, -1, 1715731200, 1715817599, 10**15)
TIME_TEXTS = (
    *TIMES,
    "2024-01-01 12:00:00Z",
    "2024-01-01T23:30:00-23:00",
    "2024-05-15t08:30:00z",
    "2024-05-15T08:30Z",
    "2024-01-01",
    "0001-01-01T00:00:00+14:00",
)

BLANK_TEXTS: tuple[JsonValue, ...] = ("  ", "\t\n", "\u3000", "\u2003", "\x1f", "\xa0")
STRAY_DATES: tuple[JsonValue, ...] = (
    "unknown", "2024-1-9", "2024-02-30", " 2024-01-01", "2024-01-01 ", "2024", "２０２４-01-01",
    "2024年1月11日", "31/12/2024", "zzz", "!", "2024-01-01T08:30:00", "x" * 10,
)  # fmt: skip
STRAY_YMD: tuple[JsonValue, ...] = (0, -1, 20240230, 2024, 99999999, 10**12)
STRAY_YEARS: tuple[JsonValue, ...] = (0, -44, 12345, 10**12)
ANYTHING: tuple[JsonValue, ...] = (
    True, False, 0, 1, -1, 2.5, 1.0, 2**53 + 1, 1e308, "", "  ", "1", "2.5", "true", "unknown",
    'say "no"', "2023", [], ["a"], [1, "a"], [None], {}, {"a": 1}, None,
)  # fmt: skip
"""What may stand in JSON beside the values of a field's type. It holds no dates as text: where
numbers are dates, the rows that people see hold ISO dates in their place.
"""


def foreign_fields(rng: random.Random) -> tuple[Made, ...]:
    """Columns of one type each: unfolded strings, dates as text or numbers, arrays."""
    blank = rng.sample(BLANK_TEXTS, 2)
    title = strings("title", rng, Column(name="title", kind=K.VARCHAR))
    dept = strings("dept", rng, Column(name="dept", kind=K.VARCHAR, nullable=False))
    labels = string_lists("labels", rng, Column(name="labels", kind=K.ARRAY))
    singles = tuple(as_float32(number) for number in SINGLES)
    return (
        _with(_known(title), *blank),
        _with(_known(dept), *blank),
        letterwise("plain", rng, Column(name="plain", kind=K.VARCHAR)),
        _with(_known(labels), list(blank), [blank[0], labels.rows[0][0]]),  # type: ignore[index]  # lists
        int_lists("codes", rng, Column(name="codes", kind=K.ARRAY)),
        replace(numbers("single", F.NUMBER, _column("single", K.FLOAT), SINGLES), rows=singles),
        numbers("rank", F.NUMBER, _column("rank", K.INT), INTS),
        dates("iso_day", F.DATE, _column("iso_day", K.VARCHAR, E.ISO_DAY), (*DAYS, *STRAY_DATES)),
        dates("ymd", F.DATE, _column("ymd", K.INT, E.YYYYMMDD), (*YMD, *STRAY_YMD)),
        dates("year", F.DATE, _column("year", K.INT, E.YEAR), (*YEARS, *STRAY_YEARS)),
        dates("ms_day", F.DATE, _column("ms_day", K.INT, E.EPOCH_MS), MS),
        dates("s_day", F.DATE, _column("s_day", K.INT, E.EPOCH_S), SECONDS),
        dates("s_time", F.DATETIME, _column("s_time", K.INT, E.EPOCH_S), SECONDS),
        dates("day_t", F.DATETIME, _column("day_t", K.VARCHAR, E.ISO_DAY), (*DAYS, *STRAY_DATES)),
        dates("text_d", F.DATE, _column("text_d", K.VARCHAR, E.ISO_TIME), TIME_TEXTS),
        dates(
            "text_t", F.DATETIME, _column("text_t", K.VARCHAR, E.ISO_TIME),
            (*TIME_TEXTS, *STRAY_DATES),
        ),
    )  # fmt: skip


def dynamic_fields(rng: random.Random) -> tuple[Made, ...]:
    """Paths into a JSON column and dynamic fields, under odd names and over mixed values."""
    title = strings("title", rng, _path("doc", "a", 'q"k'))
    odd = strings("odd", rng, _path("doc", f"odd {hostile(rng)}"))
    loose = letterwise("Pick #", rng, _path("$meta", "Pick #"))
    made = (
        _known(title),
        _known(odd),
        loose,
        numbers("n", F.INT, _path("doc", "n"), INTS),
        numbers("score", F.NUMBER, _path("$meta", f"$score {hostile(rng)}"), FLOATS),
        bools("open", _path("doc", "中文 key")),
        dates("day", F.DATE, _path("doc", "day", encoding=E.ISO_DAY), (*DAYS, *STRAY_DATES)),
        dates("time", F.DATETIME, _path("doc", "time", encoding=E.ISO_TIME), TIME_TEXTS),
        dates("t", F.DATETIME, _path("doc", "t", encoding=E.EPOCH_MS), MS),
        string_lists("labels", rng, _path("doc", "labels")),
        int_lists("codes", rng, _path("doc", "a", "codes")),
    )
    mixed = rng.random() < 0.7
    return (
        *(_with(each, *rng.sample(ANYTHING, 8)) if mixed else each for each in made),
        numbers("plain_int", F.INT, _column("plain_int", K.INT), INTS),
        strings("own", rng, _column("own", K.VARCHAR, E.FOLDED)),
    )


KINDS = {"own": own_fields, "foreign": foreign_fields, "dynamic": dynamic_fields}


def _column(name: str, kind: ColumnKind, encoding: Encoding = E.EXACT) -> Column:
    return Column(name=name, kind=kind, encoding=encoding)


def _path(name: str, *path: str, encoding: Encoding = E.EXACT) -> Column:
    return Column(name=name, kind=K.JSON, path=path, encoding=encoding)


def _known(made: Made) -> Made:
    """With all values that occur in the collection known, as a profile would have them."""
    listed: list[Any] = [v for row in made.rows for v in (row if isinstance(row, list) else [row])]
    update = {"values": tuple(dict.fromkeys(listed)), "profile": COMPLETE}
    return replace(made, field=made.field.model_copy(update=update))


def _with(made: Made, *strays: JsonValue) -> Made:
    """Texts that a complete profile lacks would have to be found in it."""
    if made.field.values:
        strays = tuple(stray for stray in strays if not _is_unknown(stray, made.field))
    return replace(made, rows=(*made.rows, *strays))


def _is_unknown(stray: JsonValue, field: Field) -> bool:
    items = stray if isinstance(stray, list) else [stray]
    return any(isinstance(i, str) and fold(i) and i not in field.values for i in items)


def rows_of(rng: random.Random, made: tuple[Made, ...], count: int) -> list[Row]:
    """Foreign rows hold what stands in the columns."""
    return [row_of(rng, made) for _ in range(count)]
