"""The knowledge bases of a request, each with its own scope and description."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from graph.context import Context
from graph.guard import guard
from graph.state import State
from schemas.access import Scope
from schemas.check import Bound, bind
from schemas.collection import Collection
from schemas.filters import Filter
from schemas.hits import Passage
from schemas.normalise import normalise
from schemas.united import fitted, united


@dataclass(frozen=True)
class Shelf:
    """One knowledge base as this principal may know it; `holds` is the last look at a passage."""

    kb: str
    scope: Scope
    collection: Collection
    holds: Callable[[Passage], bool]


def kbs_of(state: State) -> tuple[str, ...]:
    """The knowledge bases that are asked, in the order given."""
    return state.get("kbs") or (state["kb"],)


async def shelf_of(kb: str, context: Context) -> Shelf:
    scope = context.scope(kb)
    collection = await context.catalog.describe(kb, scope)
    inside = guard(scope, collection)
    return Shelf(kb, scope, collection, lambda passage: passage.kb == kb and inside(passage))


async def shelves_of(state: State, context: Context) -> Mapping[str, Shelf]:
    """By name (the catalog caches the descriptions)."""
    names = kbs_of(state)
    found = await asyncio.gather(*(shelf_of(kb, context) for kb in names))
    return dict(zip(names, found, strict=True))


def union_of(shelves: Mapping[str, Shelf]) -> Collection:
    """What all of them are planned for as."""
    return united([shelf.collection for shelf in shelves.values()])


def bound_on(shelf: Shelf, union: Collection, f: Filter) -> Bound:
    """The filter, ready for this knowledge base. FilterError if it does not fit the union."""
    bind(f, union)
    return bind(normalise(fitted(f, union, shelf.collection)), shelf.collection)


def joined(expressions: Iterable[str]) -> str:
    """Expressions of several searches as one text, each once."""
    told = [one for one in dict.fromkeys(expressions) if one]
    return told[0] if len(told) == 1 else " or ".join(f"({one})" for one in told)
