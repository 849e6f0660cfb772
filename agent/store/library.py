"""Writing knowledge bases.

A document is replaced in three steps: the chunks of a new revision, then one upsert of the
document's row, which names that revision and thereby makes it visible, then the deletion of the
old chunks. Stopped anywhere, either the old or the new document is visible, and wholly.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from agent.store.analysis import ANALYZER
from agent.store.bases import Base, Bases
from agent.store.columns import column_of
from agent.store.connection import CollectionMissing, Connection
from agent.store.generations import create_pair, drop_before, rebuild, save_catalogue
from agent.store.layout import VERSION_KEY, Catalogue
from agent.store.reading import batches, pages, rows_by
from agent.store.revisions import Clock, is_stale, new_revision
from agent.store.rows import Row, check_dimension, chunk_rows, document_row
from schemas.collection import Field
from schemas.drafts import DocumentDraft
from schemas.errors import DimensionMismatch, IngestError, UsageError

log = logging.getLogger(__name__)

WRITE_ROWS = 1_000
"""Rows sent at once; with 1,024 dimensions about 8 MB of the 64 MB of a message."""


class DocumentsRefused(IngestError):
    """Some documents of a batch were not stored; the others were. `reasons` is by document id."""

    def __init__(self, reasons: Mapping[str, str], *, remedy: str = "") -> None:
        super().__init__("; ".join(reasons.values()), remedy=remedy)
        self.reasons = dict(reasons)


class MilvusLibrary:
    """The writing side of a store. `now` is the clock for revisions and `ingested_at`."""

    def __init__(self, connection: Connection, *, now: Clock) -> None:
        self._connection = connection
        self._bases = Bases(connection)
        self._now = now
        self._locks: dict[str, asyncio.Lock] = {}

    async def names(self) -> tuple[str, ...]:
        """All knowledge bases that are ours, sorted."""
        return await self._bases.names()

    async def fields(self, kb: str) -> tuple[Field, ...] | None:
        """The fields with their columns; None if there is no such knowledge base."""
        found = await self._bases.find(kb)
        return None if found is None else found.catalogue.fields

    async def hashes(self, kb: str) -> dict[str, str]:
        """Content hash by id of every stored document, disabled ones too; empty if no such kb."""
        found = await self._bases.find(kb)
        if found is None:
            return {}
        stored: dict[str, str] = {}
        async for rows in pages(self._bases, found.catalogue.documents, "", ["content_hash"]):
            stored.update((row["id"], row["content_hash"]) for row in rows)
        return stored

    async def prepare(
        self,
        kb: str,
        fields: Sequence[Field],
        *,
        dimension: int,
        embedding_model: str,
        access_fields: Sequence[str] = (),
    ) -> None:
        """Create the knowledge base, or bring its fields up to these (none is ever removed).

        Raises DimensionMismatch if it holds vectors of another model, and UsageError if a
        field has another type there. Nothing is written before these checks.
        """
        async with self._lock(kb):
            found = await self._bases.find(kb)
            if found is None:
                await self._create(kb, fields, dimension, embedding_model, access_fields)
                return
            check_dimension(found.catalogue, dimension, embedding_model)
            await self._evolve(found, fields, access_fields)

    async def write(
        self, kb: str, documents: Sequence[tuple[DocumentDraft, Sequence[Sequence[float]]]]
    ) -> None:
        """Store or replace documents, with one vector per chunk.

        Documents that cannot be stored are left out and named by DocumentsRefused after the
        others are visible. Raises UnknownKnowledgeBase, DimensionMismatch.
        """
        async with self._lock(kb):
            base = await self._bases.own(kb)
            catalogue = await self._with_chunk_fields(base.catalogue, documents)
            await self._write(catalogue, documents)

    async def delete(self, kb: str, ids: Sequence[str]) -> int:
        """Remove documents with all their chunks; how many there were."""
        async with self._lock(kb):
            catalogue = (await self._bases.own(kb)).catalogue
            rows = await rows_by(self._bases, catalogue.documents, "id", ids, ["revision"])
            found = [row["id"] for row in rows]
            for part in batches(found, WRITE_ROWS):
                await self._connection.call("delete", catalogue.documents, ids=list(part))
            stored = await rows_by(self._bases, catalogue.chunks, "doc_id", ids, [])
            await self._delete_chunks(catalogue, [row["id"] for row in stored])
            await self._touch(catalogue)
            return len(found)

    async def finish(self, kb: str) -> None:
        """Flush, remove what no document owns, and let every catalogue cache see the change."""
        async with self._lock(kb):
            base = await self._bases.own(kb)
            await drop_before(self._bases, kb, base.catalogue.generation)
            await self._sweep(base.catalogue)
            for collection in (base.catalogue.chunks, base.catalogue.documents):
                await self._connection.call("flush", collection)
            await self._touch(base.catalogue)

    async def drop(self, kb: str) -> None:
        """Remove a knowledge base with everything in it. Raises UnknownKnowledgeBase."""
        async with self._lock(kb):
            await self._bases.own(kb)
            mine = await self._bases.generations(kb)
            # Without its documents collections the knowledge base is gone; the rest is space.
            for physical in sorted(mine, key=lambda p: (p.kind != "documents", p.generation)):
                await self._connection.call("drop_collection", physical.name)

    def _lock(self, kb: str) -> asyncio.Lock:
        return self._locks.setdefault(kb, asyncio.Lock())

    async def _create(
        self,
        kb: str,
        fields: Sequence[Field],
        dimension: int,
        embedding_model: str,
        access_fields: Sequence[str],
    ) -> None:
        mine = await self._bases.generations(kb)
        catalogue = Catalogue(
            name=kb,
            generation=1 + max((p.generation for p in mine), default=0),
            fields=_stored_fields(fields, access_fields),
            dimension=dimension,
            embedding_model=embedding_model,
            access_fields=tuple(access_fields),
            analyzer=ANALYZER,
            unicode=unicodedata.unidata_version,
        )
        await create_pair(self._bases, catalogue)
        await save_catalogue(self._bases, catalogue)
        await drop_before(self._bases, kb, catalogue.generation)

    async def _evolve(
        self, base: Base, fields: Sequence[Field], access_fields: Sequence[str]
    ) -> None:
        old = base.catalogue
        access = tuple(dict.fromkeys((*old.access_fields, *access_fields)))
        wanted = old.model_copy(
            update={
                "fields": _stored_fields(_merged(old, fields), access),
                "access_fields": access,
                "unicode": unicodedata.unidata_version,
                "analyzer": ANALYZER,
            }
        )
        if wanted == old:
            return
        same_columns = [f.column for f in wanted.fields] == [f.column for f in old.fields]
        if same_columns and wanted.unicode == old.unicode and wanted.analyzer == old.analyzer:
            await save_catalogue(self._bases, wanted)
            return
        await rebuild(self._bases, old, wanted)

    async def _with_chunk_fields(
        self,
        catalogue: Catalogue,
        documents: Sequence[tuple[DocumentDraft, Sequence[Sequence[float]]]],
    ) -> Catalogue:
        """Note fields that chunks have of their own: they are counted on chunks from then on."""
        names = {name for draft, _ in documents for c in draft.chunks for name in c.metadata}
        declared = [f.name for f in catalogue.fields if f.name in names]
        chunk_fields = tuple(dict.fromkeys((*catalogue.chunk_fields, *declared)))
        if chunk_fields == catalogue.chunk_fields:
            return catalogue
        wanted = catalogue.model_copy(update={"chunk_fields": chunk_fields})
        await save_catalogue(self._bases, wanted)
        return wanted

    async def _write(
        self,
        catalogue: Catalogue,
        documents: Sequence[tuple[DocumentDraft, Sequence[Sequence[float]]]],
    ) -> None:
        ids = [draft.id for draft, _ in documents]
        before = await rows_by(self._bases, catalogue.documents, "id", ids, ["enabled"])
        enabled = {row["id"]: bool(row["enabled"]) for row in before}
        old = await rows_by(self._bases, catalogue.chunks, "doc_id", ids, ["doc_id"])
        chunks, rows, reasons = self._encode(catalogue, documents, enabled)
        await self._upsert(catalogue.chunks, chunks)
        await self._upsert(catalogue.documents, rows)
        written = {row["id"] for row in rows}
        await self._delete_chunks(catalogue, [r["id"] for r in old if r["doc_id"] in written])
        await self._touch(catalogue)
        if reasons:
            raise DocumentsRefused(reasons)

    def _encode(
        self,
        catalogue: Catalogue,
        documents: Sequence[tuple[DocumentDraft, Sequence[Sequence[float]]]],
        enabled: Mapping[str, bool],
    ) -> tuple[list[Row], list[Row], dict[str, str]]:
        """Rows of chunks and of documents, and why some have none. The last of an id counts."""
        now = self._now()
        chunks: list[Row] = []
        rows: list[Row] = []
        reasons: dict[str, str] = {}
        for draft, vectors in {draft.id: (draft, vectors) for draft, vectors in documents}.values():
            revision = new_revision(now)
            try:
                row = document_row(
                    catalogue,
                    draft,
                    revision,
                    enabled=enabled.get(draft.id, True),
                    at=now.isoformat(),
                )
                chunks += chunk_rows(catalogue, draft, vectors, revision)
            except IngestError as error:
                reasons[draft.id] = str(error)
                continue
            rows.append(row)
        return chunks, rows, reasons

    async def _upsert(self, collection: str, rows: Sequence[Row]) -> None:
        for part in batches(rows, WRITE_ROWS):
            await self._connection.call("upsert", collection, data=list(part))

    async def _delete_chunks(self, catalogue: Catalogue, ids: Sequence[str]) -> None:
        for part in batches(ids, WRITE_ROWS):
            await self._connection.call("delete", catalogue.chunks, ids=list(part))

    async def _sweep(self, catalogue: Catalogue) -> None:
        """Delete the chunks of revisions that are not visible and that nobody is writing."""
        visible: set[str] = set()
        async for rows in pages(self._bases, catalogue.documents, "", ["revision"]):
            visible.update(row["revision"] for row in rows)
        orphans: list[str] = []
        async for rows in pages(self._bases, catalogue.chunks, "", ["revision"]):
            orphans += [
                row["id"]
                for row in rows
                if row["revision"] not in visible and is_stale(row["revision"], self._now())
            ]
        if orphans:
            log.info("%s: removing %d chunks that no document owns", catalogue.name, len(orphans))
        await self._delete_chunks(catalogue, orphans)

    async def _touch(self, catalogue: Catalogue) -> None:
        await touch(self._connection, catalogue)


async def touch(connection: Connection, catalogue: Catalogue) -> None:
    """Tell every cache of the knowledge base, in any process, that it has changed."""
    await connection.call(
        "alter_collection_properties",
        catalogue.documents,
        properties={VERSION_KEY: secrets.token_hex(8)},
    )


def _stored_fields(fields: Sequence[Field], access_fields: Sequence[str]) -> tuple[Field, ...]:
    unknown = set(access_fields) - {field.name for field in fields}
    if unknown:
        log.info("access fields that no document has yet: %s", ", ".join(sorted(unknown)))
    return tuple(
        field.model_copy(
            update={
                "column": column_of(field, exact=field.name in access_fields),
                "values": (),
                "profile": None,
            }
        )
        for field in fields
    )


def _merged(old: Catalogue, fields: Sequence[Field]) -> tuple[Field, ...]:
    """The known fields with newer descriptions and synonyms, then the new ones."""
    given = {field.name: field for field in fields}
    merged = [_newer(field, given.pop(field.name, field), old.name) for field in old.fields]
    return (*merged, *given.values())


def _newer(old: Field, new: Field, kb: str) -> Field:
    if new.type is not old.type:
        raise UsageError(
            f"field {old.name!r} of knowledge base {kb!r} is of type {old.type}, not {new.type}",
            remedy="give the field its stored type, or ingest into a new knowledge base",
        )
    return old.model_copy(
        update={
            "description": new.description or old.description,
            "synonyms": new.synonyms or old.synonyms,
        }
    )
