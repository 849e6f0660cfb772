"""What the columns of somebody else's collection mean, guessed from a sample. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from agent.store.columns import located
from schemas.collection import Column, ColumnKind, Encoding, Field, FieldType
from schemas.compile.literals import DYNAMIC, identifier
from schemas.errors import FilterError
from schemas.periods import iso_time, parse_moment, parse_period

# Values of pymilvus.DataType, which is the engine's wire format.
BOOL, FLOAT, DOUBLE, VARCHAR, ARRAY, JSON = 1, 10, 11, 21, 22, 23
INTS = frozenset({2, 3, 4, 5})
FLOAT_VECTOR, SPARSE_VECTOR = 101, 104

_TEXT = ("text", "content", "page_content", "chunk", "body", "passage", "document")
_DOCUMENT = ("doc_id", "document_id", "docid", "file_id", "document", "source", "file_name")
_TITLE = ("title", "name", "file_name", "filename", "doc_name")
_SOURCE = ("source", "url", "path", "file_path", "file_name", "filename", "uri")
_TIMELY = re.compile(r"date|time|stamp|created|updated|published|modified|(^|_)(at|ts|day)$", re.I)

_SECONDS = range(100_000_000, 10_000_000_000)
_MILLISECONDS = range(100_000_000_000, 10_000_000_000_000)
MAX_KEYS = 200
"""Keys of one JSON object that become fields."""

MAX_DEPTH = 3


@dataclass(frozen=True)
class Roles:
    """Which column does what. `document` tells rows of one document; it may be the key, whose
    values are numbers if `numbered`.
    """

    key: str
    numbered: bool
    dense: str | None
    dimension: int
    sparse: str | None
    text: str | None
    document: str
    title: str | None
    source: str | None


Rows = Sequence[Mapping[str, Any]]


def guess_roles(description: Mapping[str, Any], rows: Rows) -> Roles:
    fields = description["fields"]
    types = {field["name"]: int(field["type"]) for field in fields}
    key = next(field["name"] for field in fields if field.get("is_primary"))
    texts = [name for name, type_ in types.items() if type_ == VARCHAR and name != key]
    dense = next((field for field in fields if int(field["type"]) == FLOAT_VECTOR), None)
    return Roles(
        key=key,
        numbered=types[key] != VARCHAR,
        dense=None if dense is None else dense["name"],
        dimension=0 if dense is None else int(dense["params"]["dim"]),
        sparse=_bm25_output(description),
        text=_named(_TEXT, texts) or _longest(texts, rows),
        document=_named(_DOCUMENT, texts) or key,
        title=_named(_TITLE, texts),
        source=_named(_SOURCE, texts),
    )


def _bm25_output(description: Mapping[str, Any]) -> str | None:
    for function in description.get("functions") or ():
        if "BM25" in str(function.get("type")) or function.get("type") == 1:
            return str(function["output_field_names"][0])
    return None


def _named(wanted: Sequence[str], names: Sequence[str]) -> str | None:
    lowered = {name.lower(): name for name in names}
    return next((lowered[name] for name in wanted if name in lowered), None)


def _longest(names: Sequence[str], rows: Rows) -> str | None:
    sizes = {name: sum(len(str(row.get(name) or "")) for row in rows) for name in names}
    return max(sizes, key=lambda name: sizes[name]) if sizes else None


def guess_fields(description: Mapping[str, Any], rows: Rows, roles: Roles) -> tuple[Field, ...]:
    """Facets of every scalar column, JSON key and dynamic field that an expression can name."""
    found: list[Field] = []
    skipped = {roles.key, roles.text}
    for field in description["fields"]:
        if field["name"] not in skipped and _is_nameable(field["name"]):
            found += _column_fields(field, rows)
    if description.get("enable_dynamic_field"):
        known = {field["name"] for field in description["fields"]}
        loose = [{k: v for k, v in row.items() if k not in known} for row in rows]
        found += _path_fields(DYNAMIC, loose, prefix="")
    return tuple({field.name: field for field in found}.values())


def _is_nameable(name: str) -> bool:
    try:
        identifier(name)
    except FilterError:
        return False
    return True


def _column_fields(field: Mapping[str, Any], rows: Rows) -> Iterator[Field]:
    name, type_ = field["name"], int(field["type"])
    if type_ == JSON:
        objects = [row[name] for row in rows if isinstance(row.get(name), dict)]
        yield from _path_fields(name, objects, prefix=f"{name}.")
        return
    guessed = _typed(field, [row.get(name) for row in rows])
    if guessed is None:
        return
    kind, meaning, encoding = guessed
    yield Field(
        name=name,
        type=meaning,
        description=field.get("description") or "",
        column=Column(
            name=name, kind=kind, encoding=encoding, nullable=bool(field.get("nullable"))
        ),
    )


Guess = tuple[ColumnKind, FieldType, Encoding]


def _typed(field: Mapping[str, Any], values: Sequence[Any]) -> Guess | None:
    type_ = int(field["type"])
    if type_ == VARCHAR:
        return (ColumnKind.VARCHAR, *guess_text(values))
    if type_ in INTS:
        return (ColumnKind.INT, *guess_int(field["name"], values))
    if type_ in (FLOAT, DOUBLE):
        kind = ColumnKind.FLOAT if type_ == FLOAT else ColumnKind.DOUBLE
        return kind, FieldType.NUMBER, Encoding.EXACT
    if type_ == BOOL:
        return ColumnKind.BOOL, FieldType.BOOL, Encoding.EXACT
    if type_ == ARRAY and int(field.get("element_type") or 0) == VARCHAR:
        return ColumnKind.ARRAY, FieldType.STRING_LIST, Encoding.EXACT
    if type_ == ARRAY and int(field.get("element_type") or 0) in INTS:
        return ColumnKind.ARRAY, FieldType.INT_LIST, Encoding.EXACT
    return None


def guess_text(values: Iterable[Any]) -> tuple[FieldType, Encoding]:
    """Days or times if every value that is there has their ISO form, else strings."""
    present = [value for value in values if isinstance(value, str) and value.strip()]
    if present and all(map(_is_day, present)):
        return FieldType.DATE, Encoding.ISO_DAY
    if present and all(map(_is_time, present)):
        return FieldType.DATETIME, Encoding.ISO_TIME
    return FieldType.STRING, Encoding.EXACT


def _is_day(text: str) -> bool:
    try:
        return len(text) == 10 and parse_period(text).is_day
    except FilterError:
        return False


def _is_time(text: str) -> bool:
    try:
        return parse_moment(text) is not None
    except FilterError:
        return False


def guess_int(name: str, values: Iterable[Any]) -> tuple[FieldType, Encoding]:
    """Yyyymmdd by the calendar; seconds and milliseconds only under a name that speaks of time."""
    present = [v for v in values if isinstance(v, int) and not isinstance(v, bool)]
    timely = bool(_TIMELY.search(name))
    if present and all(map(_is_yyyymmdd, present)) and (timely or len(set(present)) > 2):
        return FieldType.DATE, Encoding.YYYYMMDD
    if present and timely and all(value in _SECONDS for value in present):
        return FieldType.DATETIME, Encoding.EPOCH_S
    if present and timely and all(value in _MILLISECONDS for value in present):
        return FieldType.DATETIME, Encoding.EPOCH_MS
    return FieldType.INT, Encoding.EXACT


def _is_yyyymmdd(value: int) -> bool:
    if not 19_000_101 <= value <= 21_001_231:
        return False
    return _is_day(f"{value // 10_000}-{value // 100 % 100:02d}-{value % 100:02d}")


def _path_fields(
    column: str, objects: Sequence[Mapping[str, Any]], *, prefix: str, path: tuple[str, ...] = ()
) -> Iterator[Field]:
    """A field for each key that holds values of one type throughout the sample."""
    keys = dict.fromkeys(key for each in objects for key in each)
    for key in list(keys)[:MAX_KEYS]:
        values = [each[key] for each in objects if each.get(key) is not None]
        name, below = f"{prefix}{key}", (*path, key)
        if values and all(isinstance(value, dict) for value in values):
            if len(below) < MAX_DEPTH:
                yield from _path_fields(column, values, prefix=f"{name}.", path=below)
            continue
        guessed = _guess_json(key, values)
        if guessed is not None:
            meaning, encoding = guessed
            kind = ColumnKind.JSON
            yield Field(
                name=name,
                type=meaning,
                column=Column(name=column, kind=kind, encoding=encoding, path=below),
            )


def _guess_json(key: str, values: Sequence[Any]) -> tuple[FieldType, Encoding] | None:
    kinds = {type(value) for value in values}
    if kinds == {str}:
        return guess_text(values)
    if kinds == {bool}:
        return FieldType.BOOL, Encoding.EXACT
    if kinds == {int}:
        return guess_int(key, values)
    if kinds in ({float}, {int, float}):
        return FieldType.NUMBER, Encoding.EXACT
    if kinds == {list}:
        return _guess_list([item for value in values for item in value])
    return None


def _guess_list(items: Sequence[Any]) -> tuple[FieldType, Encoding] | None:
    kinds = {type(item) for item in items}
    if kinds == {str}:
        return FieldType.STRING_LIST, Encoding.EXACT
    if kinds == {int}:
        return FieldType.INT_LIST, Encoding.EXACT
    return None


def value_of(row: Mapping[str, Any], field: Field) -> JsonValue:
    """A field's value in a row, dates as ISO days or times."""
    column = located(field)
    found = _at(row, column)
    if isinstance(found, int) and not isinstance(found, bool):
        return _written(found, column.encoding)
    return list(found) if isinstance(found, list | tuple) else found


def _at(row: Mapping[str, Any], column: Column) -> Any:
    if column.kind is not ColumnKind.JSON:
        return row.get(column.name)
    found: Any = row if column.name == DYNAMIC else row.get(column.name)
    for key in column.path:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found


def _written(number: int, encoding: Encoding) -> JsonValue:
    if encoding is Encoding.YYYYMMDD:
        return f"{number // 10_000:04d}-{number // 100 % 100:02d}-{number % 100:02d}"
    if encoding is Encoding.EPOCH_S:
        return iso_time(number * 1000)
    if encoding is Encoding.EPOCH_MS:
        return iso_time(number)
    return number
