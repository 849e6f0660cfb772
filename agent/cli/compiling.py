"""The command that says a filter in another language."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from agent.cli.session import Json, decode_json, read_collection, show, show_json

if TYPE_CHECKING:
    from schemas.check import Bound
    from schemas.collection import Collection
    from schemas.filters import Filter

Target = Literal["milvus", "ragflow", "dify", "text", "text-zh", "jsonschema"]
DialectName = Literal["lite", "v23", "v26", "v30"]


def compile_(
    collection: Annotated[
        Path, typer.Option("--collection", help="The described collection (JSON).")
    ],
    to: Annotated[Target, typer.Option("--to", help="The language to say it in.")],
    dialect: Annotated[
        DialectName, typer.Option("--dialect", help="Of the Milvus expression.")
    ] = "lite",
    as_json: Json = False,
) -> None:
    """Read a canonical filter on stdin, check it, and print it in another language."""
    from agent.store.described import as_stored

    said = _said(as_stored(read_collection(collection)), to, dialect)
    if as_json:
        show_json({"to": to, "result": said})
    else:
        show(said if isinstance(said, str) else json.dumps(said, ensure_ascii=False))


def _said(collection: Collection, to: Target, dialect: DialectName) -> Any:
    from schemas.check import bind
    from schemas.compile import dify, ragflow
    from schemas.compile.jsonschema import to_jsonschema
    from schemas.compile.milvus import Dialect, to_milvus
    from schemas.compile.text import to_text

    if to == "jsonschema":
        return to_jsonschema(collection)
    asked = _read_filter()
    bound = bind(asked, collection)
    for note in (*bound.notes, *_remarks(bound)):
        sys.stderr.write(f"note: {note}\n")
    match to:
        case "milvus":
            return to_milvus(bound, Dialect(dialect))
        case "ragflow":
            return ragflow.export_filter(asked)
        case "dify":
            return dify.export_condition(asked)
        case "text":
            return to_text(asked, collection, "en")
        case "text-zh":
            return to_text(asked, collection, "zh")


def _read_filter() -> Filter:
    from schemas.filters import parse_filter

    return parse_filter(decode_json("stdin", sys.stdin.read()))


def _remarks(bound: Bound) -> list[str]:
    from schemas.compile.text import to_text
    from schemas.facts import is_contradiction, is_tautology, subsumed
    from schemas.filters import EVERYTHING

    if is_contradiction(bound):
        return ["no document can match"]
    if is_tautology(bound):
        return [] if bound.root == EVERYTHING else ["every document matches"]
    return [f"adds nothing: {to_text(part, bound.collection)}" for part in subsumed(bound)]
