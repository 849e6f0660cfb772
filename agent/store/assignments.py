"""New values for the fields of a document, as people write them. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from schemas.collection import Field, FieldType
from schemas.errors import UsageError
from schemas.folding import is_blank
from schemas.periods import iso_day, iso_time
from schemas.values import Key, read_row

Changes = Mapping[str, JsonValue]
"""New values by field name; null takes a value away."""

_FORMS: Mapping[FieldType, str] = {
    FieldType.STRING: "a text",
    FieldType.INT: "a whole number of at most 64 bits",
    FieldType.NUMBER: "a number",
    FieldType.BOOL: "true or false",
    FieldType.DATE: "a day such as 2026-01-31",
    FieldType.DATETIME: "a time such as 2026-01-31T10:00:00Z",
}


def read_assignments(
    fields: Sequence[Field], assigned: Mapping[str, Sequence[str]], kb: str
) -> dict[str, JsonValue]:
    """Texts by field name, each in the type of its field; a list may be given as several texts
    or as one with commas. Raises UsageError naming field, value and what is allowed.
    """
    known = _known(fields, assigned, kb)
    return {name: _read(known[name], texts) for name, texts in assigned.items()}


def check_changes(fields: Sequence[Field], changes: Changes) -> None:
    """Raises UsageError on a value that its field cannot hold, where it would count as missing."""
    for field in fields:
        if field.name in changes:
            _check_value(field, changes[field.name])


def check_known(fields: Sequence[Field], names: Sequence[str], kb: str) -> None:
    """Raises UsageError naming the known fields if there is no field of a name."""
    _known(fields, names, kb)


def _known(
    fields: Sequence[Field], names: Sequence[str] | Mapping[str, Sequence[str]], kb: str
) -> Mapping[str, Field]:
    known = {field.name: field for field in fields}
    for name in names:
        if name not in known:
            listed = ", ".join(sorted(known)) or "none"
            raise UsageError(f"unknown field {name!r} in {kb!r}; known fields: {listed}")
    return known


def _read(field: Field, texts: Sequence[str]) -> JsonValue:
    if not field.type.is_list:
        if len(texts) > 1:
            raise UsageError(
                f"field {field.name!r} of type {field.type} takes one value, not {len(texts)}"
            )
        return _element(field, texts[0])
    pieces = [piece.strip() for text in texts for piece in text.replace("，", ",").split(",")]
    return [_element(field, piece) for piece in pieces if piece]


def _element(field: Field, text: str) -> JsonValue:
    if is_blank(text):
        raise UsageError(
            f"field {field.name!r} cannot be an empty text", remedy=f"use --unset {field.name}"
        )
    if field.type.element is FieldType.STRING:
        return text
    keys = read_row([text] if field.type.is_list else text, field)
    if not keys:
        raise _refused(field, text)
    return _written(field, keys[0])


def _written(field: Field, key: Key) -> JsonValue:
    match field.type.element, key:
        case FieldType.DATE, int():
            return iso_day(key)
        case FieldType.DATETIME, int():
            return iso_time(key)
        case _:
            return key


def _check_value(field: Field, value: JsonValue) -> None:
    if isinstance(value, list) and not field.type.is_list:
        raise UsageError(f"field {field.name!r} of type {field.type} takes one value, not a list")
    items: Sequence[JsonValue] = value if isinstance(value, list) else [value]
    for item in items:
        blank = item is None or (isinstance(item, str) and is_blank(item))
        if not blank and not read_row([item] if field.type.is_list else item, field):
            raise _refused(field, item)


def _refused(field: Field, value: JsonValue) -> UsageError:
    form = _FORMS[field.type.element]
    allowed = f"several of: {form}" if field.type.is_list else form
    return UsageError(
        f"field {field.name!r} of type {field.type} cannot be {value!r}; allowed: {allowed}"
    )
