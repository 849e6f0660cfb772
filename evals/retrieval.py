"""`eval retrieval`: what is found under planned filters, against the right ones and none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from agent.settings import Settings
from evals.arms.planned import PLANNED
from evals.arms.retrieved import (
    DEFAULT_ARMS,
    GOLD,
    METADATA_IN_TEXT,
    RETRIEVAL_ARMS,
    Bm25Arm,
    RetrievalArm,
    Retrieved,
    SearchArm,
    named,
)
from evals.corpora import Row
from evals.crew import Crew, engine_of
from evals.environment import environment
from evals.filters import arm_names, default_folder
from evals.fingerprints import SEARCHING, code_digest, collection_digest, digest
from evals.knowledge import stock
from evals.retrieval_scores import Named, judge, losses, summarise
from evals.runs import OnProgress, Record, RunFolder, Task, run_whole
from evals.sources import Sources, load_suites
from evals.suites import Case, Suite, sampled
from evals.watched import WatchedAgent
from schemas.collection import Collection
from schemas.errors import UsageError
from schemas.filters import to_json


@dataclass(frozen=True)
class RetrievalRun:
    """What `eval retrieval` was asked for. Cases without relevant ids are left out. `id_field`:
    the relevant ids are values of this field rather than ids of documents.
    """

    suites: tuple[Path, ...]
    corpus: Path | None = None
    kb: str | None = None
    collection: Path | None = None
    models: tuple[str, ...] = ()
    baselines: tuple[str, ...] = ()
    limit: int | None = None
    id_field: str | None = None
    out: Path | None = None

    def command(self) -> dict[str, JsonValue]:
        return {
            "eval": "retrieval",
            "suites": [str(path) for path in self.suites],
            "corpus": str(self.corpus) if self.corpus else None,
            "kb": self.kb,
            "collection": str(self.collection) if self.collection else None,
            "models": [*self.models],
            "baselines": [*self.baselines],
            "limit": self.limit,
            "id_field": self.id_field,
        }


@dataclass(frozen=True)
class _Shelf:
    """The knowledge base of a run with its collection as it is stored, and its passages."""

    kb: str
    collection: Collection
    passages: tuple[Row, ...]
    id_field: str | None
    weights: Mapping[str, JsonValue] = field(default_factory=dict)

    @cached_property
    def names(self) -> Named:
        """What the suite calls the document of each passage, with its metadata."""
        return [
            (named(row.doc_id, row.metadata, self.id_field), row.metadata) for row in self.passages
        ]

    @cached_property
    def digest(self) -> str:
        return digest(
            [
                self.kb,
                self.id_field,
                collection_digest(self.collection),
                dict(self.weights),
                [[row.doc_id, row.text] for row in self.passages],
            ]
        )


async def run_retrieval(run: RetrievalRun, crew: Crew, on_progress: OnProgress) -> dict[str, Any]:
    """The summary; the run folder holds it, too, with cases and environment."""
    names = arm_names(run.baselines or DEFAULT_ARMS, RETRIEVAL_ARMS)
    sources = Sources(crew.free, collection=run.collection, kb=run.kb, corpus=run.corpus)
    suites = await load_suites(run.suites, sources)
    cases = _with_relevant(suites, run.limit)
    shelf = await _shelf(run, crew.free, sources, suites, cases)
    _check_relevant(cases, shelf)
    cases = [replace(case, collection=shelf.collection, kb=shelf.kb) for case in cases]
    folder = RunFolder(run.out or default_folder(crew.settings, "retrieval", suites))
    agents = await crew.of(run.models)
    facts = await crew.facts(agents)
    weights = _weights(crew.settings)
    shelf = replace(shelf, weights=weights)
    arms = [
        *(SearchArm(PLANNED, agent, shelf.kb, id_field=run.id_field) for agent in agents),
        *[await _arm(name, shelf, agents[0], crew.free) for name in names if name != PLANNED],
    ]
    made_under = environment(
        command={**run.command(), "suites": [str(suite.path) for suite in suites]},
        models=facts,
        collections={shelf.kb: shelf.collection.version},
        engine=await engine_of(crew.free),
        code=code_digest(SEARCHING),
    )
    tasks = [
        _task(case, arm, shelf, facts.get(arm.model or "", {})) for arm in arms for case in cases
    ]
    return await run_whole(
        folder,
        made_under,
        tasks,
        lambda records: {**_summary(records, arms, len(cases)), "fusion": dict(weights)},
        on_progress,
    )


def _weights(settings: Settings) -> Mapping[str, JsonValue]:
    """How the legs of a search are weighed."""
    store = settings.store
    return {
        "method": store.fusion,
        "text": round(1 - store.dense_weight, 4),
        "vector": store.dense_weight,
    }


def _with_relevant(suites: Sequence[Suite], limit: int | None) -> list[Case]:
    found = [
        case
        for suite in suites
        for case in sampled([case for case in suite.cases if case.relevant], limit)
    ]
    if not found:
        raise UsageError("no case of these suites says what is relevant for it")
    return found


async def _shelf(
    run: RetrievalRun,
    agent: WatchedAgent,
    sources: Sources,
    suites: Sequence[Suite],
    cases: Sequence[Case],
) -> _Shelf:
    """The named knowledge base, or one made of the corpus."""
    if run.kb is not None:
        passages = await sources.passages(run.kb)
        return _Shelf(run.kb, await agent.describe(run.kb), passages, run.id_field)
    first = cases[0]
    if any(case.collection.name != first.collection.name for case in cases):
        raise UsageError("retrieval is measured over one collection at a time")
    suite = next(suite for suite in suites if suite.name == first.suite)
    rows = await sources.rows(first, suite)
    if rows is None:
        raise UsageError(
            f"there are no passages for the collection {first.collection.name!r}",
            remedy="name them with --corpus FILE or --kb NAME",
        )
    kb = f"eval-{first.collection.name}"
    await stock(agent, kb, rows, first.collection)
    return _Shelf(kb, await agent.describe(kb), rows, run.id_field)


def _check_relevant(cases: Sequence[Case], shelf: _Shelf) -> None:
    """Ids that nothing has would count as never found."""
    known = {name for name, _ in shelf.names}
    for case in cases:
        for id_ in case.relevant:
            if id_ not in known:
                raise UsageError(
                    f"{case.suite}, case {case.id!r}: nothing in {shelf.kb!r} is called {id_!r}",
                    remedy="if the relevant ids are values of a field, name it with --id-field",
                )


async def _arm(name: str, shelf: _Shelf, agent: WatchedAgent, free: WatchedAgent) -> RetrievalArm:
    match name:
        case "bm25":
            return Bm25Arm(shelf.passages, id_field=shelf.id_field)
        case "metadata_in_text":
            kb = f"{shelf.kb}-{METADATA_IN_TEXT}"
            await stock(free, kb, shelf.passages, shelf.collection, metadata_in_text=True)
            return SearchArm(name, free, kb, id_field=shelf.id_field)
        case "plain":
            return SearchArm(name, agent, shelf.kb, id_field=shelf.id_field)
        case _:
            return SearchArm(name, free, shelf.kb, id_field=shelf.id_field)


def _task(case: Case, arm: RetrievalArm, shelf: _Shelf, served: Mapping[str, JsonValue]) -> Task:
    parts: dict[str, JsonValue] = {
        "case": [case.suite, case.id, case.question, [*case.history], case.today.isoformat()],
        "gold": to_json(case.gold.first.filter) if arm.name == GOLD else None,
        "shelf": shelf.digest,
        "arm": arm.name,
        "model": arm.model,
        "served": dict(served),
        "code": code_digest(SEARCHING),
    }

    async def work() -> Mapping[str, JsonValue]:
        return (await arm.retrieve(case)).model_dump(mode="json")

    def judged(result: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
        return judge(case, Retrieved.model_validate(result), shelf.names)

    return Task(
        key=digest(parts),
        suite=case.suite,
        id=case.id,
        arm=arm.name,
        model=arm.model,
        question=case.question,
        tags=case.tags,
        work=work,
        judge=judged,
    )


def _summary(records: Sequence[Record], arms: Sequence[RetrievalArm], cases: int) -> dict[str, Any]:
    """The planned arm is that of the first model; those of further ones stand under `models`."""
    figures: dict[str, Any] = {}
    models: dict[str, Any] = {}
    planned: list[Record] = []
    for arm in arms:
        mine = [r for r in records if r.arm == arm.name and r.model == arm.model]
        if arm.name == PLANNED:
            planned = planned or mine
            models[str(arm.model)] = {**summarise(mine), **losses(mine)}
        figures.setdefault(arm.name, summarise(mine))
    summary = {"cases": cases, "arms": figures, **losses(planned), "model": planned[0].model}
    return {**summary, "models": models} if len(models) > 1 else summary
