"""Physical columns of a field, and a document's metadata as their values.

A missing value is null. Strings are stored folded; a field that access rules use has a
companion column `<name>_x` with the strings as written. A list has two forms: an ARRAY, and in
`<name>_j` one VARCHAR with each element between `\\x1f` characters, because Lite takes 18 times
longer for `array_contains` than for `like`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import assert_never

from pydantic import JsonValue

from agent.store.names import column_name
from schemas.collection import Column, ColumnKind, Encoding, Field, FieldType
from schemas.compile.list_columns import SEPARATOR
from schemas.errors import FilterError, IngestError
from schemas.values import Key, read_row

VARCHAR_BYTES = 65_535
"""The engine's limit for a VARCHAR; servers count bytes."""

JSON_BYTES = 65_000
"""Just below a server's limit for a JSON value."""

ARRAY_LENGTH = 4_096


def column_of(field: Field, *, exact: bool) -> Column:
    """Where our own collections keep a field; `exact` asks for the companion as written."""
    name = column_name(field.name)
    kind, encoding = _stored(field.type)
    is_text = field.type.element is FieldType.STRING
    return Column(
        name=name,
        kind=kind,
        encoding=encoding,
        nullable=True,
        exact=f"{name}_x" if exact and is_text else None,
        joined=f"{name}_j" if field.type.is_list else None,
    )


def _stored(type_: FieldType) -> tuple[ColumnKind, Encoding]:
    match type_:
        case FieldType.STRING:
            return ColumnKind.VARCHAR, Encoding.FOLDED
        case FieldType.INT:
            return ColumnKind.INT, Encoding.EXACT
        case FieldType.NUMBER:
            return ColumnKind.DOUBLE, Encoding.EXACT
        case FieldType.BOOL:
            return ColumnKind.BOOL, Encoding.EXACT
        case FieldType.DATE:
            return ColumnKind.INT, Encoding.DAY_NUMBER
        case FieldType.DATETIME:
            return ColumnKind.INT, Encoding.EPOCH_MS
        case FieldType.STRING_LIST:
            return ColumnKind.ARRAY, Encoding.FOLDED
        case FieldType.INT_LIST:
            return ColumnKind.ARRAY, Encoding.EXACT
        case _ as never:
            assert_never(never)


def located(field: Field) -> Column:
    """The field's column; a field of a store always has one."""
    if field.column is None:
        raise FilterError(f"field {field.name!r} has no column")
    return field.column


def joined(elements: Sequence[Key]) -> str | None:
    """Elements each between separators; None for an empty list."""
    if not elements:
        return None
    return SEPARATOR + SEPARATOR.join(str(element) for element in elements) + SEPARATOR


def encode(
    metadata: Mapping[str, JsonValue], fields: Sequence[Field], document: str
) -> dict[str, JsonValue]:
    """Column values of a row. Raises IngestError naming document and field on what is too long."""
    row: dict[str, JsonValue] = {}
    for field in fields:
        for name, value in _cells(metadata.get(field.name), field):
            _check_size(value, field, document)
            row[name] = value
    return row


def _cells(value: JsonValue, field: Field) -> Iterator[tuple[str, JsonValue]]:
    column = located(field)
    keys = () if value is None else read_row(value, field)
    if not field.type.is_list:
        yield column.name, keys[0] if keys else None
        if column.exact is not None:
            written = read_row(value, field, exact=True)
            yield column.exact, written[0] if written else None
        return
    yield column.name, list(keys) or None
    if column.joined is not None:
        yield column.joined, joined(keys)
    if column.exact is not None:
        yield column.exact, joined(read_row(value, field, exact=True))


def is_longer(text: str, limit: int) -> bool:
    """In UTF-8, which most often is known without encoding: no character has more than 4 bytes."""
    return len(text) > limit // 4 and len(text.encode()) > limit


def _check_size(value: JsonValue, field: Field, document: str) -> None:
    if isinstance(value, str) and is_longer(value, VARCHAR_BYTES):
        raise IngestError(
            f"document {document!r}, field {field.name!r}: the value has {len(value.encode()):,}"
            f" bytes; at most {VARCHAR_BYTES:,} can be stored",
            remedy="shorten the value, or leave the field out of the metadata",
        )
    if isinstance(value, list) and len(value) > ARRAY_LENGTH:
        raise IngestError(
            f"document {document!r}, field {field.name!r}: the list has {len(value):,} elements;"
            f" at most {ARRAY_LENGTH:,} can be stored"
        )


def fitting(
    metadata: Mapping[str, JsonValue], fields: Sequence[Field], document: str
) -> tuple[dict[str, JsonValue], tuple[str, ...]]:
    """Metadata for display within JSON_BYTES, and the names of undeclared keys left out for it.

    Raises IngestError if the fields alone are too large.
    """
    kept = dict(metadata)
    left_out: list[str] = []
    declared = {field.name for field in fields}
    spare = sorted((name for name in kept if name not in declared), key=lambda n: _bytes(kept[n]))
    while _bytes(kept) > JSON_BYTES:
        if not spare:
            largest = max(kept, key=lambda name: _bytes(kept[name]))
            raise IngestError(
                f"document {document!r}: its metadata has {_bytes(kept):,} bytes, at most"
                f" {JSON_BYTES:,} can be stored; the largest field is {largest!r}"
            )
        left_out.append(spare.pop())
        del kept[left_out[-1]]
    return kept, tuple(left_out)


def _bytes(value: JsonValue | dict[str, JsonValue]) -> int:
    return len(json.dumps(value, ensure_ascii=False).encode())
