"""A knowledge base into a file and out of one, page by page."""

from __future__ import annotations

import asyncio
import json
import unicodedata
from collections.abc import AsyncIterator
from pathlib import Path

from agent.store.archive import create_versions
from agent.store.backup_file import (
    BackupReader,
    BackupWriter,
    Kind,
    new_backup,
    opened_backup,
)
from agent.store.bases import Base, Bases
from agent.store.commit import titles
from agent.store.declared import stored_fields
from agent.store.generations import create_pair, drop, drop_before, save_catalogue
from agent.store.layout import CHUNK_COLUMNS, DOCUMENT_COLUMNS, Catalogue, read_catalogue
from agent.store.reading import pages, put
from agent.store.rows import Row, original, recoded
from schemas.errors import (
    BackupDamaged,
    FacetwiseError,
    LayoutUnsupported,
    StoreDamaged,
    StoreError,
    UsageError,
)

ROWS = 500
"""Rows read from the store at once."""

_DOCUMENT = tuple(name for name in DOCUMENT_COLUMNS if name != "nothing")


async def back_up(bases: Bases, base: Base, path: Path, created: str) -> int:
    """Write everything of a knowledge base, which nobody may write meanwhile; how many documents.

    Raises UsageError for a place that cannot be written, StoreError for a full disk.
    """
    catalogue = base.catalogue
    count = 0
    with new_backup(path) as backup:
        async for rows in pages(bases, catalogue.documents, "", _DOCUMENT, size=ROWS):
            count += len(rows)
            await _add(backup, Kind.DOCUMENTS, rows, _DOCUMENT)
        async for rows in _owned(bases, catalogue):
            await _add(backup, Kind.CHUNKS, rows, CHUNK_COLUMNS)
        if await bases.connection.call("has_collection", catalogue.versions):
            columns = ("document", *CHUNK_COLUMNS)
            async for rows in pages(bases, catalogue.versions, "", columns, size=ROWS):
                await _add(backup, Kind.VERSIONS, rows, columns)
        if (await bases.own(catalogue.name)).version != base.version:
            raise StoreError(
                f"knowledge base {catalogue.name!r} was written from another machine meanwhile",
                remedy="repeat the backup",
            )
        backup.close(catalogue.model_dump(mode="json"), created)
    return count


async def _owned(bases: Bases, catalogue: Catalogue) -> AsyncIterator[list[Row]]:
    """Chunks without the leftovers of writes that were cut off."""
    async for rows in pages(bases, catalogue.chunks, "", CHUNK_COLUMNS, size=ROWS):
        named = await titles(bases, catalogue, [row["doc_id"] for row in rows])
        yield [row for row in rows if row["revision"] in named]


async def _add(backup: BackupWriter, kind: Kind, rows: list[Row], columns: tuple[str, ...]) -> None:
    kept = [{name: row[name] for name in columns} | {"original": original(row)} for row in rows]
    await asyncio.to_thread(backup.add, kind, kept)


async def restore_backup(bases: Bases, path: Path, kb: str | None, *, replace: bool) -> str:
    """Make a knowledge base of a backup, under its own name unless another is given; the name.

    The whole file is checked before anything is written, and nothing can be seen before all of
    it is there. Raises BackupDamaged, and UsageError if there is one of the name already.
    """
    with opened_backup(path) as backup:
        wanted = _catalogue(backup, path)
        name = kb or wanted.name
        await asyncio.to_thread(_check, backup, wanted, path)
        async with bases.connection.writing(name):
            if not replace and await _exists(bases, name):
                raise UsageError(
                    f"there is a knowledge base {name!r} already",
                    remedy="give --replace to put the backup in its place, or another name: --kb",
                )
            generations = await bases.generations(name)
            generation = 1 + max((p.generation for p in generations), default=0)
            new = wanted.model_copy(
                update={"name": name, "generation": generation, "archive": generation}
            )
            await _fill(bases, backup, new)
            await save_catalogue(bases, new)
            await drop_before(bases, new)
        return name


async def _exists(bases: Bases, kb: str) -> bool:
    try:
        return await bases.find(kb) is not None
    except (StoreDamaged, LayoutUnsupported):
        return True


def _catalogue(backup: BackupReader, path: Path) -> Catalogue:
    """The catalogue with columns as they are made now."""
    try:
        found = read_catalogue(json.dumps(backup.manifest.catalogue), str(path))
    except StoreDamaged as error:
        raise BackupDamaged(f"{path} cannot be restored: {error}") from error
    return found.model_copy(
        update={
            "fields": stored_fields(found.fields, found.access_fields),
            "unicode": unicodedata.unidata_version,
        }
    )


def _check(backup: BackupReader, catalogue: Catalogue, path: Path) -> None:
    """Raises BackupDamaged unless every document has its passages, and no passage is alone."""
    chunks: dict[str, int] = {}
    for kind, rows in backup.parts(catalogue.dimension):
        for row in rows:
            match kind:
                case Kind.DOCUMENTS:
                    chunks[row["revision"]] = chunks.get(row["revision"], 0) + row["chunks"]
                case Kind.CHUNKS:
                    chunks[row["revision"]] = chunks.get(row["revision"], 0) - 1
                case Kind.VERSIONS:
                    continue
    wrong = sum(1 for missing in chunks.values() if missing)
    if wrong:
        raise BackupDamaged(f"{path} cannot be restored: {wrong} documents are not whole in it")


async def _fill(bases: Bases, backup: BackupReader, new: Catalogue) -> None:
    try:
        await create_pair(bases, new)
        if backup.manifest.rows(Kind.VERSIONS):
            await create_versions(bases, new)
        parts = backup.parts(new.dimension)
        while (part := await asyncio.to_thread(next, parts, None)) is not None:
            kind, rows = part
            match kind:
                case Kind.DOCUMENTS:
                    documents = [{**row, "nothing": [0.0, 0.0]} for row in rows]
                    await put(bases, new.documents, [_recoded(new, row) for row in documents])
                case Kind.CHUNKS:
                    await put(bases, new.chunks, [_recoded(new, row) for row in rows])
                case Kind.VERSIONS:
                    await put(bases, new.versions, rows)
        for collection in (new.chunks, new.documents):
            await bases.connection.call("flush", collection)
    except FacetwiseError:
        for collection in (new.chunks, new.documents, new.versions):
            await drop(bases, collection)
        raise


def _recoded(catalogue: Catalogue, row: Row) -> Row:
    return recoded(catalogue, row, original(row))
