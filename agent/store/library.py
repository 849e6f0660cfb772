"""Writing knowledge bases."""

from __future__ import annotations

import secrets
import unicodedata
from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from agent.store.analysis import ANALYZER
from agent.store.archive import archived, forget
from agent.store.bases import Base, Bases
from agent.store.batch import Written, encoded
from agent.store.commit import commit, stored, sweep
from agent.store.connection import Connection
from agent.store.declared import merged_fields, stored_fields
from agent.store.generations import (
    create_pair,
    drop,
    drop_before,
    rebuild,
    save_catalogue,
    touch,
)
from agent.store.layout import Catalogue
from agent.store.reading import pages, remove, rows_by
from agent.store.revising import restore, set_metadata
from agent.store.revisions import Clock, new_revision
from agent.store.rows import check_dimension, to_document
from schemas.collection import Field
from schemas.hits import Document


class MilvusLibrary:
    """The writing side of a store. `now` is the clock for revisions and `ingested_at`;
    `keep_versions` is how many replaced versions of a document stay in the archive.
    """

    def __init__(self, connection: Connection, *, now: Clock, keep_versions: int = 3) -> None:
        self._keep = keep_versions
        self._connection = connection
        self._bases = Bases(connection)
        self._now = now
        self._name = secrets.token_hex(8)
        self._unclean: set[str] = set()

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
        async with self._connection.writing(kb):
            found = await self._bases.find(kb)
            if found is None:
                await self._create(kb, fields, dimension, embedding_model, access_fields)
                return
            check_dimension(found.catalogue, dimension, embedding_model)
            await self._evolve(found, fields, access_fields)

    async def write(self, kb: str, documents: Sequence[Written]) -> None:
        """Store or replace documents, with one vector per chunk.

        Raises DocumentsRefused before anything is written if some cannot be stored, and
        UnknownKnowledgeBase, DimensionMismatch.
        """
        async with self._connection.writing(kb):
            base = await self._bases.own(kb)
            await self._sign(base)
            catalogue = await self._with_chunk_fields(base.catalogue, documents)
            orphans = kb in self._unclean
            self._unclean.add(kb)
            await self._write(catalogue, documents, orphans=orphans)
            if not orphans:
                self._unclean.discard(kb)

    async def delete(self, kb: str, ids: Sequence[str]) -> int:
        """Remove documents with all their chunks and versions; how many there were."""
        async with self._connection.writing(kb):
            catalogue = (await self._bases.own(kb)).catalogue
            before = await stored(self._bases, catalogue, ids)
            await remove(self._bases, catalogue.documents, list(before))
            chunks = await rows_by(self._bases, catalogue.chunks, "doc_id", ids, [])
            await remove(self._bases, catalogue.chunks, [row["id"] for row in chunks])
            await forget(self._bases, catalogue, ids)
            await touch(self._connection, catalogue)
            return len(before)

    async def set_metadata(self, kb: str, doc_id: str, changes: Mapping[str, JsonValue]) -> None:
        """Set values of a document on all its chunks without embedding again; null removes one.

        Values have the types of the fields. Raises UnknownDocument, and UsageError for a value
        that is none of its field.
        """
        async with self._connection.writing(kb):
            catalogue = (await self._bases.own(kb)).catalogue
            await set_metadata(
                self._bases,
                catalogue,
                doc_id,
                changes,
                revision=new_revision(self._now()),
                keep=self._keep,
            )

    async def versions(self, kb: str, doc_id: str) -> tuple[Document, ...]:
        """Replaced versions of a document, newest first."""
        catalogue = (await self._bases.own(kb)).catalogue
        visible = await stored(self._bases, catalogue, [doc_id])
        current = {row["revision"] for row in visible.values()}
        rows = await archived(self._bases, catalogue, [doc_id])
        return tuple(to_document(kb, row) for row in rows if row["revision"] not in current)

    async def restore(self, kb: str, doc_id: str, revision: str) -> None:
        """Make a replaced version the visible one again. Raises UnknownDocument."""
        async with self._connection.writing(kb):
            catalogue = (await self._bases.own(kb)).catalogue
            await restore(
                self._bases,
                catalogue,
                doc_id,
                revision,
                revision=new_revision(self._now()),
                keep=self._keep,
            )

    async def finish(self, kb: str) -> None:
        """Flush, remove what no document owns, and let every catalogue cache see the change."""
        async with self._connection.writing(kb):
            base = await self._bases.own(kb)
            await drop_before(self._bases, kb, base.catalogue.generation)
            if kb in self._unclean or base.writer not in ("", self._name):
                await sweep(self._bases, base.catalogue, self._now)
                self._unclean.discard(kb)
            for collection in (base.catalogue.chunks, base.catalogue.documents):
                await self._connection.call("flush", collection)
            await touch(self._connection, base.catalogue, writer="")

    async def drop(self, kb: str) -> None:
        """Remove a knowledge base with everything in it. Raises UnknownKnowledgeBase."""
        async with self._connection.writing(kb):
            await self._bases.own(kb)
            mine = await self._bases.generations(kb)
            # Without its documents collections the knowledge base is gone; the rest is space.
            for physical in sorted(mine, key=lambda p: (p.kind != "documents", p.generation)):
                await drop(self._bases, physical.name)

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
            fields=stored_fields(fields, access_fields),
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
                "fields": stored_fields(merged_fields(old.fields, fields, old.name), access),
                "access_fields": access,
                "unicode": unicodedata.unidata_version,
            }
        )
        if wanted == old:
            return
        same_columns = [f.column for f in wanted.fields] == [f.column for f in old.fields]
        if same_columns and wanted.unicode == old.unicode:
            await save_catalogue(self._bases, wanted)
            return
        await rebuild(self._bases, old, wanted)

    async def _with_chunk_fields(
        self,
        catalogue: Catalogue,
        documents: Sequence[Written],
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

    async def _sign(self, base: Base) -> None:
        """Leave our name, so that whoever comes after a crash of ours looks for leftovers."""
        if base.writer == self._name:
            return
        if base.writer:
            self._unclean.add(base.catalogue.name)
        await touch(self._connection, base.catalogue, writer=self._name)

    async def _write(
        self,
        catalogue: Catalogue,
        documents: Sequence[Written],
        *,
        orphans: bool,
    ) -> None:
        before = await stored(self._bases, catalogue, [draft.id for draft, _ in documents])
        chunks, rows = encoded(catalogue, documents, before, self._now())
        await commit(
            self._bases,
            catalogue,
            chunks,
            rows,
            before,
            orphans=orphans,
            keep=self._keep,
        )
