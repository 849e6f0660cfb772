"""The command that takes documents in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agent.cli.session import Json, Kb, note, show, show_json, with_agent

if TYPE_CHECKING:
    from agent.app import Agent
    from agent.ingest.report import FileReason, IngestReport

MOST_SHOWN = 50

Round = Callable[[], Awaitable["IngestReport"]]


def ingest(
    paths: Annotated[list[Path], typer.Argument(help="Folders or files.")],
    kb: Kb = None,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", help="A tag for every document; may be repeated.")
    ] = None,
    type_map: Annotated[
        Path | None, typer.Option("--type-map", help="A YAML file: how files of a kind are read.")
    ] = None,
    schema: Annotated[
        Path | None, typer.Option("--schema", help="A YAML file: fields and rules, applied first.")
    ] = None,
    prune: Annotated[
        bool, typer.Option("--prune", help="Delete documents whose file is gone.")
    ] = False,
    adopt: Annotated[
        bool, typer.Option("--adopt", help="Take over documents of a folder that has moved.")
    ] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Go on, and ingest again whenever a file changes.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Load documents into a knowledge base; unchanged ones are skipped."""
    from agent.cli.progress import IngestBar
    from agent.ingest.declared_schema import load_schema

    declared = load_schema(schema) if schema else None

    async def work(agent: Agent) -> IngestReport | None:
        async def once() -> IngestReport:
            with IngestBar() as bar:
                return await agent.ingest(
                    paths,
                    kb=kb,
                    tags=tuple(tag or ()),
                    type_map=type_map,
                    schema=declared,
                    prune=prune,
                    adopt=adopt,
                    on_progress=bar.update,
                )

        if not watch:
            return await once()
        await _watch(paths, once, as_json=as_json)
        return None

    try:
        report = with_agent(work)
    except KeyboardInterrupt:
        if not watch:
            raise
        return
    if report is not None:
        _tell(report, as_json=as_json)
        if report.failed:
            raise typer.Exit(1)


async def _watch(paths: Sequence[Path], once: Round, *, as_json: bool) -> None:
    """One run after the other; an error of one, after the first, is told and waited out."""
    from agent.ingest.watch import watching
    from schemas.errors import FacetwiseError

    async with watching(paths, _is_document) as watched:
        _tell(await once(), as_json=as_json)
        note("watching; Ctrl-C ends it")
        while True:
            await watched.changed()
            try:
                report = await once()
            except FacetwiseError as error:
                note(f"error: {error}")
                continue
            if report.added or report.replaced or report.pruned or report.failed:
                _tell(report, as_json=as_json)


def _is_document(path: Path) -> bool:
    """Anything but what editors and this program leave beside documents for a moment."""
    return bool(path.suffix) and not path.name.endswith(("~", ".tmp", ".swp", ".part", ".lock"))


def _tell(report: IngestReport, *, as_json: bool) -> None:
    show_json(report) if as_json else show(report_text(report))


def report_text(report: IngestReport) -> str:
    """The table of what happened, then every failure with its reason."""
    counts = {
        "added": len(report.added),
        "replaced": len(report.replaced),
        "unchanged": len(report.unchanged),
        "skipped": len(report.skipped),
        "pruned": len(report.pruned),
        "failed": len(report.failed),
    }
    lines = [f"{name:<10} {count:>6}" for name, count in counts.items()]
    lines.append(f"{'passages':<10} {report.chunks:>6}")
    took = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in report.seconds.items())
    lines.append(f"took {took}; peak memory {(report.peak_rss_bytes or 0) / 1e6:.0f} MB")
    notes = [
        f"note {entry.file}{_line(entry.line)}: {entry.message}"
        if entry.field is None
        else f"note {entry.file}{_line(entry.line)}: {entry.field}: {entry.message}"
        for entry in report.notes
    ]
    lines += _most([_reason("skipped", entry) for entry in report.skipped], "skipped")
    lines += _most(notes, "notes")
    lines += _most([_reason("failed", entry) for entry in report.failed], "failed")
    return "\n".join(lines)


def _reason(what: str, entry: FileReason) -> str:
    remedy = f" ({entry.remedy})" if entry.remedy else ""
    return f"{what} {entry.file}{_line(entry.line)}: {entry.reason}{remedy}"


def _line(line: int | None) -> str:
    return "" if line is None else f", line {line}"


def _most(lines: list[str], what: str) -> list[str]:
    if len(lines) <= MOST_SHOWN:
        return lines
    more = f"… and {len(lines) - MOST_SHOWN} more {what}; --json names all"
    return [*lines[:MOST_SHOWN], more]
