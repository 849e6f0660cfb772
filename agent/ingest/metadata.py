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
INDEXED = frozenset(
    {"keywords", "keyword", "questions", "question", "important_kwd", "question_kwd"}
    | {"关键词", "关键字", "问题", "常见问法"}
)
"""Fields whose words are embedded and indexed with every passage of their document."""


class Describer:
    """Makes metadata for documents of one knowledge base with these fields."""

    def __init__(
        self, fields: Iterable[Field], options: IngestOptions, tags: Sequence[str] = ()
    ) -> None:
        declared = tuple(fields)
        self._fields = {name_key(field.name): field for field in declared}
        self._aliases = {
            name_key(alias): field.name for field in declared for alias in field.aliases
        }
        self._access = {name_key(self._name(name)): name for name in options.access_fields}
        self._required = {name_key(self._name(name)): name for name in options.required_fields}
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
        self._check_doubtful(loaded)
        given = self._by_field(loaded.fields, notes)
        self._check_required(given)
        for name, value in given.items():
            self._take(name, value, values, unread, notes)
        title = _title(values) or next(iter(headings), "") or PurePosixPath(id_).stem
        restricts = name_key(self._title_name) in self._access
        if not restricts and not any(is_title(name) for name in values):
            self._take(self._title_name, Written(title, quoted=True), values, unread, notes)
        self._tag(values, (title, *headings))
        if unread:
            values[UNREAD] = unread
        return Metadata(title, values, (*loaded.notes, *notes))

    def _name(self, name: str) -> str:
        """The field that a name or an alias means; any other name as it is."""
        field = self._fields.get(name_key(name))
        return field.name if field else self._aliases.get(name_key(name), name)

    def _by_field(self, fields: Mapping[str, Value], notes: list[Note]) -> dict[str, Value]:
        """Values by the name of their field. Its own name goes before its aliases; two values
        for an access field are IngestError.
        """
        given: dict[str, Value] = {}
        own_first = sorted(fields.items(), key=lambda item: name_key(item[0]) in self._aliases)
        for name, value in own_first:
            field = self._name(name)
            other = given.setdefault(field, value)
            if display(other) == display(value):
                continue
            if name_key(field) in self._access:
                reason = f"access field {field!r} is given twice, as {display(other)!r} and as "
                reason += f"{name}: {display(value)!r}"
                raise IngestError(reason, remedy=f"give {field!r} once")
            notes.append(Note(f"left out: {field!r} is given too, and it is the same field", name))
        return {self._name(name): given[self._name(name)] for name in fields}

    def _check_doubtful(self, loaded: Loaded) -> None:
        doubtful = {name_key(self._name(key)) for key in loaded.doubtful}
        for key, name in self._access.items():
            if key in doubtful:
                reason = f"access field {name!r} is given twice, or cannot be read for certain"
                raise IngestError(reason, remedy=f"give {name!r} once, in quotes")
        self._check_nested(loaded.fields)

    def _check_nested(self, fields: Iterable[str]) -> None:
        """A mapping, flattened to dotted names, says nothing of the access field above it."""
        for given in fields:
            above, dot, _ = given.partition(".")
            name = self._access.get(name_key(self._name(above))) if dot else None
            if name is None or any(key.startswith(f"{name_key(name)}.") for key in self._access):
                continue
            raise IngestError(
                f"access field {name!r} is a mapping with {given!r}, where one value or a list "
                "is allowed",
                remedy=f"give {name!r} one value, or name {given!r} an access field",
            )

    def _check_required(self, given: Mapping[str, Value]) -> None:
        present = {name_key(name) for name, value in given.items() if display(value).strip()}
        for key, name in self._required.items():
            if key not in present:
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
            why = "the schema is closed" if self._options.closed else "too many fields"
            notes.append(Note(f"kept, but cannot be filtered: {why}", name))
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


def index_words(values: Mapping[str, JsonValue]) -> tuple[str, ...]:
    """Keywords and questions that a document's author gave, to be found by with its passages."""
    found: list[str] = []
    for name, value in values.items():
        if name_key(name) in INDEXED:
            found += [str(item) for item in (value if isinstance(value, list) else [value])]
    return tuple(dict.fromkeys(word.strip() for word in found if word.strip()))


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
