"""What lies nearest where nothing matches: shown, but no evidence for an answer."""

from __future__ import annotations

from graph.context import Context
from graph.ports import Query
from graph.scouting import scouted, unfiltered
from graph.searching import recalled, ref_of
from graph.shelves import Shelf, shelves_of
from graph.state import State
from schemas.compile.predicate import to_predicate
from schemas.filters import EVERYTHING
from schemas.hits import Hit, HitRef
from schemas.plan import PlanOutcome

SHOWN = 3
"""Documents."""


async def nearest(state: State, context: Context) -> tuple[HitRef, ...]:
    """The best passages of a few documents that lie in scope and caller filter, but outside the
    model's conditions; none where the model set no condition.
    """
    if state["plan"].outcome is not PlanOutcome.PLANNED:
        return ()
    if all(branch.filter == EVERYTHING for branch in state["branches"]):
        return ()
    shelves = await shelves_of(state, context)
    found: list[Hit] = []
    for kb, query in unfiltered(state, shelves, context).items():
        found += await _inside(query, shelves[kb], context)
    best: dict[tuple[str, str], Hit] = {}
    for hit in sorted(found, key=lambda hit: -hit.score):
        best.setdefault((hit.passage.kb, hit.passage.doc_id), hit)
    return tuple(ref_of(hit) for hit in list(best.values())[:SHOWN])


async def nearest_titles(state: State, context: Context) -> tuple[str, ...]:
    """The titles of the nearest documents, looked up again after a resume."""
    refs = state.get("nearest", ())
    if not refs:
        return ()
    hits = await recalled({"hits": refs}, context)
    return tuple(dict.fromkeys(hit.passage.title for hit in hits))


async def _inside(query: Query, shelf: Shelf, context: Context) -> list[Hit]:
    """The hits of a knowledge base, each held against scope and caller filter once more."""
    result = await scouted(context, query)
    if result is None:
        result = await context.searcher.search(query, shelf.scope)
    asked = to_predicate(query.filter)
    hits = [h for h in result.hits if shelf.holds(h.passage) and asked(h.passage.metadata)]
    context.keep((hit.passage for hit in hits), shelf.collection)
    return hits
