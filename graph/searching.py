"""The node that searches, and what other nodes ask of the store."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from itertools import zip_longest

from langgraph.runtime import Runtime

from graph.context import Context
from graph.ports import Found, Query
from graph.scouting import scouted
from graph.shelves import Shelf, bound_on, joined, shelf_of, shelves_of, union_of
from graph.stages import stage
from graph.state import State
from schemas.check import Bound, bind
from schemas.collection import Collection
from schemas.facts import is_contradiction
from schemas.filters import EVERYTHING, Filter, all_of
from schemas.hits import Hit, HitRef, Passage, excerpt
from schemas.normalise import normalise
from schemas.plan import Branch


async def search(state: State, runtime: Runtime[Context]) -> State:
    """Run every branch in every knowledge base under scope AND caller AND model. Knowledge bases
    of one branch are merged by score, branches are interleaved.
    """
    with stage("search", state) as watch:
        context = runtime.context
        shelves = await shelves_of(state, context)
        found = await asyncio.gather(
            *(_branch(branch, state, shelves, context) for branch in state["branches"])
        )
        hits = _interleaved([_by_score(one) for one in found])
    everything = [each for one in found for each in one]
    for part, milliseconds in _longest(everything).items():
        watch.add(f"search.{part}", milliseconds)
    refs = tuple(ref_of(hit) for hit in hits)
    return {
        "found": refs,
        "hits": refs,
        "expression": joined(one.expression for one in everything),
        "timings": watch.timings,
    }


async def _branch(
    branch: Branch, state: State, shelves: Mapping[str, Shelf], context: Context
) -> Sequence[Found]:
    """What each knowledge base of the branch holds, in their order."""
    union = union_of(shelves)
    whole = whole_filter(state, branch.filter)
    asked = [shelf for kb, shelf in shelves.items() if branch.kb in (None, kb)]
    return await asyncio.gather(
        *(_shelf(branch, state, shelf, bound_on(shelf, union, whole), context) for shelf in asked)
    )


async def _shelf(
    branch: Branch, state: State, shelf: Shelf, filter_: Bound, context: Context
) -> Found:
    """The hits of one knowledge base, each looked at once more."""
    if is_contradiction(filter_):
        return Found(hits=(), expression="")
    query = Query(
        kb=shelf.kb,
        text=branch.query,
        filter=filter_,
        limit=context.candidates,
        terms=_terms(state, branch),
    )
    found = await scouted(context, query) or await context.searcher.search(query, shelf.scope)
    hits = tuple(hit for hit in found.hits if shelf.holds(hit.passage))
    context.keep((hit.passage for hit in hits), shelf.collection)
    return Found(hits, found.expression, found.timings_ms)


def _terms(state: State, branch: Branch) -> str:
    """What enhancement adds for full text; nothing to a branch that only lists."""
    enhanced = state.get("enhanced")
    return enhanced.terms if enhanced is not None and branch.query else ""


def whole_filter(state: State, model: Filter) -> Filter:
    """Caller AND model."""
    return normalise(all_of(state.get("caller", EVERYTHING), model))


def bound_filter(state: State, model: Filter, collection: Collection) -> Bound:
    """Caller AND model, ready for the engine."""
    return bind(whole_filter(state, model), collection)


async def count_all(state: State, context: Context, model: Filter) -> int:
    """How many visible documents meet caller AND model, over all knowledge bases asked."""
    shelves = await shelves_of(state, context)
    union = union_of(shelves)
    whole = whole_filter(state, model)
    counts = await asyncio.gather(
        *(
            context.searcher.count(kb, bound_on(shelf, union, whole), shelf.scope)
            for kb, shelf in shelves.items()
        )
    )
    return sum(counts)


async def recalled(state: State, context: Context) -> list[Hit]:
    """The hits with their passages: from this run, or from the store after a resume."""
    missing: dict[str, list[str]] = {}
    for ref in state["hits"]:
        if context.passage(ref) is None:
            missing.setdefault(ref.kb, []).append(ref.id)
    for kb, ids in missing.items():
        shelf = await shelf_of(kb, context)
        fetched = await context.searcher.passages(kb, ids, shelf.scope)
        context.keep(filter(shelf.holds, fetched), shelf.collection)
    return [
        Hit(passage=excerpt(passage, ref.span), score=ref.score, scores=ref.scores, span=ref.span)
        for ref in state["hits"]
        if (passage := context.passage(ref)) is not None
    ]


def _by_score(found: Sequence[Found]) -> Sequence[Hit]:
    """The hits of all knowledge bases, best first; of equal ones the first base's."""
    return sorted((hit for one in found for hit in one.hits), key=lambda hit: -hit.score)


def _interleaved(branches: Sequence[Sequence[Hit]]) -> list[Hit]:
    """Round robin over the branches, the best of each round first; a passage found twice counts
    once.
    """
    merged: dict[tuple[str, str], Hit] = {}
    for hits in zip_longest(*branches):
        in_round = sorted((hit for hit in hits if hit is not None), key=lambda hit: -hit.score)
        for hit in in_round:
            merged.setdefault((hit.passage.kb, hit.passage.id), hit)
    return list(merged.values())


def _longest(found: Sequence[Found]) -> Mapping[str, float]:
    """Milliseconds by part; what ran side by side took as long as the longest of it."""
    longest: dict[str, float] = {}
    for one in found:
        for part, milliseconds in one.timings_ms.items():
            longest[part] = max(milliseconds, longest.get(part, 0.0))
    return longest


def ref_of(hit: Hit) -> HitRef:
    passage: Passage = hit.passage
    return HitRef(
        id=passage.id,
        doc_id=passage.doc_id,
        kb=passage.kb,
        score=hit.score,
        scores=hit.scores,
        span=hit.span,
    )
