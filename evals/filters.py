"""`eval filters`: the filters that are planned for the questions of suites."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from agent.settings import Settings
from evals.arms.arm import Arm, Attempt
from evals.arms.plain import PLAIN, PlainArm
from evals.arms.planned import LINK_ONLY, PLANNED, PlannedArm
from evals.crew import Crew, engine_of
from evals.environment import environment
from evals.filter_scores import judge, summarise
from evals.fingerprints import PLANNING, code_digest, collection_digest, digest
from evals.runs import OnProgress, Record, RunFolder, Task, run_whole
from evals.scorers.execution import Rows
from evals.sources import Sources, load_suites
from evals.suites import Case, Suite, sampled
from evals.watched import WatchedAgent
from schemas.errors import UsageError
from schemas.filters import to_json

BASELINES = (PLAIN, LINK_ONLY)


@dataclass(frozen=True)
class FilterRun:
    """What `eval filters` was asked for. Without suites the bundled one is used; `limit` is per
    suite; `model` stands in for the configured one.
    """

    suites: tuple[Path, ...] = ()
    corpus: Path | None = None
    kb: str | None = None
    collection: Path | None = None
    models: tuple[str, ...] = ()
    baselines: tuple[str, ...] = ()
    limit: int | None = None
    out: Path | None = None

    def command(self) -> dict[str, JsonValue]:
        return {
            "eval": "filters",
            "suites": [str(path) for path in self.suites],
            "corpus": str(self.corpus) if self.corpus else None,
            "kb": self.kb,
            "collection": str(self.collection) if self.collection else None,
            "models": [*self.models],
            "baselines": [*self.baselines],
            "limit": self.limit,
        }


async def run_filters(run: FilterRun, crew: Crew, on_progress: OnProgress) -> dict[str, Any]:
    """The summary; the run folder holds it, too, with cases and environment. Suites are checked
    as a whole before a model is asked.
    """
    baselines = arm_names(run.baselines, BASELINES)
    suites, rows = await _loaded(run, crew.free)
    folder = RunFolder(run.out or default_folder(crew.settings, "filters", suites))
    agents = await crew.of(run.models)
    facts = await crew.facts(agents)
    arms: list[Arm] = []
    for agent in agents:
        arms.append(PlannedArm(agent))
        arms += [PlainArm(agent)] if PLAIN in baselines else []
    arms += [PlannedArm(crew.free, model_free=True)] if LINK_ONLY in baselines else []
    cases = [case for suite in suites for case in sampled(suite.cases, run.limit)]
    made_under = environment(
        command={**run.command(), "suites": [str(suite.path) for suite in suites]},
        models=facts,
        collections={c.collection.name: collection_digest(c.collection) for c in cases},
        engine=None if run.kb is None else await engine_of(crew.free),
        code=code_digest(PLANNING),
    )
    tasks = [_task(case, arm, facts, rows) for arm in arms for case in cases]
    return await run_whole(
        folder, made_under, tasks, lambda records: _summary(records, arms), on_progress
    )


def arm_names(asked: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """Names as they are written with `-` or `_`. UsageError names those that there are."""
    found = tuple(dict.fromkeys(name.replace("-", "_") for name in asked))
    for name in found:
        if name not in known:
            raise UsageError(f"there is no arm {name!r}; there are: {', '.join(known)}")
    return found


def default_folder(settings: Settings, kind: str, suites: Sequence[Suite]) -> Path:
    """The same command finds the same folder, and goes on there."""
    return settings.paths.data / "evals" / f"{kind}-{'-'.join(s.name for s in suites)}"[:120]


async def _loaded(
    run: FilterRun, agent: WatchedAgent
) -> tuple[list[Suite], Mapping[tuple[str, str], Rows]]:
    sources = Sources(agent, collection=run.collection, kb=run.kb, corpus=run.corpus)
    suites = await load_suites(run.suites, sources)
    rows: dict[tuple[str, str], Rows] = {}
    for suite in suites:
        for case in suite.cases:
            key = (suite.name, case.collection.name)
            if key not in rows and (found := await sources.rows(case, suite)) is not None:
                rows[key] = [(row.doc_id, row.metadata) for row in found]
    return suites, rows


def _task(
    case: Case,
    arm: Arm,
    facts: Mapping[str, Mapping[str, JsonValue]],
    rows: Mapping[tuple[str, str], Rows],
) -> Task:
    model = arm.model
    parts: dict[str, JsonValue] = {
        "case": [case.suite, case.id, case.question, [*case.history], case.today.isoformat()],
        "collection": collection_digest(case.collection),
        "kb": case.kb,
        "arm": arm.name,
        "model": model,
        "served": dict(facts[model]) if model else None,
        "prompts": dict(arm.prompt_versions),
        "code": code_digest(arm.code),
    }

    async def work() -> Mapping[str, JsonValue]:
        return (await arm.attempt(case)).model_dump(mode="json")

    def judged(result: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
        attempt = Attempt.model_validate(result)
        scores = judge(case, attempt, rows.get((case.suite, case.collection.name)))
        return {**scores, "gold": to_json(case.gold.first.filter)}

    return Task(
        key=digest(parts),
        suite=case.suite,
        id=case.id,
        arm=arm.name,
        model=model,
        question=case.question,
        tags=case.tags,
        work=work,
        judge=judged,
    )


def _summary(records: Sequence[Record], arms: Sequence[Arm]) -> dict[str, Any]:
    """Of the first model, with its baselines; further models stand under `models`."""
    by_model: dict[str | None, dict[str, Any]] = {}
    for arm in arms:
        mine = [r for r in records if r.arm == arm.name and r.model == arm.model]
        figures = {
            **summarise(mine),
            "model": arm.model,
            "prompt_versions": {**arm.prompt_versions},
        }
        by_model.setdefault(arm.model, {})[arm.name] = figures
    free = by_model.pop(None, {})
    made = [
        {
            **found[PLANNED],
            "baselines": {k: v for k, v in {**found, **free}.items() if k != PLANNED},
        }
        for found in by_model.values()
    ]
    if len(made) == 1:
        return made[0]
    return {**made[0], "models": {one["model"]: one for one in made}}
