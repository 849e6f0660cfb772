"""The commands that take a question: plan, search, ask."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agent.cli.session import (
    FilterOption,
    Json,
    Kbs,
    KeysOption,
    KeywordsOption,
    LanguagesOption,
    ModeOption,
    PolicyOption,
    TagsOption,
    TodayOption,
    UseKgOption,
    note,
    parse_enhancements,
    parse_filter_option,
    parse_kbs,
    parse_keys,
    parse_policy,
    parse_today,
    read_collection,
    show,
    show_json,
    with_agent,
)

if TYPE_CHECKING:
    from agent.app import Agent

Question = Annotated[str, typer.Argument(help="The question, in plain words.")]
Top = Annotated[int | None, typer.Option("--top", min=1, max=1000, help="Passages at the most.")]


def plan(
    question: Question,
    kb: Kbs = None,
    collection: Annotated[
        Path | None, typer.Option("--collection", help="A described collection (JSON), no store.")
    ] = None,
    mode: ModeOption = None,
    keys: KeysOption = None,
    filter_: FilterOption = None,
    history: Annotated[
        list[str] | None, typer.Option("--history", help="An earlier turn; may be repeated.")
    ] = None,
    today: TodayOption = None,
    as_json: Json = False,
) -> None:
    """Turn a question into a checked filter, without searching."""
    from agent.cli.printing import plan_text

    options: dict[str, Any] = {
        **_common(kb, mode, keys, filter_, today),
        "history": tuple(history or ()),
        "collection": read_collection(collection) if collection else None,
    }
    made = with_agent(lambda agent: agent.plan(question, **options))
    show_json(made) if as_json else show(plan_text(made))


def search(
    question: Question,
    kb: Kbs = None,
    filter_: FilterOption = None,
    mode: ModeOption = None,
    keys: KeysOption = None,
    top: Top = None,
    keywords: KeywordsOption = None,
    languages: LanguagesOption = None,
    tags: TagsOption = None,
    use_kg: UseKgOption = None,
    policy: PolicyOption = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Scores by part, what was removed, timings.")
    ] = False,
    today: TodayOption = None,
    as_json: Json = False,
) -> None:
    """Find passages under the planned filter."""
    from agent.cli.printing import search_text

    options = {
        **_common(kb, mode, keys, filter_, today),
        "top": top,
        "explain": explain,
        "enhance": parse_enhancements(keywords, languages, tags, use_kg),
        "policy": parse_policy(policy),
    }
    result = with_agent(lambda agent: agent.search(question, **options))
    show_json(result) if as_json else show(search_text(result))


def ask(
    question: Question,
    kb: Kbs = None,
    thread: Annotated[
        str | None, typer.Option("--thread", help="Keep a conversation under this name.")
    ] = None,
    filter_: FilterOption = None,
    mode: ModeOption = None,
    keys: KeysOption = None,
    top: Top = None,
    keywords: KeywordsOption = None,
    languages: LanguagesOption = None,
    tags: TagsOption = None,
    use_kg: UseKgOption = None,
    policy: PolicyOption = None,
    today: TodayOption = None,
    as_json: Json = False,
) -> None:
    """Answer a question with citations."""
    options = {
        **_common(kb, mode, keys, filter_, today),
        "top": top,
        "thread": thread,
        "enhance": parse_enhancements(keywords, languages, tags, use_kg),
        "policy": parse_policy(policy),
    }
    if as_json:
        show_json(with_agent(lambda agent: agent.ask(question, **options)))
        return
    with_agent(lambda agent: _streamed(agent, question, options))


async def _streamed(agent: Agent, question: str, options: dict[str, Any]) -> None:
    from agent.cli.printing import filter_text, problems_text, references_text
    from schemas.answers import EventKind

    async for event in agent.stream(question, **options):
        data: Any = event.data
        match event.kind:
            case EventKind.STAGE:
                note(f"… {data['stage']}")
            case EventKind.TEXT:
                sys.stdout.write(data)
                sys.stdout.flush()
            case EventKind.FILTER:
                show(f"\n\n{filter_text(data)}")
            case EventKind.REFERENCES:
                show(references_text(data["references"], data["cited"]))
            case EventKind.DONE:
                for line in problems_text(one["message"] for one in data["problems"]):
                    show(line)
            case EventKind.PLAN | EventKind.ERROR:
                continue


def _common(
    kb: list[str] | None,
    mode: str | None,
    keys: str | None,
    filter_: str | None,
    today: str | None,
) -> dict[str, Any]:
    from schemas.plan import Mode

    return {
        "kbs": parse_kbs(kb),
        "mode": Mode(mode) if mode else None,
        "keys": parse_keys(keys),
        "filter": parse_filter_option(filter_),
        "today": parse_today(today),
    }
