"""Which columns of a table, or keys of records, make the text, the fields, the title, the id."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from agent.ingest.reading import Reading
from agent.ingest.written import Value, Written, name_key
from schemas.errors import IngestError

LONGEST_FIELD = 200
"""Characters; by default, columns with longer values in the sample are text only."""

_TITLES = ("title", "name", "标题", "名称", "subject")
_CONTENTS = ("text", "content", "body", "正文", "内容")
_SHOWN_COLUMNS = 40


@dataclass(frozen=True, slots=True)
class Roles:
    """Columns as they are spelt in the file. No `text`: all but the ignored ones make it.
    `metadata` None: all but the ignored and those in `text_only` become fields.
    `text_is_told`: the type map names the text; else a record without it is read as a whole.
    """

    id: str | None
    title: str | None
    text: tuple[str, ...]
    metadata: frozenset[str] | None
    ignored: frozenset[str]
    text_only: frozenset[str]
    text_is_told: bool

    def is_text(self, name: str) -> bool:
        return name in self.text if self.text else name not in self.ignored

    def is_field(self, name: str) -> bool:
        if self.metadata is not None:
            return name in self.metadata
        return name not in self.ignored and name not in self.text_only


def assign(
    reading: Reading,
    columns: Sequence[str],
    sample: Iterable[Mapping[str, Value]],
    *,
    open_ended: bool,
) -> Roles:
    """Roles for the `columns` that are known. `open_ended`: these are records, which may have
    keys that the sample does not show. IngestError if a role names a column that is not there.
    """
    by_key = {name_key(name): name for name in reversed(columns)}

    def named(wanted: Iterable[str], *, optional: bool = False) -> tuple[str, ...]:
        found = tuple(by_key.get(name_key(name), name) for name in wanted)
        missing = [name for name in found if name_key(name) not in by_key]
        if missing and not optional:
            raise _unknown(missing[0], columns)
        return found

    ignored = frozenset(named(reading.ignore, optional=open_ended))
    text = named(reading.text)
    if not text and open_ended:
        text = _first(_CONTENTS, by_key, ignored)
    metadata = named(reading.metadata, optional=open_ended) if reading.metadata else None
    long = _long(sample)
    title = named((reading.title,)) if reading.title else _first(_TITLES, by_key, ignored | long)
    id_ = named((reading.id,)) if reading.id else ()
    return Roles(
        id=next(iter(id_), None),
        title=next(iter(title), None),
        text=text,
        metadata=None if metadata is None else frozenset(metadata),
        ignored=ignored,
        text_only=frozenset(text) or long,
        text_is_told=bool(reading.text),
    )


def _first(
    names: Iterable[str], by_key: Mapping[str, str], left_out: frozenset[str]
) -> tuple[str, ...]:
    found = (by_key[name] for name in names if name in by_key and by_key[name] not in left_out)
    return tuple(found)[:1]


def _long(sample: Iterable[Mapping[str, Value]]) -> frozenset[str]:
    return frozenset(
        name
        for cells in sample
        for name, value in cells.items()
        if isinstance(value, Written) and len(value.text) > LONGEST_FIELD
    )


def _unknown(name: str, columns: Sequence[str]) -> IngestError:
    shown = ", ".join(columns[:_SHOWN_COLUMNS])
    more = ", …" if len(columns) > _SHOWN_COLUMNS else ""
    return IngestError(
        f"there is no column {name!r}; there are: {shown}{more}",
        remedy="correct the entry of the type map",
    )
