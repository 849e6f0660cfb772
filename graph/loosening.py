"""The node that makes a filter weaker where it leaves too little."""

from __future__ import annotations

from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from graph.context import Context
from graph.planning import described, plain
from graph.searching import bound_filter
from graph.stages import stage
from graph.state import State
from schemas.answers import Step
from schemas.collection import Collection
from schemas.compile.text import to_text
from schemas.filters import Filter, leaves
from schemas.language import Language, language_of
from schemas.loosen import Unit, units, without
from schemas.normalise import normalise
from schemas.plan import Branch, Condition, Origin, PlanOutcome


async def loosen(
    state: State, runtime: Runtime[Context]
) -> Command[Literal["search", "answer", "__end__"]]:
    """Drop the model condition that costs most, by counts; scope and caller stay."""
    with stage("loosen", state) as watch:
        collection = await described(state, runtime)
        best = await _costliest(state, runtime.context, collection)
    if best is None:
        goal = state.get("goal", "answer")
        return Command(
            goto="answer" if goal == "answer" else "__end__", update={"timings": watch.timings}
        )
    index, unit, found = best
    branches = list(state["branches"])
    weaker = normalise(without(branches[index].filter, unit))
    # The words of a dropped condition are a subject again, so the whole question is searched for.
    branches[index] = Branch(query=state["question"], filter=weaker, kb=branches[index].kb)
    steps = tuple(
        Step(action="drop", condition=condition, found=found, words=words)
        for condition, words in _told(state, unit, collection)
    )
    return Command(
        goto="search",
        update={
            "branches": tuple(branches),
            "steps": (*state.get("steps", ()), *steps),
            "timings": watch.timings,
        },
    )


def may_loosen(state: State, context: Context) -> bool:
    return (
        len(state.get("steps", ())) < context.budgets.loosen_steps
        and state["plan"].outcome is PlanOutcome.PLANNED
        and any(units(branch.filter) for branch in state["branches"])
    )


async def _costliest(
    state: State, context: Context, collection: Collection
) -> tuple[int, Unit, int] | None:
    """The unit without which most documents match; where no single one helps, the unit that
    alone matches fewest. None if there is nothing left to drop.
    """
    scope = context.scope(state["kb"])
    candidates = [
        (index, unit)
        for index, branch in enumerate(state["branches"])
        for unit in units(branch.filter)
    ]

    async def count(filter_: Filter) -> int:
        return await context.searcher.count(
            state["kb"], bound_filter(state, filter_, collection), scope
        )

    freed = [
        (await count(without(state["branches"][index].filter, unit)), index, unit)
        for index, unit in candidates
    ]
    if not freed:
        return None
    most, index, unit = max(freed, key=lambda option: option[0])
    if most:
        return index, unit, most
    alone = [(await count(unit.filter), index, unit) for index, unit in candidates]
    _, index, unit = min(alone, key=lambda option: option[0])
    return index, unit, 0


def _told(state: State, unit: Unit, collection: Collection) -> list[tuple[Condition, str]]:
    """The dropped conditions as planned, and the change in words."""
    language: Language = language_of(state["question"])
    text = to_text(unit.filter, collection, language)
    words = f"没有文档满足“{text}”，已去掉这个条件" if language == "zh" else f"dropped: {text}"
    conditions = [
        condition
        for condition in state["plan"].conditions
        if condition.origin is Origin.MODEL and condition.field in unit.fields
    ]
    if not conditions:
        leaf = next(leaves(unit.filter))
        conditions = [Condition(field=leaf.field, op=leaf.op, value=plain(leaf.value))]
    return [(conditions[0], words)]
