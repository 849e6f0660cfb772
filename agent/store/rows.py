"""Rows of the two collections, made from drafts and read back."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from shlex import quote
from typing import Any

from pydantic import JsonValue

from agent.store.analysis import index_text
from agent.store.columns import VARCHAR_BYTES, encode, fitting, is_longer
from agent.store.layout import ID_BYTES, Catalogue
from schemas.drafts import ChunkDraft, DocumentDraft
from schemas.errors import DimensionMismatch, IngestError
from schemas.hits import Document, Passage

log = logging.getLogger(__name__)

Row = dict[str, Any]


def chunk_id(revision: str, position: int) -> str:
    """`position` counts a document's chunks from 0."""
    return f"{revision}-{position}"


def chunk_ids(document: Mapping[str, Any]) -> list[str]:
    """Ids of the chunks that a document's row stands for, in order."""
    return [chunk_id(document["revision"], position) for position in range(document["chunks"])]


def moved_id(id_: str, revision: str) -> str:
    """The id of the same chunk under another revision."""
    return f"{revision}-{id_.rsplit('-', 1)[1]}"


def chunk_rows(
    catalogue: Catalogue,
    draft: DocumentDraft,
    vectors: Sequence[Sequence[float]],
    revision: str,
    cells: Row,
) -> list[Row]:
    """`cells` are those of the document's metadata. Raises IngestError or DimensionMismatch before
    anything is sent.
    """
    if len(vectors) != len(draft.chunks):
        raise IngestError(
            f"document {draft.id!r} has {len(draft.chunks)} chunks and {len(vectors)} vectors"
        )
    return [
        {
            "id": chunk_id(revision, position),
            **_chunk_row(catalogue, draft, chunk, vector, revision),
            **(_own_cells(catalogue, draft, chunk) if chunk.metadata else cells),
        }
        for position, (chunk, vector) in enumerate(zip(draft.chunks, vectors, strict=True))
    ]


def _chunk_row(
    catalogue: Catalogue,
    draft: DocumentDraft,
    chunk: ChunkDraft,
    vector: Sequence[float],
    revision: str,
) -> Row:
    check_dimension(catalogue, len(vector))
    _check_text(draft.id, f"the text of chunk {chunk.index}", chunk.text)
    return {
        "doc_id": draft.id,
        "revision": revision,
        "chunk_index": chunk.index,
        "text": chunk.text,
        "heading": json.dumps(chunk.heading, ensure_ascii=False),
        "start": chunk.start,
        "stop": chunk.end,
        "enabled": True,
        "terms": index_text(chunk.embed_text),
        "dense": vector,
    }


def _own_cells(catalogue: Catalogue, draft: DocumentDraft, chunk: ChunkDraft) -> Row:
    return metadata_cells(catalogue, {**draft.metadata, **chunk.metadata}, draft.id)


def document_row(draft: DocumentDraft, revision: str, cells: Row, *, enabled: bool, at: str) -> Row:
    _check_id(draft.id)
    _check_text(draft.id, "its title", draft.title)
    _check_text(draft.id, "its source", draft.source)
    return {
        "id": draft.id,
        "revision": revision,
        "content_hash": draft.content_hash,
        "title": draft.title,
        "source": draft.source,
        "enabled": enabled,
        "chunks": len(draft.chunks),
        "ingested_at": at,
        "nothing": [0.0, 0.0],
        **cells,
    }


def recoded(catalogue: Catalogue, row: Mapping[str, Any], metadata: Mapping[str, JsonValue]) -> Row:
    """A stored row (without field columns) with its metadata encoded for a catalogue."""
    document = str(row.get("doc_id", row["id"]))
    return {**row, **metadata_cells(catalogue, metadata, document)}


def metadata_cells(catalogue: Catalogue, metadata: Mapping[str, JsonValue], document: str) -> Row:
    """Metadata as the columns of a row. Raises IngestError on what is too large."""
    cells = encode(metadata, catalogue.fields, document)
    original, left_out = fitting(metadata, catalogue.fields, document)
    if left_out:
        log.warning("document %r: metadata too large, left out: %s", document, ", ".join(left_out))
    return {"original": original, **cells}


def check_dimension(catalogue: Catalogue, dimension: int, model: str | None = None) -> None:
    """Raises DimensionMismatch naming both sides and the way out."""
    if dimension == catalogue.dimension and model in (None, catalogue.embedding_model):
        return
    raise DimensionMismatch(
        f"knowledge base {catalogue.name!r} holds vectors of {catalogue.embedding_model!r} with"
        f" {catalogue.dimension} dimensions, not of {model or 'a model'!r} with {dimension}",
        remedy=f"embed it again with: facetwise reindex --kb {quote(catalogue.name)}, use the"
        f" embedding model {catalogue.embedding_model!r}, or ingest into a new knowledge base",
    )


def _check_id(id_: str) -> None:
    if not id_ or len(id_.encode()) > ID_BYTES:
        raise IngestError(f"document id {id_[:80]!r} is not 1 to {ID_BYTES:,} bytes long")


def _check_text(document: str, what: str, text: str) -> None:
    if is_longer(text, VARCHAR_BYTES):
        size = len(text.encode())
        raise IngestError(
            f"document {document!r}: {what} has {size:,} bytes;"
            f" at most {VARCHAR_BYTES:,} can be stored"
        )


def to_document(kb: str, row: Mapping[str, Any]) -> Document:
    return Document(
        id=row["id"],
        kb=kb,
        source=row["source"],
        title=row["title"],
        metadata=original(row),
        chunks=row["chunks"],
        content_hash=row["content_hash"],
        revision=row["revision"],
        enabled=row["enabled"],
        ingested_at=row["ingested_at"],
    )


def to_passage(kb: str, row: Mapping[str, Any], document: Mapping[str, Any]) -> Passage:
    """A chunk's row with the row of its document."""
    return Passage(
        id=row["id"],
        doc_id=row["doc_id"],
        kb=kb,
        title=document["title"],
        text=row["text"],
        source=document["source"],
        chunk_index=row["chunk_index"],
        whole=document["chunks"] == 1,
        heading=tuple(json.loads(row["heading"])),
        metadata=original(row),
    )


def original(row: Mapping[str, Any]) -> dict[str, JsonValue]:
    """The metadata as people wrote it."""
    return dict(row["original"] or {})
