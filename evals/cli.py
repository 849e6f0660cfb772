"""The commands `facetwise eval ...`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agent.cli.session import Json, Kb, note, show, show_json

if TYPE_CHECKING:
    from evals.crew import Crew
    from evals.runs import OnProgress

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
    from evals.filters import FilterRun, run_filters
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

    summary = _run(lambda crew, on_progress: run_filters(run, crew, on_progress))
    show_json(summary) if as_json else show(filters_text(summary))


@eval_.command()
def retrieval(
    suites: Annotated[list[Path], typer.Argument(help="Suites whose cases name relevant ids.")],
    corpus: Corpus = None,
    kb: Kb = None,
    collection: CollectionFile = None,
    model: Models = None,
    baseline: Baselines = None,
    limit: Limit = None,
    id_field: Annotated[
        str | None,
        typer.Option("--id-field", help="Relevant ids are values of this field, not documents."),
    ] = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Search under planned filters, and compare what is found with other ways of searching.

    Baselines: unfiltered, gold, bm25, metadata_in_text (these four by default), plain, link_only.
    """
    from evals.retrieval import RetrievalRun, run_retrieval
    from evals.tables import retrieval_text

    run = RetrievalRun(
        suites=tuple(suites),
        corpus=corpus,
        kb=kb,
        collection=collection,
        models=tuple(model or ()),
        baselines=tuple(baseline or ()),
        limit=limit,
        id_field=id_field,
        out=out,
    )
    summary = _run(lambda crew, on_progress: run_retrieval(run, crew, on_progress))
    show_json(summary) if as_json else show(retrieval_text(summary))


@eval_.command()
def answers(
    suites: Annotated[list[Path], typer.Argument(help="Suites of questions with passages.")],
    kb: Kb = None,
    model: Models = None,
    limit: Limit = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Answer from the passages that each case brings (or from a knowledge base), and judge
    citations, support and declines.
    """
    from evals.answers import AnswerRun, run_answers
    from evals.tables import answers_text

    run = AnswerRun(suites=tuple(suites), kb=kb, models=tuple(model or ()), limit=limit, out=out)
    summary = _run(lambda crew, on_progress: run_answers(run, crew, on_progress))
    show_json(summary) if as_json else show(answers_text(summary))


def _run(
    work: Callable[[Crew, OnProgress], Awaitable[dict[str, Any]]],
) -> dict[str, Any]:
    from agent.cli.progress import DownloadBar
    from evals.crew import Crew
    from evals.progress import RunProgress

    async def main() -> dict[str, Any]:
        with DownloadBar() as bar:
            async with Crew(notify=note, progress=bar.update) as crew:
                return await work(crew, RunProgress())

    return asyncio.run(main())
