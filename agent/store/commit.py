"""How documents become visible, and how what they replace goes away.

New chunks are written first, then what is replaced is archived, then one upsert of the
document's row names the new revision and thereby makes it visible, then the old chunks are
deleted. Stopped anywhere, either the old or the new document is visible, and wholly.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from agent.store.archive import archive
from agent.store.bases import Bases
from agent.store.generations import touch
from agent.store.layout import DOCUMENT_COLUMNS, Catalogue
from agent.store.reading import pages, put, remove, rows_by
from agent.store.revisions import Clock, is_stale
from agent.store.rows import Row, chunk_ids

log = logging.getLogger(__name__)

Before = Mapping[str, Mapping[str, Any]]
"""Rows of documents as they were before a write, by id."""


async def stored(bases: Bases, catalogue: Catalogue, ids: Sequence[str]) -> Before:
    rows = await rows_by(bases, catalogue.documents, "id", ids, DOCUMENT_COLUMNS)
    return {row["id"]: row for row in rows}


async def titles(bases: Bases, catalogue: Catalogue, ids: Sequence[str]) -> Mapping[str, str]:
    """Titles of documents by their visible revision."""
    rows = await rows_by(bases, catalogue.documents, "id", ids, ["revision", "title"])
    return {row["revision"]: row["title"] for row in rows}


async def commit(
    bases: Bases,
    catalogue: Catalogue,
    chunks: Sequence[Row],
    documents: Sequence[Row],
    before: Before,
    *,
    orphans: bool = False,
    keep: int = 0,
) -> None:
    """Make documents visible; `before` are the rows of those that they replace, of which
    `keep` versions stay in the archive. `orphans` asks to look for chunks of writes cut off,
    for which Lite reads the whole collection; else old chunks are known from the old rows.
    """
    ids = [row["id"] for row in documents]
    old = {id_ for row in before.values() for id_ in chunk_ids(row)}
    if orphans:
        old.update(row["id"] for row in await rows_by(bases, catalogue.chunks, "doc_id", ids, []))
    await put(bases, catalogue.chunks, chunks)
    if keep:
        await archive(bases, catalogue, before, keep)
    await put(bases, catalogue.documents, documents)
    await remove(bases, catalogue.chunks, sorted(old))
    await touch(bases.connection, catalogue)


async def sweep(bases: Bases, catalogue: Catalogue, now: Clock) -> bool:
    """Delete the chunks of revisions that are not visible and that nobody is writing; whether
    none are left, as there are where somebody may still be writing them.
    """
    visible: set[str] = set()
    async for rows in pages(bases, catalogue.documents, "", ["revision"]):
        visible.update(row["revision"] for row in rows)
    orphans: list[str] = []
    young = 0
    async for rows in pages(bases, catalogue.chunks, "", ["revision"]):
        alone = [row for row in rows if row["revision"] not in visible]
        stale = [row["id"] for row in alone if is_stale(row["revision"], now())]
        orphans += stale
        young += len(alone) - len(stale)
    if orphans:
        log.info("%s: removing %d chunks that no document owns", catalogue.name, len(orphans))
    await remove(bases, catalogue.chunks, orphans)
    return not young
