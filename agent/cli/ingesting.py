"""The command that takes documents in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agent.cli.session import Json, Kb, show, show_json, with_agent

if TYPE_CHECKING:
    from agent.app import Agent
    from agent.ingest.report import IngestReport


def ingest(
    paths: Annotated[list[Path], typer.Argument(help="Folders or files.")],
    kb: Kb = None,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", help="A tag for every document; may be repeated.")
    ] = None,
    prune: Annotated[
        bool, typer.Option("--prune", help="Delete documents whose file is gone.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Load documents into a knowledge base; unchanged ones are skipped."""
    from agent.cli.progress import IngestBar

    async def work(agent: Agent) -> IngestReport:
        with IngestBar() as bar:
            return await agent.ingest(
                paths, kb=kb, tags=tuple(tag or ()), prune=prune, on_progress=bar.update
            )

    report = with_agent(work)
    show_json(report) if as_json else show(report_text(report))
    if report.failed:
        raise typer.Exit(1)


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
    lines += [f"skipped {entry.file}: {entry.reason}" for entry in report.skipped]
    lines += [f"note {entry.file}: {entry.message}" for entry in report.notes]
    lines += [f"failed {entry.file}: {entry.reason}" for entry in report.failed]
    return "\n".join(lines)
