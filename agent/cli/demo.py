"""The demo: the bundled handbook, three questions that need filters, their answers."""

from __future__ import annotations

import asyncio
import time
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agent.cli.session import note, show, with_agent

if TYPE_CHECKING:
    from agent.app import Agent
    from schemas.answers import Answer

KB = "handbook"
QUESTIONS = (
    "What is the domestic per diem according to the official Finance documents of 2024?",
    "How many days a week may employees work remotely according to HR policies since 2024?",
    "研发中心2024年的故障处理文档里，采集服务启动失败时应该先做什么？",
)


def demo(
    question: Annotated[str | None, typer.Argument(help="Ask this instead.")] = None,
) -> None:
    """Load the bundled handbook and answer three questions with filters and citations."""
    started = time.monotonic()
    answers = with_agent(lambda agent: _run(agent, (question,) if question else QUESTIONS))
    note(f"({time.monotonic() - started:.0f} s)")
    if not question:
        show(_what_next())
    if not all(answer.cited for answer in answers):
        raise typer.Exit(1)


async def _run(agent: Agent, questions: tuple[str, ...]) -> list[Answer]:
    from agent.cli.ingesting import report_text
    from agent.cli.progress import IngestBar

    endpoint = await agent.backends.chat()
    note(f"model: {endpoint}; embeddings: {await agent.backends.embedding()}")
    warming = asyncio.create_task(agent.warm())
    with IngestBar() as bar, resources.as_file(resources.files("agent.data") / KB) as folder:
        report = await agent.ingest([Path(folder)], kb=KB, on_progress=bar.update)
    note(report_text(report))
    note("reading the instructions of every plan into the model")
    await warming
    answers = []
    for question in questions:
        answers.append(await agent.ask(question, kb=KB))
        show(_shown(answers[-1]))
    return answers


def _shown(answer: Answer) -> str:
    from agent.cli.printing import about, filter_text, plan_text, references_text, snippet

    dumped = answer.model_dump(mode="json")
    passages = [
        f"  [{hit.number}] {hit.title}: {snippet(hit.text)}\n      {about(hit.metadata)}"
        for hit in answer.references
    ]
    return "\n".join(
        [
            f"\n══ {answer.question}",
            plan_text(answer.plan),
            "",
            filter_text(dumped["filter"]),
            "passages:",
            *passages,
            "",
            f"answer: {answer.text}",
            "",
            references_text(dumped["references"], dumped["cited"]),
        ]
    )


def _what_next() -> str:
    return (
        '\nAsk on:        scripts/demo "your question"\n'
        '               .venv/bin/facetwise ask "your question" --kb handbook\n'
        "In a browser:  .venv/bin/facetwise serve, then http://127.0.0.1:8300/docs\n"
        "Your own:      .venv/bin/facetwise ingest FOLDER --kb NAME"
    )
