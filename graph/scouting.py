"""The search without the model's filter: begun while the model plans, used where nothing else
is asked, and for what is nearest where nothing matches.
"""

from __future__ import annotations

from collections.abc import Mapping

from graph.context import Context
from graph.ports import Found, Query
from graph.shelves import Shelf, bound_on, shelves_of, union_of
from graph.state import State
from schemas.check import bind
from schemas.errors import FilterError
from schemas.facts import is_contradiction
from schemas.filters import EVERYTHING
from schemas.normalise import normalise


async def send_scouts(state: State, context: Context) -> None:
    """Begin the search for the question in scope AND caller. Not where only a plan is wanted, or
    where nothing is to be searched for unless the plan is right.
    """
    if state.get("goal", "answer") == "plan" or not context.search_after_failure:
        return
    shelves = await shelves_of(state, context)
    for kb, query in unfiltered(state, shelves, context).items():
        context.scouts.send(context.searcher.search, query, shelves[kb].scope)


async def scouted(context: Context, query: Query) -> Found | None:
    """What the same search, begun earlier in this run, has found; None if there was none."""
    return await context.scouts.found(query, context.scope(query.kb))


def unfiltered(state: State, shelves: Mapping[str, Shelf], context: Context) -> Mapping[str, Query]:
    """The question under the caller's filter alone, by knowledge base; none where nothing can
    be found.
    """
    union = union_of(shelves)
    caller = normalise(state.get("caller", EVERYTHING))
    found: dict[str, Query] = {}
    for kb, shelf in shelves.items():
        bound = bound_on(shelf, union, caller)
        if not is_closed(shelf) and not is_contradiction(bound):
            found[kb] = Query(kb=kb, text=state["question"], filter=bound, limit=context.candidates)
    return found


def is_closed(shelf: Shelf) -> bool:
    """Whether nothing of a knowledge base may be seen, as with an empty list of roles, or whether
    that cannot be decided.
    """
    try:
        scope = bind(shelf.scope.filter, shelf.collection, literal=True)
    except FilterError:
        return True
    return is_contradiction(scope)
