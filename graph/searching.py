"""The nodes around the search: search, rank, loosen."""

from __future__ import annotations

from itertools import zip_longest
from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from graph.context import Context
from graph.guard import guard
from graph.planning import described, plain
from graph.ports import Found, Query
from graph.stages import stage
from graph.state import State
from schemas.answers import Step
from schemas.check import Bound, bind
from schemas.collection import Collection
from schemas.compile.text import to_text
from schemas.facts import is_contradiction
from schemas.filters import EVERYTHING, Filter, all_of, any_of, leaves
from schemas.hits import Hit, HitRef, Passage
from schemas.language import Language, language_of
from schemas.loosen import Unit, units, without
from schemas.normalise import normalise
from schemas.plan import Branch, Condition, Origin, PlanOutcome, ResultOutcome


async def search(state: State, runtime: Runtime[Context]) -> State:
    """Run every branch under scope AND caller AND model, and interleave what they found."""
    with stage("search", state) as watch:
        context = runtime.context
        collection = await described(state, runtime)
        scope = context.scope(state["kb"])
        inside = guard(scope, collection)
        found: list[Found] = []
        for branch in state["branches"]:
            query = Query(
                kb=state["kb"],
                text=branch.query,
                filter=bound_filter(state, branch.filter, collection),
                limit=context.candidates,
            )
            if is_contradiction(query.filter):
                found.append(Found(hits=(), expression=""))
            else:
                found.append(await context.searcher.search(query, scope))
        hits = [hit for hit in _interleaved(found) if inside(hit.passage)]
        context.keep((hit.passage for hit in hits), collection)
    for part, milliseconds in ((p, ms) for one in found for p, ms in one.timings_ms.items()):
        watch.add(f"search.{part}", milliseconds)
    refs = tuple(_ref(hit) for hit in hits)
    return {
        "found": refs,
        "hits": refs,
        "expression": " or ".join(f"({one.expression})" for one in found if one.expression)
        if len(found) > 1
        else found[0].expression,
        "timings": watch.timings,
    }


async def rank(
    state: State, runtime: Runtime[Context]
) -> Command[Literal["loosen", "answer", "__end__"]]:
    """Order and cut the hits; too few of them send the run to loosening."""
    with stage("rank", state) as watch:
        context = runtime.context
        hits = await recalled(state, context)
        filter_ = any_of(*(branch.filter for branch in state["branches"]))
        ranking = await context.ranker.rank(state["question"], filter_, hits)
        kept = ranking.hits[: state.get("top") or None]
    update: State = {
        "hits": tuple(_ref(hit) for hit in kept),
        "removed": dict(ranking.removed),
        "result": _result(state, len(hits), len(kept), ranking.fallback),
        "timings": watch.timings,
    }
    if len(hits) < context.budgets.minimum_hits and _may_loosen(state, context):
        return Command(goto="loosen", update=update)
    goal = state.get("goal", "answer")
    return Command(goto="answer" if goal == "answer" else "__end__", update=update)


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


def bound_filter(state: State, model: Filter, collection: Collection) -> Bound:
    """Caller AND model, ready for the engine."""
    return bind(normalise(all_of(state.get("caller", EVERYTHING), model)), collection)


async def recalled(state: State, context: Context) -> list[Hit]:
    """The hits with their passages: from this run, or from the store after a resume."""
    known = context.passages
    missing: dict[str, list[str]] = {}
    for ref in state["hits"]:
        if ref.id not in known:
            missing.setdefault(ref.kb, []).append(ref.id)
    for kb, ids in missing.items():
        scope = context.scope(kb)
        collection = await context.catalog.describe(kb, scope)
        inside = guard(scope, collection)
        fetched = await context.searcher.passages(kb, ids, scope)
        context.keep(filter(inside, fetched), collection)
    return [
        Hit(passage=known[ref.id], score=ref.score, scores=ref.scores)
        for ref in state["hits"]
        if ref.id in known
    ]


def _interleaved(found: list[Found]) -> list[Hit]:
    """Round robin over the branches; a passage found twice counts once."""
    rounds = zip_longest(*(one.hits for one in found))
    merged: dict[str, Hit] = {}
    for hits in rounds:
        for hit in hits:
            if hit is not None:
                merged.setdefault(hit.passage.id, hit)
    return list(merged.values())


def _ref(hit: Hit) -> HitRef:
    passage: Passage = hit.passage
    return HitRef(
        id=passage.id, doc_id=passage.doc_id, kb=passage.kb, score=hit.score, scores=hit.scores
    )


def _result(state: State, found: int, kept: int, fallback: bool) -> ResultOutcome:
    if not kept:
        return ResultOutcome.NOTHING_MATCHED
    if fallback:
        return ResultOutcome.FALLBACK
    return ResultOutcome.LOOSENED if state.get("steps") else ResultOutcome.MATCHED


def _may_loosen(state: State, context: Context) -> bool:
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
