"""Fields that a model reads from a text: only what the text says, never what grants access."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jsonschema
import pytest

from agent.ingest.extraction import NEAR_TOP, beginning, extract, reply_schema
from agent.ingest.options import IngestOptions
from agent.ingest.splitting import Splitter, outline
from graph.ports import Completion, Message
from schemas.collection import Field, FieldType
from schemas.drafts import DocumentDraft
from schemas.errors import ModelUnavailable

TEXT = """# Gateway 2.0

Written by Ada Lovelace and Alan Turing on January 5, 2024. 本文由研发中心发布。It has 1,200 pages.
"""
FIELDS = (
    Field(name="authors", type=FieldType.STRING_LIST),
    Field(name="published", type=FieldType.DATE),
    Field(name="department", type=FieldType.STRING, synonyms={"研发中心": ("R&D",), "HR": ()}),
    Field(name="pages", type=FieldType.INT),
    Field(name="tenant", type=FieldType.STRING, aliases=("client",)),
)
NAMES = tuple(field.name for field in FIELDS)


@dataclass
class ScriptedChat:
    reply: Any
    asked: list[tuple[Sequence[Message], Mapping[str, Any] | None]] = field(default_factory=list)

    @property
    def name(self) -> str:
        return "scripted"

    async def complete(
        self, messages: Sequence[Message], schema: Mapping[str, Any] | None = None
    ) -> Completion:
        self.asked.append((messages, schema))
        if isinstance(self.reply, Exception):
            raise self.reply
        text = self.reply if isinstance(self.reply, str) else json.dumps(self.reply)
        return Completion(text, "scripted")

    def stream(self, messages: Sequence[Message]) -> AsyncIterator[str]:
        raise AssertionError("nothing is streamed")


def document(text: str = TEXT, **metadata: Any) -> DocumentDraft:
    chunks = Splitter(200, 50).split(text, outline(text))
    return DocumentDraft(
        id="a", source="a", title="t", metadata=metadata, content_hash="h", chunks=chunks
    )


def read(value: str, words: str) -> dict[str, str]:
    return {"value": value, "words": words}


async def extracted(
    reply: Any, *names: str, closed: bool = False, **metadata: Any
) -> tuple[dict[str, Any], list[str], ScriptedChat]:
    chat = ScriptedChat(reply)
    options = IngestOptions(extract=names or NAMES, access_fields=("tenant",), closed=closed)
    done = await extract([document(**metadata)], FIELDS, options, chat)
    return dict(done.drafts[0].metadata), [note.message for _, note in done.notes], chat


async def test_what_the_text_states_is_taken_and_told() -> None:
    reply = {
        "authors": [
            read("Ada Lovelace", "Ada Lovelace"),
            read("Alan Turing", "by Ada Lovelace and Alan Turing"),
        ],
        "published": read("2024-01-05", "January 5, 2024"),
        "department": read("研发中心", "由研发中心发布"),
        "pages": read("1200", "1,200 pages"),
    }
    values, notes, chat = await extracted(reply)
    assert values == {
        "authors": ["Ada Lovelace", "Alan Turing"],
        "published": "2024-01-05",
        "department": "研发中心",
        "pages": 1200,
    }
    assert len(notes) == 4
    assert all("extracted by the model" in note for note in notes)
    ((messages, schema),) = chat.asked
    assert "tenant" not in messages[1].content
    assert "Ada Lovelace" in messages[1].content
    jsonschema.validate(reply, schema or {})


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        ({"department": read("Sales", "the sales team")}, "does not stand in the text"),
        ({"department": read("Sales", "")}, "does not stand in the text"),
        ({"department": read("Sales", "Ada Lovelace")}, "does not say 'Sales'"),
        ({"published": read("2023-01-05", "January 5, 2024")}, "does not say '2023-01-05'"),
        ({"published": read("2024-13-45", "January 5, 2024")}, "is not a day"),
        ({"pages": read("12", "Ada Lovelace")}, "does not say '12'"),
        ({"department": "Sales"}, "not as asked"),
        ({"department": {"value": 1, "words": "Ada"}}, "not as asked"),
        ("no JSON", "no JSON object"),
        ("[]", "no JSON object"),
        ({"tenant": read("Ada Lovelace", "Ada Lovelace")}, None),
    ],
)
async def test_what_it_does_not_state_is_dropped(reply: Any, told: str | None) -> None:
    values, notes, _ = await extracted(reply)
    assert values == {}
    assert [told] == [told for note in notes if told and told in note] if told else not notes


async def test_the_author_is_never_overridden() -> None:
    reply = {"department": read("研发中心", "研发中心"), "pages": None}
    values, _, chat = await extracted(reply, "department", "pages", department="HR", pages=0)
    assert values == {"department": "HR", "pages": 0}
    assert not chat.asked
    values, _, _ = await extracted(reply, "department", "pages", department="", pages=None)
    assert values["department"] == "研发中心"


async def test_an_access_field_is_never_asked_for() -> None:
    for name in ("tenant", "Tenant", "client"):
        _, _, chat = await extracted({}, name)
        assert not chat.asked


async def test_a_closed_schema_takes_known_values_only() -> None:
    reply = {"department": read("Gateway 2.0", "Gateway 2.0")}
    values, notes, chat = await extracted(reply, "department", closed=True)
    assert values == {}
    assert "none of the known values" in notes[0]
    (_, schema) = chat.asked[0]
    assert "研发中心" in json.dumps(schema, ensure_ascii=False)
    values, _, _ = await extracted({"department": read("hr", "Ada")}, "department", closed=True)
    assert values == {"department": "HR"}


async def test_an_outage_is_no_note() -> None:
    with pytest.raises(ModelUnavailable):
        await extracted(ModelUnavailable("gone"))


async def test_nothing_is_asked_where_nothing_is_named() -> None:
    chat = ScriptedChat({})
    done = await extract([document()], FIELDS, IngestOptions(), chat)
    assert (done.drafts, chat.asked) == ((document(),), [])


def test_the_beginning_is_put_together_without_repeats() -> None:
    text = "".join(f"Sentence number {number}. " for number in range(300))
    start = beginning(document(text))
    assert len(start) == NEAR_TOP
    assert text.startswith(start.replace("\n", " ")[:500])
    numbers = [int(number) for number in re.findall(r"number (\d+)\.", start)]
    assert numbers == list(range(len(numbers)))


def test_the_reply_schema_is_one() -> None:
    schema = reply_schema(FIELDS, closed=True)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert set(schema["required"]) == set(NAMES)
