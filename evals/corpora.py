"""Passages with metadata, from a file of JSON Lines or from a knowledge base."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from evals.suites import json_lines
from schemas.errors import UsageError


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str | int
    text: str = ""
    title: str = ""
    metadata: Mapping[str, JsonValue] = Field(default_factory=dict)


@dataclass(frozen=True)
class Row:
    """One passage; `doc_id` is its own id where the corpus knows no documents."""

    id: str
    doc_id: str
    title: str
    text: str
    metadata: Mapping[str, JsonValue]


def read_corpus(path: Path) -> tuple[Row, ...]:
    """UsageError names file and line of the first thing that is wrong."""
    found: dict[str, Row] = {}
    for at, obj in json_lines(path):
        try:
            row = _Row.model_validate(obj)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(map(str, first["loc"]))
            raise UsageError(f"{at}: {where}: {first['msg']}") from error
        id_ = str(row.id)
        if id_ in found:
            raise UsageError(f"{at}: the id {id_!r} stands in the corpus twice")
        title = row.title or str(row.metadata.get("title") or "")
        found[id_] = Row(id_, id_, title, row.text, row.metadata)
    if not found:
        raise UsageError(f"{path} holds no passage")
    return tuple(found.values())


def beside(suite: Path, collection: str) -> Path | None:
    """`NAME.corpus.jsonl` beside a suite, if it is there."""
    path = suite.parent / f"{collection}.corpus.jsonl"
    return path if path.is_file() else None
