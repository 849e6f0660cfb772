"""A collection, cases and models for the tests of evaluation."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evals.golds import parse_gold
from evals.suites import Case
from graph.ports import Completion, Message
from schemas.collection import Collection, Field, FieldType
from schemas.filters import Filter, parse_filter

PAPERS = Collection(
    name="papers",
    fields=(
        Field(name="author", type=FieldType.STRING, values=("Ada Lovelace", "Grace Hopper")),
        Field(name="year", type=FieldType.INT),
        Field(name="score", type=FieldType.NUMBER),
        Field(name="day", type=FieldType.DATE),
        Field(name="tags", type=FieldType.STRING_LIST, values=("maths", "engines")),
    ),
)


def leaf(op: str, field_: str, value: Any = None) -> dict[str, Any]:
    return {"op": op, "field": field_} | ({} if value is None else {"value": value})


def both(*of: Any) -> dict[str, Any]:
    return {"op": "and", "of": list(of)}


def either(*of: Any) -> dict[str, Any]:
    return {"op": "or", "of": list(of)}


def parsed(obj: Any) -> Filter:
    return parse_filter({"op": "and", "of": []} if obj is None else obj)


def case(gold: Any, accept: Any = None, **more: Any) -> Case:
    given: dict[str, Any] = {
        "suite": "s",
        "id": "1",
        "question": "What did Ada Lovelace write?",
        "collection": PAPERS,
        "gold": parse_gold(gold, accept, PAPERS),
    }
    return Case(**(given | more))


@dataclass
class Obedient:
    """A chat model that gives the first answer that a form allows, and counts its calls. `after`
    calls it fails as an outage would."""

    calls: list[Sequence[Message]] = field(default_factory=list)
    name: str = "obedient"
    fails_at: int | None = None
    error: Exception | None = None

    async def complete(
        self, messages: Sequence[Message], schema: Mapping[str, Any] | None = None
    ) -> Completion:
        if self.error is not None and len(self.calls) == self.fails_at:
            raise self.error
        self.calls.append(messages)
        asked = (schema or {}).get("properties", {})
        reply = {key: one["enum"][0] for key, one in asked.items()}
        return Completion(json.dumps(reply), self.name, prompt_tokens=100, output_tokens=10)

    async def stream(self, messages: Sequence[Message]) -> AsyncIterator[str]:
        self.calls.append(messages)
        yield "Nothing. [1]"


def write_lines(path: Path, *rows: Any) -> Path:
    path.write_text(
        "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)
    )
    return path
