"""The node that orders and cuts what a search found."""

from __future__ import annotations

from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from graph.context import Context
from graph.loosening import may_loosen
from graph.lowering import with_lower_thresholds
from graph.nearest import nearest
from graph.ports import Wanted
from graph.searching import recalled, ref_of, whole_filter
from graph.shelves import shelves_of
from graph.stages import stage
from graph.state import State
from schemas.answers import Step
from schemas.enhanced import Enhanced
from schemas.filters import any_of
from schemas.plan import ResultOutcome


async def rank(
    state: State, runtime: Runtime[Context]
) -> Command[Literal["loosen", "answer", "__end__"]]:
    """Order and cut the hits; too few of them send the run to loosening."""
    with stage("rank", state) as watch:
        context = runtime.context
        hits = await recalled(state, context)
        wanted = await _wanted(state, runtime)
        ranking = await context.ranker.rank(wanted, hits)
        ranking, lowered = await with_lower_thresholds(ranking, wanted, hits, context)
        kept = ranking.hits[: state.get("top") or None]
        loosens = len(hits) < context.budgets.minimum_hits and may_loosen(state, context)
        for step, milliseconds in ranking.timings_ms.items():
            watch.add(f"rank.{step}", milliseconds)
        near = () if kept or loosens else await nearest(state, context)
    steps = (*state.get("steps", ()), *lowered)
    update: State = {
        "hits": tuple(ref_of(hit) for hit in kept),
        "removed": dict(ranking.removed),
        "ranking_problems": ranking.problems,
        "statistics": dict(ranking.statistics),
        "nearest": near,
        "steps": steps,
        "result": _result(steps, len(kept), ranking.fallback),
        "timings": watch.timings,
    }
    if loosens:
        return Command(goto="loosen", update=update)
    goal = state.get("goal", "answer")
    return Command(goto="answer" if goal == "answer" else "__end__", update=update)


async def _wanted(state: State, runtime: Runtime[Context]) -> Wanted:
    """What ranking may know of this turn."""
    shelves = await shelves_of(state, runtime.context)
    branches = state["branches"]
    enhanced = state.get("enhanced") or Enhanced()
    return Wanted(
        question=state["question"],
        query=branches[0].query if branches else state["question"],
        filter=whole_filter(state, any_of(*(branch.filter for branch in branches))),
        today=runtime.context.today,
        boosts=state.get("boosts", ()),
        keywords=enhanced.keywords,
        tags=enhanced.tags,
        entities=enhanced.entities,
        top=state.get("top"),
        policy=state.get("policy"),
        collections={kb: shelf.collection for kb, shelf in shelves.items()},
    )


def _result(steps: tuple[Step, ...], kept: int, fallback: bool) -> ResultOutcome:
    if not kept:
        return ResultOutcome.NOTHING_MATCHED
    if fallback:
        return ResultOutcome.FALLBACK
    return ResultOutcome.LOOSENED if steps else ResultOutcome.MATCHED
