"""What each of the model's conditions costs, in real counts: documents that match without it."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import JsonValue

from graph.caller import added
from graph.context import Context
from graph.searching import count_all
from graph.shelves import shelves_of, union_of
from graph.state import State
from schemas.collection import Collection
from schemas.compile.text import to_text
from schemas.filters import EVERYTHING, Filter, any_of
from schemas.language import language_of
from schemas.loosen import Unit, units, without
from schemas.normalise import normalise
from schemas.plan import Condition, Origin, PlanOutcome

MOST = 12
"""Conditions counted at most; each takes a count of the store."""


async def counterfactuals(state: State, context: Context) -> tuple[dict[str, JsonValue], ...]:
    """For each condition of the model: `condition` in words and its `fields`, the words of the
    question that it comes from, how many `documents` match the plan, how many
    `documents_without` it, and how many `more` that is. Scope and caller hold in every count.
    """
    proposal = state.get("proposal")
    if proposal is None or state["plan"].outcome is not PlanOutcome.PLANNED:
        return ()
    collection = union_of(await shelves_of(state, context))
    caller = normalise(state.get("caller", EVERYTHING))
    filters = [normalise(added(branch.filter, caller, collection)) for branch in proposal.branches]
    each = list(_without_each(filters))[:MOST]
    if not each:
        return ()
    matching = await count_all(state, context, any_of(*filters))
    told: list[dict[str, JsonValue]] = []
    for unit, rest in each:
        left = await count_all(state, context, rest)
        told.append(_told(unit, matching, left, state, collection))
    return tuple(told)


def _without_each(filters: list[Filter]) -> Iterator[tuple[Unit, Filter]]:
    """Each unit once, with the whole filter as it is where no branch has it."""
    for unit in dict.fromkeys(unit for filter_ in filters for unit in units(filter_)):
        if unit.filter != EVERYTHING:
            yield unit, any_of(*(without(f, unit) if unit in units(f) else f for f in filters))


def _told(
    unit: Unit, matching: int, left: int, state: State, collection: Collection
) -> dict[str, JsonValue]:
    language = language_of(state["question"])
    words = [
        condition.words
        for condition in state["plan"].conditions
        if condition.words and _says(condition, unit)
    ]
    return {
        "condition": to_text(unit.filter, collection, language),
        "fields": list[JsonValue](sorted(unit.fields)),
        "words": " … ".join(dict.fromkeys(words)),
        "documents": matching,
        "documents_without": left,
        "more": left - matching,
    }


def _says(condition: Condition, unit: Unit) -> bool:
    return condition.origin is Origin.MODEL and condition.hard and condition.field in unit.fields
