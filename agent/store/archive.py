"""Replaced versions of documents, kept aside so that they can be listed and restored.

They stand in a collection of their own, chunks with their vectors and one row for the document,
without columns for fields: a search cannot meet them, and a new field does not concern them.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pymilvus import DataType, MilvusClient

from agent.store.bases import Bases
from agent.store.columns import VARCHAR_BYTES
from agent.store.connection import CollectionMissing
from agent.store.generations import create
from agent.store.layout import CHUNK_COLUMNS, ID_BYTES, Catalogue, add_text
from agent.store.reading import batches, pages, put, rows_by
from agent.store.rows import Row, chunk_ids

log = logging.getLogger(__name__)

ROWS = 500
DOCUMENT = -1
"""`chunk_index` of the row that stands for the document; its `heading` holds the columns of the
document's row as JSON."""

_CARRIED = ("content_hash", "title", "source", "chunks", "ingested_at", "enabled")


async def archive(
    bases: Bases, catalogue: Catalogue, before: Mapping[str, Mapping[str, Any]], keep: int
) -> None:
    """Copy these documents as they stand, and forget all but the `keep` newest of each."""
    if not before:
        return
    await create_versions(bases, catalogue)
    rows = [row for row in map(_document_row, before.values()) if _fits(row)]
    ids = [id_ for row in before.values() for id_ in chunk_ids(row)]
    await _put(bases, catalogue, [{**row, "dense": _no_vector(catalogue)} for row in rows])
    for part in batches(ids, ROWS):
        found = await rows_by(bases, catalogue.chunks, "id", part, CHUNK_COLUMNS)
        await _put(bases, catalogue, found)
    await _prune(bases, catalogue, list(before), keep)


async def archived(bases: Bases, catalogue: Catalogue, ids: Sequence[str]) -> list[Row]:
    """Rows of the archived versions of documents, newest first, as rows of documents."""
    rows = await _read(bases, catalogue, ids, ["doc_id", "revision", "heading", "original"])
    found = [
        {
            "id": row["doc_id"],
            "revision": row["revision"],
            "original": row["original"],
            **json.loads(row["heading"]),
        }
        for row in rows
    ]
    return sorted(found, key=lambda row: str(row["revision"]), reverse=True)


async def archived_chunks(bases: Bases, catalogue: Catalogue, version: Row) -> list[Row]:
    """The chunks of an archived version, by index."""
    rows = await rows_by(bases, catalogue.versions, "id", chunk_ids(version), CHUNK_COLUMNS)
    return sorted(rows, key=lambda row: int(row["chunk_index"]))


async def archived_titles(
    bases: Bases, catalogue: Catalogue, revisions: Iterable[str]
) -> dict[str, str]:
    """Titles of archived versions by revision."""
    ids = [_document_id(revision) for revision in revisions]
    rows = await rows_by(bases, catalogue.versions, "id", ids, ["revision", "heading"])
    return {row["revision"]: json.loads(row["heading"])["title"] for row in rows}


async def copy_documents(bases: Bases, old: Catalogue, new: Catalogue) -> None:
    """Copy the rows that stand for documents to the archive of another generation."""
    columns = ["document", *(name for name in CHUNK_COLUMNS if name != "dense")]
    async for rows in pages(bases, old.versions, f"chunk_index == {DOCUMENT}", columns, size=ROWS):
        await put(bases, new.versions, [{**row, "dense": _no_vector(new)} for row in rows])


def _no_vector(catalogue: Catalogue) -> list[float]:
    return [1.0, *([0.0] * (catalogue.dimension - 1))]


async def forget(bases: Bases, catalogue: Catalogue, ids: Sequence[str]) -> None:
    """Delete every archived version of these documents."""
    await _drop(bases, catalogue, await archived(bases, catalogue, ids))


async def _prune(bases: Bases, catalogue: Catalogue, ids: Sequence[str], keep: int) -> None:
    kept: dict[str, int] = {}
    surplus: list[Row] = []
    for row in await archived(bases, catalogue, ids):
        kept[row["id"]] = kept.get(row["id"], 0) + 1
        if kept[row["id"]] > keep:
            surplus.append(row)
    await _drop(bases, catalogue, surplus)


async def _drop(bases: Bases, catalogue: Catalogue, versions: Sequence[Row]) -> None:
    for row in versions:
        ids = [_document_id(row["revision"]), *chunk_ids(row)]
        await bases.connection.call("delete", catalogue.versions, ids=ids)


async def _read(
    bases: Bases, catalogue: Catalogue, ids: Sequence[str], fields: Sequence[str]
) -> list[Row]:
    """Only the rows that stand for documents are asked for: chunks are many and wide."""
    try:
        return await rows_by(bases, catalogue.versions, "document", ids, fields)
    except CollectionMissing:
        return []


def _document_id(revision: str) -> str:
    return f"{revision}-document"


def _document_row(row: Mapping[str, Any]) -> Row:
    return {
        "id": _document_id(row["revision"]),
        "document": row["id"],
        "doc_id": row["id"],
        "revision": row["revision"],
        "chunk_index": DOCUMENT,
        "text": "",
        "heading": json.dumps({name: row[name] for name in _CARRIED}, ensure_ascii=False),
        "start": 0,
        "stop": 0,
        "enabled": row["enabled"],
        "original": row["original"],
        "terms": "",
    }


def _fits(row: Row) -> bool:
    if len(row["heading"].encode()) <= VARCHAR_BYTES:
        return True
    log.warning("document %r is too large to be archived", row["doc_id"])
    return False


async def _put(bases: Bases, catalogue: Catalogue, rows: Sequence[Row]) -> None:
    await put(bases, catalogue.versions, [{"document": "", **row} for row in rows])


async def create_versions(bases: Bases, catalogue: Catalogue) -> None:
    """The collection, unless it is there."""
    if await bases.connection.call("has_collection", catalogue.versions):
        return
    schema = MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False)
    add_text(schema, "id", 64, is_primary=True)
    add_text(schema, "document", ID_BYTES)
    add_text(schema, "doc_id", ID_BYTES)
    add_text(schema, "revision", 32)
    schema.add_field("chunk_index", DataType.INT64)
    for name in ("text", "heading", "terms"):
        add_text(schema, name)
    schema.add_field("start", DataType.INT64)
    schema.add_field("stop", DataType.INT64)
    schema.add_field("enabled", DataType.BOOL)
    schema.add_field("original", DataType.JSON)
    schema.add_field("dense", DataType.FLOAT_VECTOR, dim=catalogue.dimension)
    indexes = MilvusClient.prepare_index_params()
    indexes.add_index("dense", index_type="FLAT", metric_type="COSINE")
    await create(bases.connection, catalogue.versions, schema, indexes)
