"""Stored documents changed without being embedded again: metadata set, versions restored."""

from __future__ import annotations

from collections.abc import Mapping
from shlex import quote
from typing import Any

from pydantic import JsonValue

from agent.store.archive import archived, archived_chunks
from agent.store.assignments import Changes, check_changes, check_known
from agent.store.bases import Bases
from agent.store.commit import Before, commit, stored
from agent.store.layout import CHUNK_COLUMNS, Catalogue
from agent.store.reading import rows_by
from agent.store.rows import Row, chunk_ids, moved_id, original, recoded
from schemas.errors import UnknownDocument


async def set_metadata(
    bases: Bases,
    catalogue: Catalogue,
    doc_id: str,
    changes: Changes,
    *,
    revision: str,
    keep: int,
) -> None:
    """Write the document and its chunks again under a new revision, with the same vectors;
    nothing where all values are there already.

    What is set holds for every chunk, whatever a chunk had of its own under that name.
    """
    check_changes(catalogue.fields, changes)
    before = await stored(bases, catalogue, [doc_id])
    row = _one(before, doc_id, catalogue)
    undeclared = original(row)
    check_known(catalogue.fields, [n for n in changes if n not in undeclared], catalogue.name)
    ids = chunk_ids(row)
    chunks = await rows_by(bases, catalogue.chunks, "id", ids, CHUNK_COLUMNS)
    old, new = original(row), changed(original(row), changes)
    wanted = [{**new, **_own(original(chunk), old, changes)} for chunk in chunks]
    if new == old and wanted == [original(chunk) for chunk in chunks]:
        return
    await commit(
        bases,
        catalogue,
        [
            _moved(catalogue, chunk, revision, metadata)
            for chunk, metadata in zip(chunks, wanted, strict=True)
        ],
        [recoded(catalogue, {**row, "revision": revision}, new)],
        before,
        keep=keep,
    )


async def restore(
    bases: Bases,
    catalogue: Catalogue,
    doc_id: str,
    wanted: str,
    *,
    revision: str,
    keep: int,
) -> None:
    """Make an archived version visible again, under a new revision."""
    present = await stored(bases, catalogue, [doc_id])
    _one(present, doc_id, catalogue)
    versions = await archived(bases, catalogue, [doc_id])
    version = next((row for row in versions if row["revision"] == wanted), None)
    if version is None:
        known = ", ".join(str(row["revision"]) for row in versions) or "none"
        raise UnknownDocument(
            f"document {doc_id!r} in {catalogue.name!r} has no version {wanted!r}; known: {known}",
            remedy=f"list its versions with: facetwise docs versions {quote(doc_id)}"
            f" --kb {quote(catalogue.name)}",
        )
    chunks = await archived_chunks(bases, catalogue, version)
    row = {**version, "revision": revision, "nothing": [0.0, 0.0]}
    await commit(
        bases,
        catalogue,
        [_moved(catalogue, chunk, revision, original(chunk)) for chunk in chunks],
        [recoded(catalogue, row, original(version))],
        present,
        keep=keep,
    )


def changed(metadata: Mapping[str, JsonValue], changes: Changes) -> dict[str, JsonValue]:
    return {name: value for name, value in {**metadata, **changes}.items() if value is not None}


def _own(
    chunk: Mapping[str, JsonValue], document: Mapping[str, JsonValue], changes: Changes
) -> dict[str, JsonValue]:
    """What a chunk keeps of its own beside the copy of its document's metadata."""
    return {
        name: value
        for name, value in chunk.items()
        if name not in changes and (name not in document or document[name] != value)
    }


def _moved(
    catalogue: Catalogue, chunk: Row, revision: str, metadata: Mapping[str, JsonValue]
) -> Row:
    kept = {name: chunk[name] for name in CHUNK_COLUMNS}
    moved = {**kept, "id": moved_id(chunk["id"], revision), "revision": revision}
    return recoded(catalogue, moved, metadata)


def _one(before: Before, doc_id: str, catalogue: Catalogue) -> Mapping[str, Any]:
    row = before.get(doc_id)
    if row is None:
        raise UnknownDocument(f"there is no document {doc_id!r} in {catalogue.name!r}")
    return row
