"""What a knowledge base holds, as far as a principal may see it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from pydantic import JsonValue

from agent.store.bases import Base, Bases, Foreign
from agent.store.connection import CollectionMissing, Connection
from agent.store.guard import Guard, guard
from agent.store.profiles import Tally
from agent.store.reading import every, pages
from agent.store.targets import OwnTarget, Target, foreign_target
from agent.store.walk import chunk_rows, document_rows, is_about_chunks
from schemas.access import Scope
from schemas.check import Bound, bind
from schemas.collection import Collection, Field
from schemas.compile.milvus import split
from schemas.filters import EVERYTHING, leaves

KEPT = 64
FOREIGN_PAGE = 2_500
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

    async def expression(self, filter_: Bound) -> str:
        """The part of a filter that the engine is given; empty only for no filter."""
        return split(filter_, await self._connection.dialect()).pushed

    async def _describe(self, kb: str, scope: Scope) -> Collection:
        found = await self._bases.resolve(kb)
        if isinstance(found, Foreign):
            version = await self._foreign_version(kb)
        else:
            version = f"{found.catalogue.generation}.{found.version}"
        key = (kb, version, scope.digest)
        if key not in self._cache:
            # Others cache by this version too: it has to differ wherever the visible values do.
            self._cache[key] = await self._profiled(found, scope, f"{version}.{scope.digest}")
        self._cache.move_to_end(key)
        while len(self._cache) > KEPT:
            self._cache.popitem(last=False)
        return self._cache[key]

    async def _profiled(self, found: Base | Foreign, scope: Scope, version: str) -> Collection:
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
        fields = tuple(tally.described(complete=complete) for tally in tallies)
        return Collection(
            name=collection.name,
            fields=_visible(fields, scope),
            description=collection.description,
            version=version,
        )

    async def _count(self, target: Target, allowed: Guard, tallies: Sequence[Tally]) -> bool:
        """False if there are more rows than were looked at."""
        if not isinstance(target, OwnTarget):
            return await self._count_rows(target, allowed, tallies)
        by_chunk = [t for t in tallies if t.field.name in target.catalogue.chunk_fields]
        if is_about_chunks(target, allowed):
            by_chunk = list(tallies)
        by_document = [t for t in tallies if t not in by_chunk]
        if by_document:
            async for rows in document_rows(self._bases, target, allowed, []):
                for row in rows:
                    for tally in by_document:
                        tally.add(row["original"].get(tally.field.name))
        if by_chunk:
            await self._count_chunks(target, allowed, by_chunk)
        return True

    async def _count_chunks(
        self, target: OwnTarget, allowed: Guard, tallies: Sequence[Tally]
    ) -> None:
        """Fields that differ between chunks: a document has the values of all of them."""
        values: dict[str, dict[str, list[JsonValue]]] = {}
        async for found in chunk_rows(self._bases, target, allowed):
            for row, passage in found:
                metadata = target.metadata(row)
                of_document = values.setdefault(passage.doc_id, {})
                for tally in tallies:
                    name = tally.field.name
                    of_document.setdefault(name, []).append(metadata.get(name))
        for of_document in values.values():
            for tally in tallies:
                tally.add_all(of_document[tally.field.name])

    async def _count_rows(self, target: Target, allowed: Guard, tallies: Sequence[Tally]) -> bool:
        seen = 0
        columns = [name for name in target.outputs if name not in target.unlisted]
        expression = every(target.enabled, allowed.expression)
        async for rows in pages(
            self._bases, target.chunks, expression, columns, size=FOREIGN_PAGE, key=target.key
        ):
            seen += len(rows)
            for metadata in map(target.metadata, rows):
                if allowed.keeps(metadata):
                    for tally in tallies:
                        tally.add(metadata.get(tally.field.name))
            if seen >= FOREIGN_ROWS:
                return len(rows) < FOREIGN_PAGE
        return True

    async def _foreign_version(self, kb: str) -> str:
        """Row count: a collection that is not ours tells no version."""
        stats = await self._connection.call("get_collection_stats", kb)
        return f"rows-{stats.get('row_count', 0)}"


def _visible(fields: tuple[Field, ...], scope: Scope) -> tuple[Field, ...]:
    """Who sees a part of the documents knows no field that only the others have. What the scope
    itself names is kept: hits are checked by it.
    """
    if scope.filter == EVERYTHING:
        return fields
    named = {leaf.field for leaf in leaves(scope.filter)}
    return tuple(
        field
        for field in fields
        if field.name in named or field.profile is None or field.profile.distinct != 0
    )
