"""The metadata of one document, brought to the fields of its knowledge base."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from pydantic import JsonValue

from agent.ingest import dates
from agent.ingest.coercion import Misfit, coerce
from agent.ingest.conventions import TITLES, is_dated, is_title
from agent.ingest.loaded import Loaded
from agent.ingest.options import IngestOptions
from agent.ingest.written import Note, Value, Written, display, name_key
from schemas.collection import Field
from schemas.errors import IngestError

UNREAD = "_unread"
"""Where values stay that their field cannot hold: a mapping from field to the text."""


@dataclass(frozen=True, slots=True)
class Metadata:
    title: str
    values: Mapping[str, JsonValue]
    notes: tuple[Note, ...] = ()


LONGEST_VALUE = 16_384
"""Bytes of one value: columns and the copy for display are bounded in every engine."""
SHOWN = 500


class Describer:
    """Makes metadata for documents of one knowledge base with these fields."""

    def __init__(
        self, fields: Iterable[Field], options: IngestOptions, tags: Sequence[str] = ()
    ) -> None:
        self._fields = {name_key(field.name): field for field in fields}
        self._access = {name_key(name): name for name in options.access_fields}
        self._required = {name_key(name): name for name in options.required_fields}
        self._options = options
        self._tags = tuple(tags)
        titles = (field.name for field in self._fields.values() if is_title(field.name))
        self._title_name = next(titles, TITLES[0])

    def describe(self, loaded: Loaded, id_: str, headings: Sequence[str]) -> Metadata:
        """IngestError if an access field is doubtful or not of its type, or if a required field
        is missing. A missing access field is no leak: a scope on it is not true.
        """
        values: dict[str, JsonValue] = {}
        unread: dict[str, JsonValue] = {}
        notes: list[Note] = []
        self._check_access(loaded)
        for name, value in loaded.fields.items():
            self._take(name, value, values, unread, notes)
        title = _title(values) or next(iter(headings), "") or PurePosixPath(id_).stem
        if not any(is_title(name) for name in values):
            self._take(self._title_name, Written(title, quoted=True), values, unread, notes)
        self._tag(values, (title, *headings))
        if unread:
            values[UNREAD] = unread
        return Metadata(title, values, (*loaded.notes, *notes))

    def _check_access(self, loaded: Loaded) -> None:
        given = {name_key(name) for name in loaded.fields}
        for key, name in self._access.items():
            if key in loaded.doubtful:
                reason = f"access field {name!r} is given twice or is not valid YAML"
                raise IngestError(reason, remedy=f"give {name!r} once, in quotes")
        for key, name in self._required.items():
            if key not in given:
                remedy = f"add {name!r} to the front matter"
                raise IngestError(f"required field {name!r} is missing", remedy=remedy)

    def _take(
        self,
        name: str,
        value: Value,
        values: dict[str, JsonValue],
        unread: dict[str, JsonValue],
        notes: list[Note],
    ) -> None:
        size = len(display(value).encode())
        if size > LONGEST_VALUE and name_key(name) not in self._access:
            unread[name] = f"{display(value)[:SHOWN]}…"
            limit = f"{size} bytes, at most {LONGEST_VALUE} can be filtered"
            notes.append(Note(f"kept in part, counts as missing: {limit}", name))
            return
        field = self._fields.get(name_key(name))
        if field is None:
            values[name] = _as_text(value)
            notes.append(Note("kept, but cannot be filtered: too many fields", name))
            return
        read = coerce(value, field, self._options.zone)
        if not isinstance(read, Misfit):
            values[field.name] = read
            notes.extend(_impossible_day(name, value))
        elif name_key(name) in self._access:
            raise IngestError(f"line {read.line}: access field {read}")
        else:
            unread[field.name] = display(value)
            notes.append(Note(f"{read}; it counts as missing", field.name, read.line))

    def _tag(self, values: dict[str, JsonValue], texts: Sequence[str]) -> None:
        field = self._fields.get(name_key(self._options.tag_field))
        if field is None:
            return
        own = values.get(field.name)
        tags = list(own) if isinstance(own, list) else []
        searched = "\n".join([*texts, *(str(tag) for tag in tags)]).casefold()
        ruled = [
            tag
            for tag, words in self._options.tag_rules.items()
            if any(word.casefold() in searched for word in words)
        ]
        tags.extend(tag for tag in (*self._tags, *ruled) if tag not in tags)
        if tags:
            values[field.name] = list(dict.fromkeys(str(tag) for tag in tags))


def _title(values: Mapping[str, JsonValue]) -> str:
    found = next((value for name, value in values.items() if is_title(name)), "")
    return found if isinstance(found, str) else ""


def _as_text(value: Value) -> JsonValue:
    if isinstance(value, Written):
        return value.text
    return [item.text for item in value]


def _impossible_day(name: str, value: Value) -> Iterable[Note]:
    if not isinstance(value, Written) or not is_dated(name):
        return
    if dates.is_day_shaped(value.text) and dates.to_day(value.text) is None:
        yield Note(f"{value.text!r} is no day of the calendar; kept as text", name, value.line)
