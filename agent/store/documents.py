"""Documents of a knowledge base: listed, shown, switched off and on."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

from agent.store.archive import archived
from agent.store.bases import Bases
from agent.store.connection import Connection
from agent.store.generations import touch
from agent.store.guard import Guard, guard
from agent.store.layout import DOCUMENT_COLUMNS, Catalogue
from agent.store.reading import rows_by
from agent.store.rows import chunk_ids, to_document, to_passage
from agent.store.targets import OwnTarget
from agent.store.walk import document_rows
from schemas.access import Scope
from schemas.check import Bound, bind
from schemas.errors import UnknownDocument
from schemas.filters import EVERYTHING
from schemas.hits import Document, Passage

LISTED = 500

LOOKS = 3
"""How often passages are asked for that were replaced while they were read."""


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
        return to_document(kb, await self._row(target, allowed, doc_id))

    async def versions(self, kb: str, doc_id: str, scope: Scope) -> tuple[Document, ...]:
        """Replaced versions of a document in scope, newest first, as far as they are in scope
        themselves. Raises UnknownDocument.
        """
        current = (await self.show(kb, doc_id, scope)).revision
        target, allowed = await self._guarded(kb, scope, None)
        rows = await archived(self._bases, target.catalogue, [doc_id])
        return tuple(
            to_document(kb, row)
            for row in rows
            if row["revision"] != current and allowed.keeps(row["original"] or {})
        )

    async def passages(self, kb: str, doc_id: str, scope: Scope) -> tuple[Passage, ...]:
        """The visible passages of a document in their order. Raises UnknownDocument."""
        target, allowed = await self._guarded(kb, scope, None)
        for _ in range(LOOKS):
            document = await self._row(target, allowed, doc_id)
            chunks = await rows_by(
                self._bases, target.chunks, "id", chunk_ids(document), target.outputs
            )
            if len(chunks) == document["chunks"]:
                break
        found = [
            to_passage(kb, row, document)
            for row in chunks
            if document["enabled"] and row["enabled"] and allowed.keeps(target.metadata(row))
        ]
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

    async def set_passage_enabled(self, kb: str, doc_id: str, index: int, enabled: bool) -> None:
        """Hide one passage, the `chunk_index` of which is given, or show it again.

        Raises UnknownDocument.
        """
        async with self._connection.writing(kb):
            catalogue = (await self._bases.own(kb)).catalogue
            found = await rows_by(
                self._bases, catalogue.documents, "id", [doc_id], ["revision", "chunks"]
            )
            if not found:
                raise _unknown(kb, doc_id)
            ids = chunk_ids(found[0])
            chunks = await rows_by(self._bases, catalogue.chunks, "id", ids, ["chunk_index"])
            known = {row["chunk_index"]: row["id"] for row in chunks}
            if index not in known:
                raise UnknownDocument(
                    f"document {doc_id!r} has no passage {index}; it has {len(known)}, from"
                    f" {min(known, default=0)} to {max(known, default=0)}",
                    remedy="name the passage by one of these numbers",
                )
            await self._switch(catalogue, catalogue.chunks, known[index], enabled)

    async def _row(self, target: OwnTarget, allowed: Guard, doc_id: str) -> Mapping[str, Any]:
        documents = target.catalogue.documents
        rows = await rows_by(self._bases, documents, "id", [doc_id], DOCUMENT_COLUMNS)
        for row in rows:
            if not allowed.closed and allowed.keeps(row["original"] or {}):
                return row
        raise _unknown(target.kb, doc_id)

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
