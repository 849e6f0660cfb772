"""Fields that a model reads from the beginning of a text, where its author gave none.

Off unless fields are named. Every value comes with the words it was read from, which have to
stand in the text and to bear the value out; access fields are never filled this way. Where the
schema is closed, a field takes its known values only: stored ones, and those with synonyms.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

import prompts
from agent.ingest.coercion import Misfit, coerce
from agent.ingest.fixed_places import barred
from agent.ingest.options import IngestOptions
from agent.ingest.written import Note, Written, name_key
from graph.ports import Chat, Message
from schemas.collection import Field, FieldType
from schemas.defaults import is_missing
from schemas.drafts import DocumentDraft
from schemas.folding import fold

NEAR_TOP = 2_000
"""Characters of a document that the model is shown."""
LONGEST = 200
MOST_VALUES = 8


@dataclass(frozen=True, slots=True)
class Extracted:
    """The drafts in their order, and what was read or refused, by document id."""

    drafts: tuple[DocumentDraft, ...]
    notes: tuple[tuple[str, Note], ...] = ()


async def extract(
    drafts: Sequence[DocumentDraft], fields: Sequence[Field], options: IngestOptions, chat: Chat
) -> Extracted:
    """One call for each document that lacks some of `options.extract`. ModelError for outages; a
    reply that cannot be used is a note.
    """
    wanted = _wanted(fields, options)
    done: list[DocumentDraft] = []
    notes: list[tuple[str, Note]] = []
    for draft in drafts:
        missing = [field for field in wanted if is_missing(draft.metadata.get(field.name))]
        text = beginning(draft)
        if not missing or not text:
            done.append(draft)
            continue
        reply = await chat.complete(
            _messages(missing, text), reply_schema(missing, closed=options.closed)
        )
        values, told = _read(reply.text, missing, text, options)
        notes += [(draft.id, note) for note in told]
        metadata = {**draft.metadata, **values}
        done.append(draft.model_copy(update={"metadata": metadata}) if values else draft)
    return Extracted(tuple(done), tuple(notes))


def beginning(draft: DocumentDraft) -> str:
    """The first characters of a document, put together from its passages, which overlap."""
    text, end = "", 0
    for chunk in draft.chunks:
        if len(text) >= NEAR_TOP:
            break
        gap = "\n" if chunk.start > end and text else ""
        text += gap + chunk.text[max(0, end - chunk.start) :]
        end = max(end, chunk.end)
    return text[:NEAR_TOP]


def reply_schema(fields: Sequence[Field], *, closed: bool = False) -> dict[str, Any]:
    """An object with a value and its words, or null, for each field."""
    properties = {field.name: _field_schema(field, _known(field, closed)) for field in fields}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _known(field: Field, closed: bool) -> tuple[str, ...]:
    """The values to choose from; none where any will do."""
    values = (*map(str, field.values), *field.synonyms) if closed else ()
    return tuple(dict.fromkeys(values))


def _field_schema(field: Field, known: Sequence[str]) -> dict[str, Any]:
    one: dict[str, Any] = {"type": "string", "maxLength": LONGEST}
    if known:
        one = {"enum": list(known)}
    words = {"type": "string", "maxLength": LONGEST}
    read = {
        "type": "object",
        "properties": {"value": one, "words": words},
        "required": ["value", "words"],
        "additionalProperties": False,
    }
    if field.type.is_list:
        return {"type": "array", "items": read, "maxItems": MOST_VALUES}
    return {"anyOf": [read, {"type": "null"}]}


def _wanted(fields: Sequence[Field], options: IngestOptions) -> list[Field]:
    names = {name_key(name) for name in options.extract} - barred(options)
    return [field for field in fields if name_key(field.name) in names]


def _messages(fields: Sequence[Field], text: str) -> tuple[Message, ...]:
    lines = [
        f"- {field.name} ({field.type})" + (f": {field.description}" if field.description else "")
        for field in fields
    ]
    asked = prompts.render("extract", fields="\n".join(lines), text=text)
    return Message("system", prompts.render("extract_system")), Message("user", asked)


def _read(
    reply: str, fields: Sequence[Field], text: str, options: IngestOptions
) -> tuple[dict[str, JsonValue], list[Note]]:
    try:
        found = json.loads(reply)
    except ValueError:
        found = None
    if not isinstance(found, Mapping):
        return {}, [Note("nothing was extracted: the model's reply is no JSON object")]
    values: dict[str, JsonValue] = {}
    notes: list[Note] = []
    for field in fields:
        known = {fold(value): value for value in _known(field, options.closed)}
        kept: dict[str, str] = {}
        given = found.get(field.name)
        for item in given if isinstance(given, list) else [given] if given is not None else []:
            fault = _fault(item, field, fold(text), known)
            if fault:
                notes.append(Note(f"not extracted: {fault}", field.name))
            else:
                kept[known.get(fold(item["value"]), item["value"])] = item["words"]
        if kept:
            _take(kept, field, options, values, notes)
    return values, notes


def _take(
    kept: Mapping[str, str],
    field: Field,
    options: IngestOptions,
    values: dict[str, JsonValue],
    notes: list[Note],
) -> None:
    written = tuple(Written(value, quoted=True) for value in list(kept)[:MOST_VALUES])
    value = coerce(written if field.type.is_list else written[0], field, options.zone)
    if isinstance(value, Misfit):
        notes.append(Note(f"not extracted: {value}", field.name))
    else:
        values[field.name] = value
        words = ", ".join(map(repr, kept.values()))
        notes.append(Note(f"extracted by the model, from {words}", field.name))


def _fault(item: object, field: Field, text: str, known: Mapping[str, str]) -> str:
    """Why a value may not be taken; empty if it may. `text` and the keys of `known` are folded."""
    value, words = (
        (item.get("value"), item.get("words")) if isinstance(item, Mapping) else (None, None)
    )
    if not isinstance(value, str) or not isinstance(words, str) or not value.strip():
        return "the reply is not as asked"
    if not fold(words) or fold(words) not in text:
        return f"{words!r} does not stand in the text"
    if known and fold(value) not in known:
        return f"{value!r} is none of the known values"
    if not known and not _bears_out(fold(words), fold(value), field):
        return f"{words!r} does not say {value!r}"
    return ""


def _bears_out(words: str, value: str, field: Field) -> bool:
    """Texts stand in the words as they are, a number with its figures, a day with its year."""
    match field.type.element:
        case FieldType.STRING:
            return value in words
        case FieldType.INT | FieldType.NUMBER:
            return value.strip("+-") in words.replace(",", "")
        case FieldType.DATE | FieldType.DATETIME:
            return value[:4] in words
        case _:
            return True
