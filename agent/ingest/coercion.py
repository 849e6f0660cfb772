"""A written value is brought to the type of its field."""

from __future__ import annotations

import datetime as dt
import math
import re
from dataclasses import dataclass
from typing import assert_never

from pydantic import JsonValue

from agent.ingest import dates
from agent.ingest.conventions import holds_tags
from agent.ingest.inference import FALSE_WORDS, INT_64, TRUE_WORDS
from agent.ingest.written import Value, Written, display
from schemas.collection import Field, FieldType

_INT = re.compile(r"([-+]?[0-9]{1,19})(?:\.0{1,3})?")
_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_TAG_SEPARATOR = re.compile(r"[,，、;；\n]")
_EXPECTED = {
    FieldType.STRING: "one text",
    FieldType.INT: "a whole number of at most 64 bits",
    FieldType.NUMBER: "a number",
    FieldType.BOOL: "true or false",
    FieldType.DATE: "a day such as 2024-01-31",
    FieldType.DATETIME: "a time such as 2024-01-31T10:00:00Z",
    FieldType.STRING_LIST: "a list of texts",
    FieldType.INT_LIST: "a list of whole numbers",
}


@dataclass(frozen=True, slots=True)
class Misfit:
    """A value that its field cannot hold."""

    field: Field
    value: str
    line: int | None = None

    def __str__(self) -> str:
        expected = _EXPECTED[self.field.type]
        return f"{self.field.name}: {self.value!r} is not {expected} ({self.field.type})"


def coerce(value: Value, field: Field, zone: dt.tzinfo) -> JsonValue | Misfit:
    """Days and times become ISO strings. A single value is a list of one; a list of several is
    no single value.
    """
    if field.type.is_list:
        return _list(value, field, zone)
    if isinstance(value, tuple):
        if len(value) != 1:
            return Misfit(field, display(value), value[0].line)
        (value,) = value
    read = _scalar(value, field.type, zone)
    return Misfit(field, value.text, value.line) if read is None else read


def _list(value: Value, field: Field, zone: dt.tzinfo) -> JsonValue | Misfit:
    if isinstance(value, Written) and holds_tags(field.name):
        value = _tags(value)
    items = (value,) if isinstance(value, Written) else value
    read: list[JsonValue] = []
    for item in items:
        element = _scalar(item, field.type.element, zone)
        if element is None:
            return Misfit(field, item.text, item.line)
        if element not in read:
            read.append(element)
    return read


def _tags(written: Written) -> tuple[Written, ...]:
    """`tags: a, b` as most writers mean it; an element of a list keeps its commas."""
    parts = (part.strip() for part in _TAG_SEPARATOR.split(written.text))
    return tuple(Written(part, written.quoted, written.line) for part in parts if part)


def _scalar(written: Written, type_: FieldType, zone: dt.tzinfo) -> JsonValue:
    """None if the text is no value of the type."""
    text = written.text.strip()
    match type_:
        case FieldType.STRING | FieldType.STRING_LIST:
            return None if _CONTROL.search(text) else text
        case FieldType.INT | FieldType.INT_LIST:
            whole = _INT.fullmatch(text)
            return int(whole[1]) if whole and int(whole[1]) in INT_64 else None
        case FieldType.NUMBER:
            number = float(text) if _NUMBER.fullmatch(text) else math.nan
            return number if math.isfinite(number) else None
        case FieldType.BOOL:
            word = text.casefold()
            return word in TRUE_WORDS if word in TRUE_WORDS | FALSE_WORDS else None
        case FieldType.DATE:
            day = dates.to_day(text)
            return day.isoformat() if day else None
        case FieldType.DATETIME:
            time = dates.to_time(text, zone)
            return time.isoformat().replace("+00:00", "Z") if time else None
        case _:
            assert_never(type_)
