"""`eval answers`: answers from given passages, or from a knowledge base."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from agent.ingest.splitting import Splitter, outline
from agent.settings import Settings
from evals.answer_scores import Answered, judge, summarise
from evals.answer_suites import AnswerCase, AnswerSuite, load_answer_suite
from evals.arms.arm import as_trace
from evals.corpora import Row
from evals.crew import Crew, engine_of
from evals.environment import environment
from evals.fingerprints import SEARCHING, code_digest, digest
from evals.knowledge import stock
from evals.runs import OnProgress, Record, RunFolder, Task, run_whole
from evals.watched import WatchedAgent
from schemas.collection import Collection, Field, FieldType
from schemas.errors import UsageError
from schemas.filters import Compare, Op
from schemas.plan import Mode

CASE = "case"
ARM = "ask"


@dataclass(frozen=True)
class AnswerRun:
    """What `eval answers` was asked for. With `kb`, that knowledge base is asked, filters are
    planned, and contexts of the cases are not used.
    """

    suites: tuple[Path, ...]
    kb: str | None = None
    models: tuple[str, ...] = ()
    limit: int | None = None
    out: Path | None = None

    def command(self) -> dict[str, JsonValue]:
        return {
            "eval": "answers",
            "suites": [str(path) for path in self.suites],
            "kb": self.kb,
            "models": [*self.models],
            "limit": self.limit,
        }


@dataclass(frozen=True)
class _Asked:
    """One case of one suite, and the knowledge base with its passages."""

    suite: str
    kb: str
    case: AnswerCase
    given: bool

    @property
    def key(self) -> str:
        return f"{self.suite}/{self.case.id}"


async def run_answers(run: AnswerRun, crew: Crew, on_progress: OnProgress) -> dict[str, Any]:
    """The summary; the run folder holds it, too, with cases and environment."""
    suites = [load_answer_suite(path) for path in run.suites]
    asked = [one for suite in suites for one in _sampled(suite, run)]
    if run.kb is None:
        await _stock(crew.free, asked)
    name = "answers-" + "-".join(suite.name for suite in suites)
    folder = RunFolder(run.out or crew.settings.paths.data / "evals" / name[:120])
    agents = await crew.of(run.models)
    facts = await crew.facts(agents)
    versions = {
        kb: (await crew.free.describe(kb)).version for kb in dict.fromkeys(one.kb for one in asked)
    }
    made_under = environment(
        command=run.command(),
        models=facts,
        collections=versions,
        engine=await engine_of(crew.free),
        code=code_digest(SEARCHING),
    )
    tasks = [
        _task(one, agent, facts[agent.settings.models.chat], versions[one.kb])
        for agent in agents
        for one in asked
    ]
    names = [agent.settings.models.chat for agent in agents]
    return await run_whole(
        folder, made_under, tasks, lambda records: _summary(records, names), on_progress
    )


def _summary(records: Sequence[Record], names: Sequence[str]) -> dict[str, Any]:
    """Of the first model; where there are several, all stand under `models`."""
    models = {
        name: {**summarise([record for record in records if record.model == name]), "model": name}
        for name in names
    }
    first = next(iter(models.values()))
    return {**first, "models": models} if len(models) > 1 else first


def _sampled(suite: AnswerSuite, run: AnswerRun) -> list[_Asked]:
    cases = suite.cases
    count = len(cases) if run.limit is None else min(run.limit, len(cases))
    chosen = [cases[index * len(cases) // count] for index in range(count)]
    if run.kb is None:
        for case in chosen:
            if not case.contexts:
                raise UsageError(
                    f"{suite.path}: the case {case.id!r} brings no contexts",
                    remedy="name a knowledge base to ask with --kb",
                )
    kb = run.kb or f"eval-answers-{suite.name}"
    return [_Asked(suite.name, kb, case, given=run.kb is None) for case in chosen]


async def _stock(agent: WatchedAgent, asked: Sequence[_Asked]) -> None:
    """One knowledge base per suite; a field says to which case a passage belongs."""
    fields = (Field(name=CASE, type=FieldType.STRING),)
    for kb in dict.fromkeys(one.kb for one in asked):
        rows = [row for one in asked if one.kb == kb for row in _rows(one, agent.settings)]
        await stock(agent, kb, rows, Collection(name=kb, fields=fields))


def _rows(asked: _Asked, settings: Settings) -> list[Row]:
    """The contexts of a case, split as documents are."""
    splitter = Splitter(settings.ingest.chunk_size, settings.ingest.chunk_overlap)
    rows: list[Row] = []
    for context in {one.id: one for one in asked.case.contexts}.values():
        doc_id = f"{digest(asked.key)}/{context.id}"
        for chunk in splitter.split(context.text, outline(context.text), context.title):
            rows.append(
                Row(
                    f"{doc_id}#{chunk.index}",
                    doc_id,
                    context.title or context.id,
                    chunk.text,
                    {CASE: asked.key},
                )
            )
    return rows


def _task(
    asked: _Asked, agent: WatchedAgent, served: Mapping[str, JsonValue], version: str
) -> Task:
    case, settings = asked.case, agent.settings
    parts: dict[str, JsonValue] = {
        "case": [asked.key, case.question, [*case.history]],
        "contexts": [[one.id, one.title, one.text] for one in case.contexts],
        "kb": None if asked.given else [asked.kb, version],
        "model": settings.models.chat,
        "served": dict(served),
        "writer": settings.answer.model_dump(mode="json"),
        "ranking": settings.rag.model_dump(mode="json"),
        "embedding": settings.models.embedding,
        "code": code_digest(SEARCHING),
    }

    async def work() -> Mapping[str, JsonValue]:
        return (await _answered(asked, agent)).model_dump(mode="json")

    def judged(result: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
        return judge(case.answerable, Answered.model_validate(result))

    return Task(
        key=digest(parts),
        suite=asked.suite,
        id=case.id,
        arm=ARM,
        model=settings.models.chat,
        question=case.question,
        tags=case.tags,
        work=work,
        judge=judged,
    )


async def _answered(asked: _Asked, agent: WatchedAgent) -> Answered:
    how: dict[str, Any] = {}
    if asked.given:
        own = Compare(op=Op.EQ, field=CASE, value=asked.key)
        how = {"mode": Mode.MANUAL, "filter": own}
    agent.watched.taken()
    began = time.perf_counter()
    answer = await agent.ask(asked.case.question, kb=asked.kb, history=asked.case.history, **how)
    ms = (time.perf_counter() - began) * 1000
    return Answered(
        text=answer.text,
        passages=tuple(one.text for one in answer.references),
        ids=tuple(one.doc_id for one in answer.references),
        writer=answer.model,
        ms=round(ms, 1),
        detail={
            "result": answer.filter.result.value,
            "filter": answer.filter.text,
            "cited": [*answer.cited],
            "timings_ms": dict(answer.timings_ms),
        },
        calls=tuple(as_trace(call) for call in agent.watched.taken()),
    )
