"""Documents of a knowledge base: listed, shown, switched off and on."""

from __future__ import annotations

from collections.abc import AsyncIterator

from agent.store.bases import Bases
from agent.store.connection import Connection
from agent.store.generations import touch
from agent.store.guard import Guard, guard
from agent.store.layout import DOCUMENT_COLUMNS, Catalogue
from agent.store.reading import one_of, rows_by
from agent.store.rows import to_document
from agent.store.targets import OwnTarget
from agent.store.walk import chunk_rows, document_rows
from schemas.access import Scope
from schemas.check import Bound, bind
from schemas.errors import UnknownDocument
from schemas.filters import EVERYTHING
from schemas.hits import Document, Passage

LISTED = 500


class MilvusDocuments:
    """The stored documents, those that are switched off included."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._bases = Bases(connection)

    async def list(
        self,
        kb: str,
        scope: Scope,
        filter_: Bound | None = None,
        *,
        limit: int | None = None,
        after: str | None = None,
    ) -> tuple[Document, ...]:
        """Documents in scope that match, by id, from after the id `after`; all without a limit."""
        found: list[Document] = []
        async for document in self._walk(kb, scope, filter_, after):
            found.append(document)
            if limit is not None and len(found) >= limit:
                break
        return tuple(found)

    async def show(self, kb: str, doc_id: str, scope: Scope) -> Document:
        """One document. Raises UnknownDocument also for one out of scope."""
        target, allowed = await self._guarded(kb, scope, None)
        documents = target.catalogue.documents
        rows = await rows_by(self._bases, documents, "id", [doc_id], DOCUMENT_COLUMNS)
        for row in rows:
            if not allowed.closed and allowed.keeps(row["original"] or {}):
                return to_document(kb, row)
        raise _unknown(kb, doc_id)

    async def passages(self, kb: str, doc_id: str, scope: Scope) -> tuple[Passage, ...]:
        """The visible passages of a document in their order. Raises UnknownDocument."""
        await self.show(kb, doc_id, scope)
        target, allowed = await self._guarded(kb, scope, None)
        found: list[Passage] = []
        async for rows in chunk_rows(self._bases, target, allowed, also=one_of("doc_id", [doc_id])):
            found += [passage for _, passage in rows]
        return tuple(sorted(found, key=lambda passage: passage.chunk_index))

    async def set_enabled(self, kb: str, doc_id: str, enabled: bool) -> None:
        """Hide a document from search, counts and facets, or show it again.

        Raises UnknownDocument.
        """
        async with self._connection.writing(kb):
            catalogue = (await self._bases.own(kb)).catalogue
            if not await rows_by(self._bases, catalogue.documents, "id", [doc_id], []):
                raise _unknown(kb, doc_id)
            await self._switch(catalogue, catalogue.documents, doc_id, enabled)

    async def set_passage_enabled(self, kb: str, passage_id: str, enabled: bool) -> None:
        """Hide one passage, or show it again. Raises UnknownDocument."""
        async with self._connection.writing(kb):
            catalogue = (await self._bases.own(kb)).catalogue
            if not await rows_by(self._bases, catalogue.chunks, "id", [passage_id], []):
                raise UnknownDocument(f"there is no passage {passage_id!r} in {kb!r}")
            await self._switch(catalogue, catalogue.chunks, passage_id, enabled)

    async def _switch(self, catalogue: Catalogue, collection: str, id_: str, enabled: bool) -> None:
        # The one column alone: a whole row could undo what was written since it was read.
        await self._connection.call(
            "upsert", collection, data=[{"id": id_, "enabled": enabled}], partial_update=True
        )
        await touch(self._connection, catalogue)

    async def _walk(
        self, kb: str, scope: Scope, filter_: Bound | None, after: str | None
    ) -> AsyncIterator[Document]:
        target, allowed = await self._guarded(kb, scope, filter_)
        if allowed.closed:
            return
        async for rows in document_rows(
            self._bases,
            target,
            allowed,
            DOCUMENT_COLUMNS,
            size=LISTED,
            after=after,
            disabled=True,
        ):
            for row in rows:
                yield to_document(kb, row)

    async def _guarded(
        self, kb: str, scope: Scope, filter_: Bound | None
    ) -> tuple[OwnTarget, Guard]:
        target = OwnTarget((await self._bases.own(kb)).catalogue)
        root = EVERYTHING if filter_ is None else filter_.root
        bound = bind(root, target.collection)
        return target, guard(bound, scope, await self._connection.dialect())


def _unknown(kb: str, doc_id: str) -> UnknownDocument:
    return UnknownDocument(f"there is no document {doc_id!r} in {kb!r}")
