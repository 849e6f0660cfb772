"""The node that orders and cuts what a search found."""

from __future__ import annotations

from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from graph.context import Context
from graph.loosening import may_loosen
from graph.planning import described
from graph.ports import Wanted
from graph.searching import recalled, ref_of
from graph.stages import stage
from graph.state import State
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
        kept = ranking.hits[: state.get("top") or None]
    update: State = {
        "hits": tuple(ref_of(hit) for hit in kept),
        "removed": dict(ranking.removed),
        "ranking_problems": ranking.problems,
        "statistics": dict(ranking.statistics),
        "result": _result(state, len(hits), len(kept), ranking.fallback),
        "timings": watch.timings,
    }
    if len(hits) < context.budgets.minimum_hits and may_loosen(state, context):
        return Command(goto="loosen", update=update)
    goal = state.get("goal", "answer")
    return Command(goto="answer" if goal == "answer" else "__end__", update=update)


async def _wanted(state: State, runtime: Runtime[Context]) -> Wanted:
    """What ranking may know of this turn."""
    collection = await described(state, runtime)
    branches = state["branches"]
    return Wanted(
        question=state["question"],
        query=branches[0].query if branches else state["question"],
        filter=any_of(*(branch.filter for branch in branches)),
        today=runtime.context.today,
        boosts=state.get("boosts", ()),
        top=state.get("top"),
        policy=state.get("policy"),
        collections={collection.name: collection},
    )


def _result(state: State, found: int, kept: int, fallback: bool) -> ResultOutcome:
    if not kept:
        return ResultOutcome.NOTHING_MATCHED
    if fallback:
        return ResultOutcome.FALLBACK
    return ResultOutcome.LOOSENED if state.get("steps") else ResultOutcome.MATCHED
