"""The nodes around the search: search, rank, loosen."""

from __future__ import annotations

from itertools import zip_longest

from langgraph.runtime import Runtime

from graph.context import Context
from graph.guard import guard
from graph.planning import described
from graph.ports import Found, Query
from graph.stages import stage
from graph.state import State
from schemas.check import Bound, bind
from schemas.collection import Collection
from schemas.facts import is_contradiction
from schemas.filters import EVERYTHING, Filter, all_of
from schemas.hits import Hit, HitRef, Passage
from schemas.normalise import normalise


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
    refs = tuple(ref_of(hit) for hit in hits)
    return {
        "found": refs,
        "hits": refs,
        "expression": " or ".join(f"({one.expression})" for one in found if one.expression)
        if len(found) > 1
        else found[0].expression,
        "timings": watch.timings,
    }


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


def ref_of(hit: Hit) -> HitRef:
    passage: Passage = hit.passage
    return HitRef(
        id=passage.id, doc_id=passage.doc_id, kb=passage.kb, score=hit.score, scores=hit.scores
    )
