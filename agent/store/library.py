"""Writing knowledge bases."""

from __future__ import annotations

import logging
import unicodedata
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from pydantic import JsonValue

from agent.store.analysis import ANALYZER
from agent.store.archive import forget
from agent.store.backup import back_up, restore_backup
from agent.store.bases import Base, Bases
from agent.store.batch import Written, encoded
from agent.store.commit import commit, stored, sweep
from agent.store.connection import Connection
from agent.store.declared import declared_fields, merged_fields, stored_fields
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
from agent.store.reindexing import DocumentEmbedder, OnProgress, Reindexing
from agent.store.revising import restore, set_metadata
from agent.store.revisions import Clock, new_revision
from agent.store.rows import check_dimension
from agent.store.signatures import Signatures
from schemas.collection import Field
from schemas.errors import LayoutUnsupported, StoreDamaged

log = logging.getLogger(__name__)


class MilvusLibrary:
    """The writing side of a store. `now` is the clock for revisions and `ingested_at`;
    `keep_versions` is how many replaced versions of a document stay in the archive.
    """

    def __init__(self, connection: Connection, *, now: Clock, keep_versions: int = 3) -> None:
        self._keep = keep_versions
        self._connection = connection
        self._bases = Bases(connection)
        self._now = now
        self._signatures = Signatures(connection)

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

    async def declared(self, kb: str) -> tuple[str, Mapping[str, JsonValue]]:
        """The description and the rules that `declare` stored; nothing if there is no such kb."""
        found = await self._bases.find(kb)
        return ("", {}) if found is None else (found.catalogue.description, found.catalogue.rules)

    async def declare(
        self, kb: str, fields: Sequence[Field], *, description: str, rules: Mapping[str, JsonValue]
    ) -> None:
        """Replace what is said of a knowledge base and of these of its fields."""
        async with self._connection.writing(kb):
            old = (await self._bases.own(kb)).catalogue
            update = {
                "fields": declared_fields(old.fields, fields),
                "description": description,
                "rules": dict(rules),
            }
            wanted = old.model_copy(update=update)
            if wanted != old:
                await save_catalogue(self._bases, wanted)

    async def write(self, kb: str, documents: Sequence[Written]) -> None:
        """Store or replace documents, with one vector per chunk.

        Raises DocumentsRefused before anything is written if some cannot be stored, and
        UnknownKnowledgeBase, DimensionMismatch.
        """
        async with self._connection.writing(kb):
            base = await self._bases.own(kb)
            await self._signatures.sign(base)
            catalogue = await self._with_chunk_fields(base.catalogue, documents)
            orphans = kb in self._signatures.unclean
            self._signatures.unclean.add(kb)
            await self._write(catalogue, documents, orphans=orphans)
            if not orphans:
                self._signatures.unclean.discard(kb)

    async def delete(self, kb: str, ids: Sequence[str]) -> int:
        """Remove documents with all their chunks and versions; how many there were."""
        async with self._changing(kb) as catalogue:
            before = await stored(self._bases, catalogue, ids)
            # A document whose versions are gone can be deleted again; the reverse would leave them.
            await forget(self._bases, catalogue, ids)
            await remove(self._bases, catalogue.documents, list(before))
            chunks = await rows_by(self._bases, catalogue.chunks, "doc_id", ids, [])
            await remove(self._bases, catalogue.chunks, [row["id"] for row in chunks])
            await touch(self._connection, catalogue)
            return len(before)

    async def set_metadata(self, kb: str, doc_id: str, changes: Mapping[str, JsonValue]) -> None:
        """Set values of a document on all its chunks without embedding again; null removes one.

        Values have the types of the fields. Raises UnknownDocument, and UsageError for a value
        that is none of its field.
        """
        async with self._changing(kb) as catalogue:
            revision = new_revision(self._now())
            await set_metadata(
                self._bases, catalogue, doc_id, changes, revision=revision, keep=self._keep
            )

    async def restore(self, kb: str, doc_id: str, revision: str) -> None:
        """Make a replaced version the visible one again. Raises UnknownDocument."""
        async with self._changing(kb) as catalogue:
            new = new_revision(self._now())
            await restore(self._bases, catalogue, doc_id, revision, revision=new, keep=self._keep)

    async def reindex(
        self, kb: str, embedder: DocumentEmbedder, *, batch: int, on_progress: OnProgress
    ) -> int:
        """Embed every passage again; searches see the old vectors until all is done, and a run
        that was cut off goes on where it was. How many passages there are, those of replaced
        versions included.
        """
        async with self._connection.writing(kb):
            base = await self._bases.own(kb)
            run = Reindexing(
                self._bases,
                base,
                embedder,
                dimension=await embedder.dimension(),
                batch=batch,
                on_progress=on_progress,
            )
            return await run.run()

    async def backup(self, kb: str, path: Path) -> int:
        """Write a knowledge base with everything in it to one file; how many documents it has.

        Raises UnknownKnowledgeBase, UsageError for a place that cannot be written.
        """
        async with self._connection.writing(kb):
            base = await self._bases.own(kb)
            return await back_up(self._bases, base, path, self._now().isoformat())

    async def restore_backup(
        self, path: Path, kb: str | None = None, *, replace: bool = False
    ) -> str:
        """Make a knowledge base of a backup, under its own name unless one is given; the name.

        Raises BackupDamaged before anything is changed, and UsageError where there is one of
        the name that is not to be replaced.
        """
        return await restore_backup(self._bases, path, kb, replace=replace)

    async def finish(self, kb: str) -> None:
        """Flush, remove what no document owns, and let every catalogue cache see the change."""
        async with self._connection.writing(kb):
            base = await self._bases.own(kb)
            await drop_before(self._bases, base.catalogue)
            clean = True
            if self._signatures.suspicious(base):
                clean = await sweep(self._bases, base.catalogue, self._now)
            for collection in (base.catalogue.chunks, base.catalogue.documents):
                await self._connection.call("flush", collection)
            await self._signatures.clear(base, clean=clean)

    async def drop(self, kb: str) -> None:
        """Remove a knowledge base with everything in it. Raises UnknownKnowledgeBase."""
        async with self._connection.writing(kb):
            try:
                await self._bases.own(kb)
            except (StoreDamaged, LayoutUnsupported) as error:
                log.info("dropping what cannot be read: %s", error)
            mine = await self._bases.generations(kb)
            # Without its documents collections the knowledge base is gone; the rest is space.
            for physical in sorted(mine, key=lambda p: (p.kind != "documents", p.generation)):
                await drop(self._bases, physical.name)

    @asynccontextmanager
    async def _changing(self, kb: str) -> AsyncIterator[Catalogue]:
        """For one change that leaves chunks behind if it is cut off."""
        async with self._connection.writing(kb):
            base = await self._bases.own(kb)
            async with self._signatures.signed(base):
                yield base.catalogue

    async def _create(
        self,
        kb: str,
        fields: Sequence[Field],
        dimension: int,
        embedding_model: str,
        access_fields: Sequence[str],
    ) -> None:
        mine = await self._bases.generations(kb)
        generation = 1 + max((p.generation for p in mine), default=0)
        catalogue = Catalogue(
            name=kb,
            generation=generation,
            archive=generation,
            fields=stored_fields(fields, access_fields),
            dimension=dimension,
            embedding_model=embedding_model,
            access_fields=tuple(access_fields),
            analyzer=ANALYZER,
            unicode=unicodedata.unidata_version,
        )
        await create_pair(self._bases, catalogue)
        await save_catalogue(self._bases, catalogue)
        await drop_before(self._bases, catalogue)

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
