"""What a knowledge base holds, as far as a principal may see it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncIterator, Sequence
from typing import Any

from agent.store.bases import Bases, Foreign
from agent.store.connection import CollectionMissing, Connection
from agent.store.guard import Guard, guard
from agent.store.profiles import Tally
from agent.store.reading import every, pages
from agent.store.targets import ForeignTarget, OwnTarget, Target, foreign_target
from schemas.access import Scope
from schemas.check import bind
from schemas.collection import Collection
from schemas.filters import EVERYTHING

KEPT = 64
FOREIGN_ROWS = 10_000
"""Rows of a foreign collection that its profiles are made from."""


class MilvusCatalog:
    """Describes knowledge bases and foreign collections, cached by version and scope."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._bases = Bases(connection)
        self._cache: OrderedDict[tuple[str, str, str], Collection] = OrderedDict()

    async def names(self) -> tuple[str, ...]:
        """Our knowledge bases, sorted."""
        return await self._bases.names()

    async def foreign_names(self) -> tuple[str, ...]:
        """Collections that can be asked by their own name, sorted."""
        return await self._bases.foreign_names()

    async def describe(self, kb: str, scope: Scope) -> Collection:
        """Fields with their columns, and values and profiles from documents in scope alone.

        Raises UnknownKnowledgeBase.
        """
        try:
            return await self._describe(kb, scope)
        except CollectionMissing:
            return await self._describe(kb, scope)

    async def _describe(self, kb: str, scope: Scope) -> Collection:
        found = await self._bases.resolve(kb)
        if isinstance(found, Foreign):
            version = await self._foreign_version(kb)
        else:
            version = f"{found.catalogue.generation}.{found.version}"
        key = (kb, version, scope.digest)
        if key not in self._cache:
            self._cache[key] = await self._profiled(found, scope, version)
        self._cache.move_to_end(key)
        while len(self._cache) > KEPT:
            self._cache.popitem(last=False)
        return self._cache[key]

    async def _profiled(self, found: Any, scope: Scope, version: str) -> Collection:
        if isinstance(found, Foreign):
            target: Target = await foreign_target(self._bases, found)
        else:
            target = OwnTarget(found.catalogue)
        collection = target.collection
        everything = bind(EVERYTHING, collection)
        allowed = guard(everything, scope, await self._connection.dialect())
        tallies = [Tally(field) for field in collection.fields]
        complete = True
        if not allowed.closed:
            complete = await self._count(target, allowed, tallies)
        return collection.model_copy(
            update={
                "fields": tuple(tally.described(complete=complete) for tally in tallies),
                "version": version,
            }
        )

    async def _count(self, target: Target, allowed: Guard, tallies: Sequence[Tally]) -> bool:
        """False if there are more rows than were looked at."""
        if isinstance(target, ForeignTarget):
            return await self._count_foreign(target, allowed, tallies)
        assert isinstance(target, OwnTarget)
        own = set(target.catalogue.chunk_fields)
        by_document = [t for t in tallies if t.field.name not in own]
        by_chunk = [t for t in tallies if t.field.name in own]
        async for rows in self._documents(target, allowed):
            for row in rows:
                for tally in by_document:
                    tally.add(row["original"].get(tally.field.name))
        if by_chunk:
            await self._count_chunks(target, allowed, by_chunk)
        return True
