"""Commands that put a knowledge base into a file and make one of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agent.cli.session import Json, Kb, show, show_json, with_agent


def backup(
    file: Annotated[Path, typer.Argument(help="Where to write it; an older backup is replaced.")],
    kb: Kb = None,
    as_json: Json = False,
) -> None:
    """Write a knowledge base to one file: documents, passages, vectors, versions, settings."""
    documents = with_agent(lambda agent: agent.backup(file, kb))
    size = file.stat().st_size
    if as_json:
        show_json({"file": str(file), "documents": documents, "bytes": size})
    else:
        show(f"{file}: {documents} documents, {size / 1e6:.1f} MB")


def restore(
    file: Annotated[Path, typer.Argument(help="A file that `backup` has written.")],
    kb: Annotated[
        str | None, typer.Option("--kb", help="Another name for it; default is its own.")
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Take the place of the one of this name.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Make a knowledge base of a backup; nothing is embedded again."""
    name = with_agent(lambda agent: agent.restore_backup(file, kb, replace=replace))
    if as_json:
        show_json({"file": str(file), "kb": name})
    else:
        show(f"knowledge base {name!r} is restored")
