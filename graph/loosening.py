"""The node that makes a filter weaker where it leaves too little."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from graph.context import Context
from graph.easing import Counts, Eased, Easing
from graph.nearest import nearest
from graph.planning import plain
from graph.scouting import is_closed
from graph.searching import whole_filter
from graph.shelves import Shelf, bound_on, shelves_of, union_of
from graph.stages import stage
from graph.state import State
from schemas.answers import Step
from schemas.check import Bound
from schemas.collection import Collection
from schemas.facts import is_contradiction
from schemas.filters import EVERYTHING, Filter, leaves
from schemas.ladder_words import Beside, told
from schemas.language import language_of
from schemas.loosen import Rung, Unit, units
from schemas.normalise import normalise
from schemas.plan import Branch, Condition, Origin, PlanOutcome

THRESHOLD = "threshold"
"""The action of a step that lowered thresholds of the ranking; it changes no condition."""


async def loosen(
    state: State, runtime: Runtime[Context]
) -> Command[Literal["search", "answer", "__end__"]]:
    """Make the smallest change to each branch that lets enough match; scope and caller stay.
    Where none helps, what lies nearest is shown.
    """
    context = runtime.context
    with stage("loosen", state) as watch:
        shelves = await shelves_of(state, context)
        eased = await _all_eased(state, shelves, context)
        helped = any(one is not None for one in eased)
        near = () if helped or state["hits"] else await nearest(state, context)
    if not helped:
        goal = state.get("goal", "answer")
        return Command(
            goto="answer" if goal == "answer" else "__end__",
            update={"nearest": near, "timings": watch.timings},
        )
    union = union_of(shelves)
    return Command(
        goto="search",
        update={
            "branches": tuple(
                branch if one is None else _weaker(branch, one, state)
                for branch, one in zip(state["branches"], eased, strict=True)
            ),
            "boosts": (*state.get("boosts", ()), *_wishes(state, eased)),
            "steps": (*state.get("steps", ()), *_steps(state, eased, union)),
            "timings": watch.timings,
        },
    )


def may_loosen(state: State, context: Context) -> bool:
    """Once a run, where the model set conditions."""
    return (
        context.budgets.loosen_steps > 0
        and all(step.action == THRESHOLD for step in state.get("steps", ()))
        and state["plan"].outcome is PlanOutcome.PLANNED
        and any(units(branch.filter) for branch in state["branches"])
    )


async def _all_eased(
    state: State, shelves: Mapping[str, Shelf], context: Context
) -> list[Eased | None]:
    """Each branch by itself, within one budget of steps. Nothing where nothing may be seen."""
    left = context.budgets.loosen_steps
    share = context.budgets.loosen_counts // max(1, len(state["branches"]))
    found: list[Eased | None] = []
    for branch in state["branches"]:
        one = await _eased(branch, state, shelves, context, steps=left, counts=share)
        left -= len(one.rungs) if one is not None else 0
        found.append(one)
    return found


async def _eased(
    branch: Branch,
    state: State,
    shelves: Mapping[str, Shelf],
    context: Context,
    *,
    steps: int,
    counts: int,
) -> Eased | None:
    union = union_of(shelves)
    asked = [s for kb, s in shelves.items() if branch.kb in (None, kb) and not is_closed(s)]
    if not asked or steps <= 0 or branch.filter == EVERYTHING:
        return None

    async def measure(filter_: Filter) -> int:
        whole = whole_filter(state, filter_)
        bound = [(shelf, bound_on(shelf, union, whole)) for shelf in asked]
        return sum(await asyncio.gather(*(_count(shelf, one, context) for shelf, one in bound)))

    measured = Counts(measure, counts)
    before = await measured.of(branch.filter)
    if before is None or before >= context.budgets.minimum_hits:
        return None
    easing = Easing(
        collection=union,
        counts=measured,
        minimum=context.budgets.minimum_hits,
        allowed=context.budgets.loosen_actions,
        kept=context.budgets.loosen_never,
        most=steps,
        units=units(branch.filter),
        before=before,
    )
    return await easing.eased()


async def _count(shelf: Shelf, filter_: Bound, context: Context) -> int:
    if is_contradiction(filter_):
        return 0
    if filter_.root == shelf.scope.filter == EVERYTHING:
        known = _documents(shelf.collection)
        if known is not None:
            return known
    return await context.searcher.count(shelf.kb, filter_, shelf.scope)


def _documents(collection: Collection) -> int | None:
    """How many documents are visible, where that is known: to count all of them is slow."""
    profiles = (field.profile for field in collection.fields)
    return next(
        (one.rows for one in profiles if one is not None and one.complete and one.rows), None
    )


def _weaker(branch: Branch, eased: Eased, state: State) -> Branch:
    """The words of a condition that no longer excludes are a subject again, so the whole
    question is searched for then.
    """
    soft = any(rung.is_soft for rung in eased.rungs)
    query = state["question"] if soft else branch.query
    return branch.model_copy(update={"filter": normalise(eased.filter), "query": query})


def _wishes(state: State, eased: list[Eased | None]) -> tuple[Condition, ...]:
    """The conditions that became wishes."""
    return tuple(
        _condition(state, rung.unit).model_copy(
            update={"op": leaf.op, "value": plain(leaf.value), "hard": False}
        )
        for one in eased
        if one is not None
        for rung in one.rungs
        if rung.action == "boost"
        for leaf in leaves(rung.unit.filter)
    )


def _steps(state: State, eased: list[Eased | None], union: Collection) -> tuple[Step, ...]:
    language = language_of(state["question"])
    caller = state.get("caller", EVERYTHING) != EVERYTHING
    steps: list[Step] = []
    for branch, one in zip(state["branches"], eased, strict=True):
        for rung in one.rungs if one is not None else ():
            others = tuple(unit for unit in units(branch.filter) if unit != rung.unit)
            beside = Beside(union, others, more=caller, before=one.before if one else 0)
            steps.append(_step(state, rung, told(rung, beside, language), one.found if one else 0))
    return tuple(steps)


def _step(state: State, rung: Rung, words: str, found: int) -> Step:
    return Step(
        action=rung.action, condition=_condition(state, rung.unit), found=found, words=words
    )


def _condition(state: State, unit: Unit) -> Condition:
    """The changed condition as planned."""
    planned = (
        condition
        for condition in state["plan"].conditions
        if condition.origin is Origin.MODEL and condition.hard and condition.field in unit.fields
    )
    leaf = next(leaves(unit.filter))
    made = Condition(field=leaf.field, op=leaf.op, value=plain(leaf.value))
    found = list(planned)
    exact = [one for one in found if (one.field, one.value) == (made.field, made.value)]
    return next(iter((*exact, *found)), made)
