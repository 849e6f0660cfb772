"""Filtered hybrid search, counts and look-ups; nothing leaves here unchecked."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence

from agent.store.bases import Bases, Foreign
from agent.store.checked import first_visible
from agent.store.connection import CollectionMissing, Connection
from agent.store.fusion import Fusion
from agent.store.guard import Guard, guard
from agent.store.legs import Candidates, search_legs, similarities
from agent.store.listing import list_documents
from agent.store.questions import QueryEmbedder, Questions
from agent.store.reading import every, pages, rows_by
from agent.store.rows import chunk_id
from agent.store.targets import OwnTarget, Target, foreign_target
from agent.store.walk import chunk_rows, document_rows, is_about_chunks
from graph.ports import Found, Listed, Query
from schemas.access import Scope
from schemas.check import Bound, bind
from schemas.filters import EVERYTHING
from schemas.hits import Hit, Passage
from schemas.listing import Listing

DEPTH = 1_024
"""Candidates of a leg at most: what ranked search looks at."""

FIRST = 32
"""Candidates of a leg at least: hits found by both legs, and those that are dropped, make room."""

EXACT_ROWS = 2_048
"""Up to so many matching rows are scored here if the engine's graph index found too few."""

LOOKS = 3
"""How often a search is made again whose documents were replaced meanwhile."""

LISTED = 512


def depth_for(limit: int) -> int:
    """Candidates that each leg is asked for at first."""
    return min(DEPTH, max(FIRST, limit))


class MilvusSearcher:
    """The reading side of a store; `fusion` weighs text against vectors."""

    def __init__(
        self, connection: Connection, embedder: QueryEmbedder, *, fusion: Fusion | None = None
    ) -> None:
        self._connection = connection
        self._bases = Bases(connection)
        self._embedder = embedder
        self._fusion = fusion or Fusion()
        self._questions = Questions(embedder)

    async def search(self, query: Query, scope: Scope) -> Found:
        """At most `query.limit` hits, best first; without a text, the first passages of
        matching documents. Raises UnknownKnowledgeBase, FilterError, DimensionMismatch,
        StoreUnavailable and what the embedder raises.
        """
        for _ in range(LOOKS):
            try:
                found, overtaken = await self._search(query, scope)
            except CollectionMissing:
                # A rebuild has replaced the pair of collections since it was looked up.
                continue
            if not overtaken:
                return found
        return (await self._search(query, scope))[0]

    async def count(self, kb: str, filter_: Bound, scope: Scope) -> int:
        """How many visible documents match, however many there are."""
        try:
            return await self._count(kb, filter_, scope)
        except CollectionMissing:
            return await self._count(kb, filter_, scope)

    async def listing(
        self, kb: str, filter_: Bound, scope: Scope, listing: Listing, shown: int
    ) -> Listed:
        """All visible documents that match, counted exactly; the first `shown` of them."""
        try:
            return await self._all(kb, filter_, scope, listing, shown)
        except CollectionMissing:
            return await self._all(kb, filter_, scope, listing, shown)

    async def passages(self, kb: str, ids: Sequence[str], scope: Scope) -> tuple[Passage, ...]:
        """The visible ones of these passages, in the order asked for."""
        target = await self._target(kb)
        everything = bind(EVERYTHING, target.collection)
        allowed = guard(everything, scope, await self._connection.dialect())
        if allowed.closed or not ids:
            return ()
        rows = await target.rows(self._bases, ids)
        visible = await target.visible(self._bases, rows)
        shown = {
            target.id_of(row): visible[target.id_of(row)]
            for row in rows
            if target.id_of(row) in visible and allowed.keeps(target.metadata(row))
        }
        return tuple(shown[id_] for id_ in dict.fromkeys(ids) if id_ in shown)

    async def _target(self, kb: str) -> Target:
        found = await self._bases.resolve(kb)
        if isinstance(found, Foreign):
            return await foreign_target(self._bases, found)
        return OwnTarget(found.catalogue)

    async def _guarded(self, kb: str, filter_: Bound, scope: Scope) -> tuple[Target, Guard]:
        """The filter is bound again, to the knowledge base that is searched: one bound to
        another would name columns that mean something else here.
        """
        target = await self._target(kb)
        collection = target.collection
        if not isinstance(target, OwnTarget) and filter_.collection.name == kb:
            collection = filter_.collection
        bound = bind(filter_.root, collection)
        return target, guard(bound, scope, await self._connection.dialect())

    async def _search(self, query: Query, scope: Scope) -> tuple[Found, bool]:
        """What was found, and whether documents were replaced meanwhile, so that neither their
        old passages nor the new ones are in it.
        """
        started = time.perf_counter()
        target, allowed = await self._guarded(query.kb, query.filter, scope)
        if allowed.closed or query.limit < 1:
            return Found((), allowed.expression), False
        expression = every(target.enabled, allowed.expression)
        timings: dict[str, float] = {}
        if query.text.strip():
            hits = await self._ranked(query, target, allowed, expression, timings)
        else:
            hits = await self._listed(query, target, allowed)
        timings["total"] = (time.perf_counter() - started) * 1000
        return Found(tuple(hits), expression, timings), target.overtaken

    async def _ranked(
        self,
        query: Query,
        target: Target,
        allowed: Guard,
        expression: str,
        timings: dict[str, float],
    ) -> list[Hit]:
        started = time.perf_counter()
        vector = await self._questions.vector(query.text)
        timings["embed"] = (time.perf_counter() - started) * 1000
        target.check(len(vector), self._embedder.name)
        hits: list[Hit] = []
        for depth in dict.fromkeys((depth_for(query.limit), DEPTH)):
            found = await search_legs(
                self._bases,
                target,
                expression,
                terms=target.query_terms(f"{query.text} {query.terms}"),
                vector=vector,
                depth=depth,
            )
            hits = await self._checked(target, allowed, found, query.limit)
            timings.update(found.timings_ms)
            if len(hits) >= query.limit or found.exhausted:
                break
        if len(hits) < query.limit and not await self._connection.is_lite():
            await self._exact(target, expression, found, vector)
            hits = await self._checked(target, allowed, found, query.limit)
        return hits

    async def _checked(
        self, target: Target, allowed: Guard, found: Candidates, limit: int
    ) -> list[Hit]:
        fused = self._fusion.fuse(found.dense, found.bm25)
        ranked = [(found.rows[id_], fused[id_]) for id_ in fused if id_ in found.rows]
        return await first_visible(self._bases, target, allowed, ranked, limit)

    async def _exact(
        self,
        target: Target,
        expression: str,
        found: Candidates,
        vector: Sequence[float],
    ) -> None:
        """Score all matching rows one by one, if they are few: graph indexes lose hits under a
        selective filter.
        """
        if target.dense is not None:
            fields = [*target.outputs, target.dense]
            budget = EXACT_ROWS
            async for rows in pages(
                self._bases, target.chunks, expression, fields, size=EXACT_ROWS, key=target.key
            ):
                budget -= len(rows)
                if budget < 0 or len(rows) == EXACT_ROWS:
                    break
                found.rows.update((target.id_of(row), row) for row in rows)
                found.dense.update(similarities(vector, rows, target))

    async def _listed(self, query: Query, target: Target, allowed: Guard) -> list[Hit]:
        """The first passage of each matching document, by id, without scores."""
        found: dict[str, Passage] = {}
        async for passages in self._first_passages(target, allowed):
            for passage in passages:
                found.setdefault(passage.doc_id, passage)
            if len(found) >= query.limit:
                break
        return [Hit(passage=passage, score=1.0) for passage in list(found.values())[: query.limit]]

    async def _first_passages(
        self, target: Target, allowed: Guard
    ) -> AsyncIterator[Sequence[Passage]]:
        if isinstance(target, OwnTarget) and not is_about_chunks(target, allowed):
            async for rows in document_rows(
                self._bases, target, allowed, ["revision"], size=LISTED
            ):
                firsts = [chunk_id(row["revision"], 0) for row in rows]
                found = await self._visible(target, "id", firsts)
                seen = {passage.doc_id for passage in found}
                # The first passage of a document may be switched off.
                others = [row["id"] for row in rows if row["id"] not in seen]
                if others:
                    found += await self._visible(target, "doc_id", others)
                yield sorted(found, key=lambda passage: (passage.doc_id, passage.chunk_index))
            return
        async for page in chunk_rows(self._bases, target, allowed, size=LISTED):
            yield sorted((p for _, p in page), key=lambda p: (p.doc_id, p.chunk_index))

    async def _visible(
        self, target: OwnTarget, column: str, values: Sequence[str]
    ) -> list[Passage]:
        chunks = await rows_by(self._bases, target.chunks, column, values, target.outputs)
        return list((await target.visible(self._bases, chunks)).values())

    async def _all(
        self, kb: str, filter_: Bound, scope: Scope, listing: Listing, shown: int
    ) -> Listed:
        target, allowed = await self._guarded(kb, filter_, scope)

        async def count() -> int:
            return await self._count(kb, filter_, scope)

        return await list_documents(self._bases, target, allowed, listing, shown, count=count)

    async def _count(self, kb: str, filter_: Bound, scope: Scope) -> int:
        target, allowed = await self._guarded(kb, filter_, scope)
        if allowed.closed:
            return 0
        if not isinstance(target, OwnTarget) or is_about_chunks(target, allowed):
            ids = {
                passage.doc_id
                async for found in chunk_rows(self._bases, target, allowed)
                for _, passage in found
            }
            return len(ids)
        if not allowed.complete:
            return sum(
                [len(rows) async for rows in document_rows(self._bases, target, allowed, [])]
            )
        return await self._count_rows(target.catalogue.documents, target, allowed)

    async def _count_rows(self, collection: str, target: Target, allowed: Guard) -> int:
        """Lite's own count reads every column of every match; asking for ids is faster there."""
        expression = every(target.enabled, allowed.expression)
        if await self._connection.is_lite():
            return sum([len(rows) async for rows in pages(self._bases, collection, expression, [])])
        rows = await self._bases.read(
            "query", collection, filter=expression, output_fields=["count(*)"]
        )
        return int(rows[0]["count(*)"])
