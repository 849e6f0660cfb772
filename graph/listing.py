"""The node for questions that a filter answers alone: no search, no ranking, no loosening."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from graph.context import Context
from graph.listing_words import DAYS, listing_text, words_of
from graph.ports import Listed
from graph.searching import ref_of, whole_filter
from graph.shelves import Shelf, bound_on, joined, shelves_of, union_of
from graph.stages import stage
from graph.state import State
from schemas.collection import Collection
from schemas.facts import is_contradiction
from schemas.filters import any_of
from schemas.grouping import in_order, sort_key, united_groups
from schemas.hits import Hit
from schemas.language import language_of
from schemas.listing import Group, Listing, ListingKind, Sort, Tally
from schemas.plan import ResultOutcome

SHOWN = 20
EXAMPLES = 5
"""Documents shown beside a mere number."""

MOST = 1_000


async def listing(state: State, runtime: Runtime[Context]) -> Command[Literal["answer", "__end__"]]:
    """List, count or group all documents under scope AND caller AND model. That none matches is
    an answer: nothing is loosened.
    """
    with stage("listing", state) as watch:
        context = runtime.context
        shelves = await shelves_of(state, context)
        union = union_of(shelves)
        asked = in_its_order(state["plan"].listing or Listing(), union)
        wanted = shown(asked, state.get("top"))
        found = await asyncio.gather(
            *(_shelf(state, shelf, union, asked, context=context) for shelf in shelves.values())
        )
        hits = _merged(found, asked, union)[:wanted]
        groups = _groups(found, asked, union)
        total = sum(one.total for one in found)
        if asked.kind is ListingKind.COUNT and total > len(hits):
            hits = []
        tally = Tally(
            total=total,
            groups=tuple(groups[: groups_shown(asked, state.get("top"))]),
            distinct=len(groups),
        )
        passages = [context.shown(hit.passage) for hit in hits]
        words = words_of(asked, union, language_of(state["question"]))
        text = listing_text(words, tally, passages, state["plan"].text)
    refs = tuple(ref_of(hit) for hit in hits)
    goal = state.get("goal", "answer")
    return Command(
        goto="answer" if goal == "answer" else "__end__",
        update={
            "found": refs,
            "hits": refs,
            "expression": joined(one.expression for one in found),
            "result": ResultOutcome.MATCHED if tally.total else ResultOutcome.NOTHING_MATCHED,
            "tally": tally.model_copy(update={"text": text}),
            "timings": watch.timings,
        },
    )


def in_its_order(asked: Listing, union: Collection) -> Listing:
    """A list that names no order is in that of the one field of days, newest first."""
    days = [field.name for field in union.fields if field.type in DAYS]
    if asked.kind is not ListingKind.LIST or asked.sort is not None or len(days) != 1:
        return asked
    return asked.model_copy(update={"sort": Sort(field=days[0])})


def shown(asked: Listing, top: int | None) -> int:
    """How many documents are shown: as many as the question names, and no more than `top`."""
    match asked.kind:
        case ListingKind.GROUP:
            return 0
        case ListingKind.COUNT:
            return min(top or EXAMPLES, EXAMPLES)
        case ListingKind.LIST:
            most = top or (MOST if asked.limit else SHOWN)
            return min(most, asked.limit or most)


def groups_shown(asked: Listing, top: int | None) -> int:
    """How many groups are shown; beside a single one that is asked for, the others are."""
    most = top or SHOWN
    return min(most, asked.limit) if asked.limit and asked.limit > 1 else most


async def _shelf(
    state: State, shelf: Shelf, union: Collection, asked: Listing, *, context: Context
) -> Listed:
    """What one knowledge base holds, each document looked at once more."""
    mine = [branch.filter for branch in state["branches"] if branch.kb in (None, shelf.kb)]
    bound = bound_on(shelf, union, whole_filter(state, any_of(*mine)))
    if is_contradiction(bound):
        return Listed()
    wanted = shown(asked, state.get("top"))
    found = await context.searcher.listing(shelf.kb, bound, shelf.scope, asked, wanted)
    hits = tuple(hit for hit in found.hits if shelf.holds(hit.passage))
    context.keep((hit.passage for hit in hits), shelf.collection)
    return replace(found, hits=hits)


def _merged(found: Sequence[Listed], asked: Listing, union: Collection) -> list[Hit]:
    hits = [hit for one in found for hit in one.hits]
    sort = asked.sort
    if sort is None or sort.field is None:
        return hits
    field = union.field(sort.field)

    def key(hit: Hit) -> str | int | float | bool | None:
        value = hit.passage.metadata.get(field.name)
        return sort_key(value, field, descending=sort.descending)

    return in_order(hits, key, descending=sort.descending)


def _groups(found: Sequence[Listed], asked: Listing, union: Collection) -> list[Group]:
    if asked.group is None:
        return []
    return united_groups([one.groups for one in found], union.field(asked.group), asked)
