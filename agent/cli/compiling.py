"""The command that says a filter in another language."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from agent.cli.session import read_collection, show

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
) -> None:
    """Read a canonical filter on stdin, check it, and print it in another language."""
    from agent.store.described import as_stored
    from schemas.check import bind
    from schemas.compile import dify, ragflow
    from schemas.compile.jsonschema import to_jsonschema
    from schemas.compile.milvus import Dialect, to_milvus
    from schemas.compile.text import to_text
    from schemas.errors import FilterError
    from schemas.filters import parse_filter

    described = as_stored(read_collection(collection))
    if to == "jsonschema":
        show(json.dumps(to_jsonschema(described), ensure_ascii=False, indent=2))
        return
    try:
        decoded = json.load(sys.stdin)
    except json.JSONDecodeError as error:
        raise FilterError(f"stdin is not JSON: {error.msg} at character {error.pos}") from error
    asked = parse_filter(decoded)
    bound = bind(asked, described)
    match to:
        case "milvus":
            show(to_milvus(bound, Dialect(dialect)))
        case "ragflow":
            show(json.dumps(ragflow.export_filter(asked), ensure_ascii=False))
        case "dify":
            show(json.dumps(dify.export_condition(asked), ensure_ascii=False))
        case "text":
            show(to_text(asked, described, "en"))
        case "text-zh":
            show(to_text(asked, described, "zh"))
