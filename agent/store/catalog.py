"""What a knowledge base holds, as far as a principal may see it."""

from __future__ import annotations

import hashlib
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence

from pydantic import JsonValue

from agent.store.bases import Base, Bases, Foreign
from agent.store.connection import CollectionMissing, Connection
from agent.store.foreign_rows import Begun, further_rows
from agent.store.guard import Guard, guard
from agent.store.profiles import MAX_TEXTS, Tally
from agent.store.targets import SAMPLE, ForeignTarget, OwnTarget, Target, sampled_target
from agent.store.walk import chunk_rows, document_rows, is_about_chunks
from schemas.access import Scope
from schemas.check import Bound, bind
from schemas.collection import Collection, Field
from schemas.compile.milvus import split
from schemas.filters import EVERYTHING, leaves

KEPT = 64
PROFILE_MINUTES = 10.0
"""After that a foreign collection is looked at again: it does not tell when it changes."""


class MilvusCatalog:
    """Describes knowledge bases and foreign collections, cached by version and scope.

    Foreign collections are described anew when their number of rows changes and when what is
    known of them is older than `profile_minutes`; 0: each time. `now` tells seconds.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        profile_minutes: float = PROFILE_MINUTES,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._connection = connection
        self._bases = Bases(connection)
        self._oldest = profile_minutes * 60
        self._now = now
        self._cache: OrderedDict[tuple[str, str, str], tuple[float, Collection]] = OrderedDict()

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
            rows = await self._row_count(kb)
            key = (kb, f"rows-{rows}", scope.digest)
            if self._known(key, self._oldest) is None:
                self._cache[key] = (self._now(), await self._foreign(found, scope, rows))
        else:
            # Others cache by this version too: it has to differ wherever the visible values do.
            version = f"{found.catalogue.generation}.{found.version}"
            key = (kb, version, scope.digest)
            if self._known(key) is None:
                made = await self._own(found, scope, f"{version}.{scope.digest}")
                self._cache[key] = (self._now(), made)
        self._cache.move_to_end(key)
        while len(self._cache) > KEPT:
            self._cache.popitem(last=False)
        return self._cache[key][1]

    def _known(self, key: tuple[str, str, str], oldest: float = math.inf) -> Collection | None:
        """What is cached, unless it is `oldest` seconds old."""
        made, collection = self._cache.get(key, (-math.inf, None))
        return collection if self._now() - made < oldest else None

    async def _own(self, base: Base, scope: Scope, version: str) -> Collection:
        target = OwnTarget(base.catalogue)
        allowed = await self._allowed(target, scope)
        tallies = [Tally(field) for field in target.collection.fields]
        if not allowed.closed:
            await self._count(target, allowed, tallies)
        fields = [tally.described(most_texts=MAX_TEXTS) for tally in tallies]
        return _described(target, fields, scope, version)

    async def _foreign(self, foreign: Foreign, scope: Scope, count: int) -> Collection:
        """Its version tells what was seen, for a collection that is not ours tells none."""
        target, sample = await sampled_target(self._bases, foreign)
        allowed = await self._allowed(target, scope)
        tallies = [Tally(field) for field in target.collection.fields]
        complete = True
        if not allowed.closed:
            begun = Begun(foreign.name, target.key, sample, len(sample) < SAMPLE, count)
            complete = await self._count_rows(target, begun, allowed, tallies)
        fields = [tally.described(complete=complete) for tally in tallies]
        seen = hashlib.sha256("".join(field.model_dump_json() for field in fields).encode())
        version = f"rows-{count}.{seen.hexdigest()[:16]}.{scope.digest}"
        return _described(target, fields, scope, version)

    async def _allowed(self, target: Target, scope: Scope) -> Guard:
        everything = bind(EVERYTHING, target.collection)
        return guard(everything, scope, await self._connection.dialect())

    async def _count(self, target: OwnTarget, allowed: Guard, tallies: Sequence[Tally]) -> None:
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

    async def _count_rows(
        self, target: ForeignTarget, begun: Begun, allowed: Guard, tallies: Sequence[Tally]
    ) -> bool:
        """False if there are more rows than were looked at."""
        first = [row for row in map(target.metadata, begun.sample) if allowed.keeps(row)]
        columns = [name for name in target.outputs if name not in target.unlisted]
        share = len(first) / max(1, len(begun.sample))
        rows, complete = await further_rows(
            self._bases, begun, allowed.expression, columns, share=share
        )
        for metadata in (*first, *map(target.metadata, rows)):
            if allowed.keeps(metadata):
                for tally in tallies:
                    tally.add(metadata.get(tally.field.name))
        return complete

    async def _row_count(self, kb: str) -> int:
        stats = await self._connection.call("get_collection_stats", kb)
        return int(stats.get("row_count") or 0)


def _described(target: Target, fields: Sequence[Field], scope: Scope, version: str) -> Collection:
    return Collection(
        name=target.collection.name,
        fields=_visible(tuple(fields), scope),
        description=target.collection.description,
        version=version,
    )


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
