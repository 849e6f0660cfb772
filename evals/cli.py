"""The commands `facetwise eval ...`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Any

import typer

from agent.cli.session import Json, Kb, note, show, show_json

eval_ = typer.Typer(
    name="eval",
    help="Measure planned filters, retrieval and answers on suites of questions.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Corpus = Annotated[
    Path | None, typer.Option("--corpus", help="Passages with metadata (JSON Lines).")
]
CollectionFile = Annotated[
    Path | None, typer.Option("--collection", help="Describes the collection that cases name.")
]
Models = Annotated[list[str] | None, typer.Option("--model", help="A chat model; may be repeated.")]
Baselines = Annotated[
    list[str] | None, typer.Option("--baseline", help="A further arm; may be repeated.")
]
Limit = Annotated[
    int | None, typer.Option("--limit", min=1, help="Cases of each suite, evenly taken.")
]
Out = Annotated[
    Path | None, typer.Option("--out", help="Run folder; default below the data folder.")
]


def register(app: typer.Typer) -> None:
    """Add the commands to the program (entry point `facetwise.commands`)."""
    app.add_typer(eval_)


@eval_.command()
def filters(
    suites: Annotated[
        list[Path] | None, typer.Argument(help="Suites; default: the one over the handbook.")
    ] = None,
    corpus: Corpus = None,
    kb: Kb = None,
    collection: CollectionFile = None,
    model: Models = None,
    baseline: Baselines = None,
    limit: Limit = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Plan a filter for every question, and compare it with the right one.

    Baselines: plain, link_only.
    """
    from agent.cli.progress import DownloadBar
    from evals.filters import FilterRun, run_filters
    from evals.progress import RunProgress
    from evals.tables import filters_text

    run = FilterRun(
        suites=tuple(suites or ()),
        corpus=corpus,
        kb=kb,
        collection=collection,
        models=tuple(model or ()),
        baselines=tuple(baseline or ()),
        limit=limit,
        out=out,
    )

    async def work() -> dict[str, Any]:
        with DownloadBar() as bar:
            return await run_filters(
                run, on_progress=RunProgress(), notify=note, progress=bar.update
            )

    summary = asyncio.run(work())
    show_json(summary) if as_json else show(filters_text(summary))
