"""Rows put into a knowledge base, so that they are searched as documents are."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import groupby

from agent.app import Agent
from agent.store.library import MilvusLibrary
from evals.corpora import Row
from evals.fingerprints import digest
from schemas.collection import Collection, Field
from schemas.drafts import ChunkDraft, DocumentDraft
from schemas.errors import DimensionMismatch

BATCH = 128


async def stock(
    agent: Agent,
    kb: str,
    rows: Sequence[Row],
    collection: Collection,
    *,
    metadata_in_text: bool = False,
) -> None:
    """Bring a knowledge base to hold these rows and nothing else; unchanged ones stay as they
    are. Rows of one document have to stand together. With `metadata_in_text` the metadata is
    written into what is embedded and indexed.
    """
    library = (await agent.store()).library
    embedder = await agent.embedder()
    drafts = [
        _draft(list(group), collection, metadata_in_text=metadata_in_text)
        for _, group in groupby(rows, key=lambda row: row.doc_id)
    ]
    await _prepare(agent, library, kb, collection)
    stored = await library.hashes(kb)
    gone = sorted(stored.keys() - {draft.id for draft in drafts})
    if gone:
        await library.delete(kb, gone)
    missing = [draft for draft in drafts if stored.get(draft.id) != draft.content_hash]
    for batch in _batches(missing):
        texts = [chunk.embed_text for draft in batch for chunk in draft.chunks]
        vectors = iter(await embedder.embed_documents(texts))
        await library.write(kb, [(one, [next(vectors) for _ in one.chunks]) for one in batch])
    if missing or gone:
        await library.finish(kb)


async def _prepare(agent: Agent, library: MilvusLibrary, kb: str, collection: Collection) -> None:
    """A knowledge base of another embedding model is made anew: it is nobody's but ours."""
    embedder = await agent.embedder()
    dimension = await embedder.dimension()
    fields = [Field(name=f.name, type=f.type, description=f.description) for f in collection.fields]
    try:
        await library.prepare(kb, fields, dimension=dimension, embedding_model=embedder.name)
    except DimensionMismatch:
        await library.drop(kb)
        await library.prepare(kb, fields, dimension=dimension, embedding_model=embedder.name)


def _draft(rows: Sequence[Row], collection: Collection, *, metadata_in_text: bool) -> DocumentDraft:
    first = rows[0]
    known = {k: v for k, v in first.metadata.items() if k in collection.by_name and v is not None}
    chunks = tuple(
        ChunkDraft(
            index=index, text=row.text, embed_text=indexed_text(row, metadata=metadata_in_text)
        )
        for index, row in enumerate(rows)
    )
    content = [first.title, known, [[c.text, c.embed_text] for c in chunks]]
    return DocumentDraft(
        id=first.doc_id,
        source=first.doc_id,
        title=first.title,
        metadata=known,
        content_hash=digest(json.loads(json.dumps(content))),
        chunks=chunks,
    )


def indexed_text(row: Row, *, metadata: bool = False) -> str:
    """Title and text, and between them the metadata in one line per field."""
    lines = [row.title] if row.title else []
    if metadata:
        lines += [f"{name}: {_shown(value)}" for name, value in row.metadata.items()]
    return "\n".join([*lines, row.text])


def _shown(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _batches(drafts: Sequence[DocumentDraft]) -> Iterator[Sequence[DocumentDraft]]:
    return (drafts[i : i + BATCH] for i in range(0, len(drafts), BATCH))
