"""Rows of a table, or records of JSON, become documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import assert_never

from agent.ingest.conventions import is_title
from agent.ingest.loaded import Loaded, Markup, Unreadable
from agent.ingest.loaders.roles import Roles, assign
from agent.ingest.reading import Reading
from agent.ingest.written import Note, Value, Written, display, name_key

SAMPLE_ROWS = 200
EXTRA = "_extra"
_LONGEST_KEY = 200


@dataclass(frozen=True, slots=True)
class Row:
    """`key` is the row's number as people count it; `cells` are the values that are there, by
    column; `extra` those beyond the last column; `doubtful` are the keys of columns whose value
    is a guess.
    """

    key: str
    cells: Mapping[str, Value]
    line: int | None = None
    notes: tuple[Note, ...] = ()
    extra: tuple[Written, ...] = ()
    doubtful: frozenset[str] = frozenset()


def documents(
    rows: Iterable[Row | Unreadable],
    reading: Reading,
    columns: Sequence[str] = (),
    seen: set[str] | None = None,
) -> Iterator[Loaded | Unreadable]:
    """A document a row. Without `columns` these are records, each with its own keys.
    `seen` are the ids that earlier parts of the file gave.
    IngestError if a role names a column that is not there.
    """
    source = iter(rows)
    sample = list(islice(source, SAMPLE_ROWS))
    known = [row.cells for row in sample if isinstance(row, Row)]
    names = columns or tuple(dict.fromkeys(name for cells in known for name in cells))
    if not names:
        yield from (row for row in chain(sample, source) if isinstance(row, Unreadable))
        return
    roles = assign(reading, names, known, open_ended=not columns)
    seen = set() if seen is None else seen
    for row in chain(sample, source):
        match row:
            case Row():
                yield _document(row, roles, seen)
            case Unreadable():
                # where rows are known by an id, its number does not tell which one this is
                yield row if reading.id is None else replace(row, key=None)
            case _:
                assert_never(row)


def labelled(cells: Mapping[str, Value], names: Iterable[str]) -> str:
    """Lines of `column: value`."""
    return "\n".join(f"{name}: {display(cells[name])}" for name in names)


def _document(row: Row, roles: Roles, seen: set[str]) -> Loaded | Unreadable:
    key = row.key
    if roles.id is not None:
        identified = _identify(row, roles.id, seen)
        if isinstance(identified, Unreadable):
            return identified
        key = identified
    text = _text(row, roles)
    if not text:
        return Unreadable(f"row {row.key} has no text", key, row.line)
    fields = _fields(row, roles)
    notes, doubtful = row.notes, row.doubtful
    if row.extra:
        # a stray separator may have moved every cell after it into another column
        doubtful = frozenset(name_key(name) for name in fields)
        fields[EXTRA] = row.extra
        said = f"row {row.key}: {len(row.extra)} more than there are columns; kept in {EXTRA}"
        notes = (*notes, Note(said, line=row.line))
    return Loaded(text, fields, notes, doubtful, key, Markup.PLAIN)


def _identify(row: Row, column: str, seen: set[str]) -> str | Unreadable:
    given = row.cells.get(column)
    key = "" if given is None else " ".join(display(given).split())
    if not key:
        return Unreadable(f"row {row.key}: {column} is empty", line=row.line)
    if len(key) > _LONGEST_KEY:
        said = f"row {row.key}: {column} is longer than {_LONGEST_KEY} characters"
        return Unreadable(said, line=row.line)
    if key in seen:
        return Unreadable(f"row {row.key}: {column} {key!r} is given twice", key, row.line)
    seen.add(key)
    return key


def _text(row: Row, roles: Roles) -> str:
    names = [name for name in row.cells if roles.is_text(name)]
    if roles.text:
        names.sort(key=roles.text.index)
    one = len(roles.text) == 1
    text = display(row.cells[names[0]]) if one and names else labelled(row.cells, names)
    if not text and not roles.text_is_told:
        text = labelled(row.cells, [name for name in row.cells if name not in roles.ignored])
    if row.extra and not roles.text:
        text = f"{text}\n{EXTRA}: {display(row.extra)}"
    title = row.cells.get(roles.title) if roles.title else None
    if not text and title is not None:
        text = display(title)
    return text.strip()


def _fields(row: Row, roles: Roles) -> dict[str, Value]:
    fields: dict[str, Value] = {}
    title = row.cells.get(roles.title) if roles.title else None
    if title is not None:
        fields["title"] = title
    for name, value in row.cells.items():
        if name == roles.title and is_title(name):
            fields.pop("title", None)  # it is kept as it is spelt
            fields[name] = value
        elif name_key(name) == "title" and title is not None:
            fields["title_2"] = value
        elif roles.is_field(name):
            fields[name] = value
    return fields
