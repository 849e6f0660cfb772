"""Pairs of collections of a knowledge base: made, rebuilt with other columns, dropped."""

from __future__ import annotations

import logging
import secrets
from typing import Any

from pymilvus import CollectionSchema
from pymilvus.milvus_client.index import IndexParams

from agent.store.bases import Bases
from agent.store.connection import CollectionMissing, Connection
from agent.store.layout import (
    CATALOGUE_KEY,
    CHUNK_COLUMNS,
    DOCUMENT_COLUMNS,
    VERSION_KEY,
    WRITER_KEY,
    Catalogue,
    chunks_indexes,
    chunks_schema,
    documents_indexes,
    documents_schema,
)
from agent.store.reading import pages, put
from agent.store.rows import original, recoded
from schemas.compile.milvus import Dialect
from schemas.errors import StoreError

log = logging.getLogger(__name__)

COPY_BYTES = 24_000_000
"""About how much of a collection is copied at once."""

SERVER_COLUMNS = 64


async def create_pair(bases: Bases, catalogue: Catalogue) -> None:
    """Both collections, empty and loaded; leftovers of the same generation are replaced."""
    lite = await bases.connection.is_lite()
    _check_engine(await bases.connection.dialect(), catalogue)
    made = (
        (
            catalogue.chunks,
            chunks_schema(catalogue, lite=lite),
            chunks_indexes(catalogue, lite=lite),
        ),
        (
            catalogue.documents,
            documents_schema(catalogue),
            documents_indexes(catalogue, lite=lite),
        ),
    )
    for name, schema, indexes in made:
        await drop(bases, name)
        await create(bases.connection, name, schema, indexes)


async def create(
    connection: Connection, name: str, schema: CollectionSchema, indexes: IndexParams
) -> None:
    """A loaded collection that shows what was written at once. Three calls, since the one that
    does it all in pymilvus retries and waits on its own account.
    """
    await connection.call("create_collection", name, schema=schema, consistency_level="Strong")
    await connection.call("create_index", name, indexes, sync=False)
    await connection.call("load_collection", name)


def _check_engine(dialect: Dialect, catalogue: Catalogue) -> None:
    if dialect is Dialect.V23:
        raise StoreError(
            "this Milvus server has neither nullable columns nor BM25, which knowledge bases need",
            remedy="use Milvus 2.6 or later, or the embedded store",
        )
    if dialect is not Dialect.LITE and catalogue.columns > SERVER_COLUMNS:
        raise StoreError(
            f"knowledge base {catalogue.name!r} needs {catalogue.columns} columns for"
            f" {len(catalogue.fields)} fields; a Milvus server takes {SERVER_COLUMNS}",
            remedy="keep fewer metadata fields",
        )


async def save_catalogue(bases: Bases, catalogue: Catalogue) -> None:
    """Makes a generation the current one, or changes its catalogue; atomic."""
    await bases.connection.call(
        "alter_collection_properties",
        catalogue.documents,
        properties={
            CATALOGUE_KEY: catalogue.model_dump_json(),
            VERSION_KEY: secrets.token_hex(8),
        },
    )


async def rebuild(bases: Bases, old: Catalogue, wanted: Catalogue) -> Catalogue:
    """A new generation with other columns; vectors are copied, nothing is embedded again.

    The old generation answers until the new one is whole. What another process writes to the
    old one meanwhile is found by its version, and the copy is made again.
    """
    new = wanted.model_copy(update={"generation": old.generation + 1})
    log.info("%s: rebuilding for %d fields", new.name, len(new.fields))
    for _ in range(3):
        before = await bases.own(old.name)
        await create_pair(bases, new)
        await _copy(bases, old, new)
        if (await bases.own(old.name)).version == before.version:
            break
    else:
        raise StoreError(
            f"knowledge base {old.name!r} is being written by another process",
            remedy="let the other run end, then repeat this one",
        )
    await save_catalogue(bases, new)
    await drop_before(bases, new)
    return new


async def _copy(bases: Bases, old: Catalogue, new: Catalogue) -> None:
    pairs = (
        (old.chunks, new.chunks, CHUNK_COLUMNS),
        (old.documents, new.documents, DOCUMENT_COLUMNS),
    )
    size = max(500, min(8_000, COPY_BYTES // (4 * new.dimension + 4_096)))
    for source, target, columns in pairs:
        async for rows in pages(bases, source, "", columns, size=size):
            await put(bases, target, [_copied(new, row) for row in rows])


def _copied(new: Catalogue, row: dict[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in row.items() if name != "sparse"}
    return recoded(new, kept, original(row))


async def drop_before(bases: Bases, current: Catalogue) -> None:
    """Drop what earlier generations left."""
    for physical in await bases.generations(current.name):
        kept = current.archive if physical.kind == "versions" else current.generation
        if physical.generation < kept:
            await drop(bases, physical.name)


async def drop(bases: Bases, collection: str) -> None:
    try:
        await bases.connection.call("drop_collection", collection)
    except CollectionMissing:
        log.debug("%s is gone already", collection)


async def touch(connection: Connection, catalogue: Catalogue, *, writer: str | None = None) -> None:
    """Tell every cache of the knowledge base, in any process, that it has changed."""
    properties = {VERSION_KEY: secrets.token_hex(8)}
    if writer is not None:
        properties[WRITER_KEY] = writer
    await connection.call("alter_collection_properties", catalogue.documents, properties=properties)
