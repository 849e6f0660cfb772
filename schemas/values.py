"""Values brought to the type of their field, both those of filters and those of rows."""

from __future__ import annotations

import datetime as dt
import math
import re
import struct
from collections.abc import Iterable, Mapping
from typing import assert_never

from pydantic import JsonValue

from schemas.bounds import INT64_MAX, INT64_MIN, Element
from schemas.collection import ColumnKind, Encoding, Field, FieldType
from schemas.errors import FilterError
from schemas.folding import fold
from schemas.periods import MS_PER_DAY, day_number, parse_moment, parse_period

_INTEGER = re.compile(r"[+-]?\d+")
_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")

_WORDS: Mapping[str, bool] = {
    **dict.fromkeys(("true", "yes", "y", "t", "on", "是", "真", "有"), True),
    **dict.fromkeys(("false", "no", "n", "f", "off", "否", "假", "无"), False),
}


def as_bool(value: object) -> bool:
    """True, false or one of the obvious words; numbers are none. Raises FilterError."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and (found := _WORDS.get(fold(value))) is not None:
        return found
    raise FilterError(f"{value!r} is not a boolean; allowed: true, false")


def as_number(value: object) -> int | float:
    """An int where the value is whole and within 64 bits, else a float. Raises FilterError."""
    if isinstance(value, bool):
        raise FilterError(f"{value!r} is not a number")
    if isinstance(value, int | float):
        number: int | float = value
    elif isinstance(value, str):
        number = _number_of(value)
    else:
        raise FilterError(f"{value!r} is not a number")
    if isinstance(number, float):
        if not math.isfinite(number):
            raise FilterError(f"{value!r} is not a finite number")
        return int(number) if number.is_integer() and abs(number) < 2**63 else number
    if not INT64_MIN <= number <= INT64_MAX:
        raise FilterError(f"{value!r} is outside 64 bits ({INT64_MIN} to {INT64_MAX})")
    return number


def _number_of(text: str) -> int | float:
    folded = fold(text)
    if _INTEGER.fullmatch(folded) and len(folded) <= 40:
        return int(folded)
    if _DECIMAL.fullmatch(folded):
        return float(folded)
    raise FilterError(f"{text!r} is not a number")


def as_text(value: object) -> str:
    """A string as written; numbers and booleans as people write them. Raises FilterError."""
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
        case _:
            raise FilterError(f"{value!r} is not a string")


def as_float32(number: float) -> float | None:
    """The nearest single-precision number as a double; None beyond its range."""
    try:
        rounded: float = struct.unpack("f", struct.pack("f", number))[0]
    except OverflowError:
        return None
    return rounded if math.isfinite(rounded) else None


def domain(field: Field) -> FieldType:
    """The type that a field's elements are compared in: what its column can hold, where an int
    field stands in a column of floats, or a number field in one of ints.
    """
    element = field.type.element
    if field.column is None or field.type.is_list:
        return element
    match element, field.column.kind:
        case FieldType.INT, ColumnKind.FLOAT | ColumnKind.DOUBLE:
            return FieldType.NUMBER
        case FieldType.NUMBER, ColumnKind.INT:
            return FieldType.INT
        case _:
            return element


Key = str | int | float | bool
"""What a row's value is compared by: folded or exact text, number, boolean, day or ms."""


def bound_keys(items: Iterable[Element], field: Field, *, exact: bool = False) -> list[Key]:
    """The keys of a bound filter's values, which are in the field's type already."""
    match domain(field):
        case FieldType.STRING:
            return [str(item) if exact else fold(str(item)) for item in items]
        case FieldType.NUMBER:
            return [float(item) for item in items]
        case FieldType.DATE:
            return [day_number(dt.date.fromisoformat(str(item))) for item in items]
        case FieldType.DATETIME:
            moments = (parse_moment(str(item)) for item in items)
            return [moment.ms for moment in moments if moment is not None]
        case _:
            return list(items)


def read_row(value: JsonValue, field: Field, *, exact: bool = False) -> tuple[Key, ...]:
    """The comparable elements of a row's value; empty where it is missing.

    A value that cannot be read as the field's type is missing too; from a JSON path only values
    of that very type are read, as the engines do. Days become day numbers, times milliseconds;
    strings are folded unless `exact`.
    """
    if isinstance(value, list) and not field.type.is_list:
        return ()
    items = value if isinstance(value, list) else [value]
    keys = (_read(item, field, exact=exact) for item in items)
    return tuple(key for key in keys if key is not None)


def _read(value: JsonValue, field: Field, *, exact: bool) -> Key | None:
    if value is None or isinstance(value, dict | list) or not _is_typed(value, field):
        return None
    try:
        return _key(value, field, exact=exact)
    except FilterError:
        return None


def _is_typed(value: str | int | float | bool, field: Field) -> bool:
    """Columns hold values of one type, JSON paths of any. Dates may have become text."""
    if field.column is None or field.column.kind is not ColumnKind.JSON:
        return True
    match field.type.element:
        case FieldType.STRING:
            return isinstance(value, str)
        case FieldType.BOOL:
            return isinstance(value, bool)
        case FieldType.INT | FieldType.NUMBER:
            return not isinstance(value, str | bool)
        case _:
            return not isinstance(value, bool)


def _key(value: str | int | float | bool, field: Field, *, exact: bool) -> Key | None:
    match domain(field):
        case FieldType.STRING:
            text = as_text(value)
            folded = fold(text)
            return (text if exact else folded) if folded else None
        case FieldType.BOOL:
            return as_bool(value)
        case FieldType.INT:
            number = as_number(value)
            return number if isinstance(number, int) else None
        case FieldType.NUMBER:
            number = float(as_number(value))
            single = field.column is not None and field.column.kind is ColumnKind.FLOAT
            return as_float32(number) if single else number
        case FieldType.DATE:
            return _read_day(value, field)
        case FieldType.DATETIME:
            return _read_ms(value, field)
        case FieldType.STRING_LIST | FieldType.INT_LIST:
            raise AssertionError("a domain is never a list")
        case _ as never:
            assert_never(never)


def _read_day(value: str | int | float | bool, field: Field) -> int | None:
    if isinstance(value, str):
        text = _date_text(value, field)
        moment = parse_moment(text)
        if moment is not None:
            return moment.ms // MS_PER_DAY if _holds_instants(field) else moment.day
        period = parse_period(text)
        return period.start if period.is_day or _is_yearly(field) else None
    ms = _stored_ms(value, field)
    return None if ms is None else ms // MS_PER_DAY


def _read_ms(value: str | int | float | bool, field: Field) -> int | None:
    if isinstance(value, str):
        text = _date_text(value, field)
        moment = parse_moment(text)
        if moment is not None:
            return moment.ms
        period = parse_period(text)
        return period.start * MS_PER_DAY if period.is_day or _is_yearly(field) else None
    return _stored_ms(value, field)


def _date_text(text: str, field: Field) -> str:
    """Text columns are compared letter by letter: only the plain form counts there."""
    encoding = None if field.column is None else field.column.encoding
    if encoding not in (Encoding.ISO_DAY, Encoding.ISO_TIME):
        return text.strip()
    if not text.isascii() or (encoding is Encoding.ISO_DAY and len(text) != len("2024-01-31")):
        raise FilterError(f"{text!r} is not a date as {encoding} has it")
    return text


def _holds_instants(field: Field) -> bool:
    """Whether the column has lost the zone that a time was written in."""
    instants = (Encoding.EPOCH_MS, Encoding.EPOCH_S)
    return field.column is not None and field.column.encoding in instants


def _is_yearly(field: Field) -> bool:
    return field.column is not None and field.column.encoding is Encoding.YEAR


def _stored_ms(value: int | float | bool, field: Field) -> int | None:
    """Milliseconds of a number as it stands in a foreign column. Day numbers are only our own,
    whose rows hold ISO days: an int in such a row is a year that somebody wrote, not a day.
    """
    number = as_number(value)
    if field.column is None or not isinstance(number, int):
        return None
    match field.column.encoding:
        case Encoding.EPOCH_MS:
            return number
        case Encoding.EPOCH_S:
            return number * 1000
        case Encoding.YYYYMMDD:
            year, rest = divmod(number, 10_000)
            period = parse_period(f"{year:04d}-{rest // 100:02d}-{rest % 100:02d}")
            return period.start * MS_PER_DAY
        case Encoding.YEAR:
            return parse_period(f"{number:04d}").start * MS_PER_DAY
        case (
            Encoding.FOLDED
            | Encoding.EXACT
            | Encoding.ISO_DAY
            | Encoding.ISO_TIME
            | Encoding.DAY_NUMBER
        ):
            return None
        case _ as never:
            assert_never(never)
