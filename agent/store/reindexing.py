"""A knowledge base embedded again, with another model or the same one.

The new vectors go into a new generation, which becomes the current one with a single change of
its properties; until then the old one answers. A run that was cut off is gone on with, as long
as nothing was written meanwhile.
"""

from __future__ import annotations

import json
import logging
import unicodedata
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from agent.store.analysis import ANALYZER, index_text
from agent.store.archive import archived_titles, copy_documents, create_versions
from agent.store.bases import Base, Bases
from agent.store.commit import titles
from agent.store.embedded_text import embedded_text
from agent.store.generations import create_pair, drop, drop_before, save_catalogue
from agent.store.layout import CHUNK_COLUMNS, DOCUMENT_COLUMNS, REINDEX_KEY, Catalogue
from agent.store.reading import batches, pages, put
from agent.store.rows import Row, original, recoded
from schemas.errors import StoreError

log = logging.getLogger(__name__)

ROWS = 500
"""Passages read at once."""

PASSAGES = "chunk_index >= 0"
_READ = tuple(name for name in CHUNK_COLUMNS if name != "dense")


class DocumentEmbedder(Protocol):
    @property
    def name(self) -> str: ...

    async def dimension(self) -> int: ...

    async def embed_documents(self, texts: Sequence[str]) -> Sequence[Sequence[float]]: ...


@dataclass(frozen=True)
class Reindexed:
    """Passages embedded of all; those of replaced versions are passages too."""

    done: int
    total: int


OnProgress = Callable[[Reindexed], None]


class Reindexing:
    """One run over a knowledge base, which nobody else may write meanwhile. `batch` is how many
    texts are embedded at once.
    """

    def __init__(
        self,
        bases: Bases,
        base: Base,
        embedder: DocumentEmbedder,
        *,
        dimension: int,
        batch: int,
        on_progress: OnProgress,
    ) -> None:
        self._bases = bases
        self._base = base
        self._embedder = embedder
        self._batch = batch
        self._on_progress = on_progress
        self._done = self._total = 0
        self._old = base.catalogue
        generation = self._old.generation + 1
        self._new = self._old.model_copy(
            update={
                "generation": generation,
                "archive": generation,
                "dimension": dimension,
                "embedding_model": embedder.name,
                "analyzer": ANALYZER,
                "unicode": unicodedata.unidata_version,
            }
        )

    async def run(self) -> int:
        """How many passages there are. Raises what the embedder raises."""
        old, new = self._old, self._new
        has_versions = await self._bases.connection.call("has_collection", old.versions)
        sources = [old.chunks, *([old.versions] if has_versions else [])]
        await self._begin(has_versions)
        self._total = sum([await self._size(source) for source in sources])
        await self._visible()
        if has_versions:
            await copy_documents(self._bases, old, new)
            await self._replaced()
        async for rows in pages(self._bases, old.documents, "", DOCUMENT_COLUMNS):
            await put(self._bases, new.documents, [_recoded(new, row) for row in rows])
        if (await self._bases.own(old.name)).version != self._base.version:
            raise StoreError(
                f"knowledge base {old.name!r} was written from another machine meanwhile",
                remedy="let the other run end, then repeat this one",
            )
        await save_catalogue(self._bases, new)
        await drop_before(self._bases, new)
        return self._total

    async def _begin(self, has_versions: bool) -> None:
        """Collections to be filled: those of a run that was cut off, if they are for the same."""
        new = self._new
        mark = json.dumps(
            [self._base.version, self._old.generation, new.embedding_model, new.dimension]
        )
        if await self._bases.property_of(new.documents, REINDEX_KEY) == mark:
            log.info("%s: going on with the run that was cut off", new.name)
            return
        await drop(self._bases, new.versions)
        await create_pair(self._bases, new)
        if has_versions:
            await create_versions(self._bases, new)
        await self._bases.connection.call(
            "alter_collection_properties", new.documents, properties={REINDEX_KEY: mark}
        )

    async def _size(self, collection: str) -> int:
        return sum([len(rows) async for rows in pages(self._bases, collection, PASSAGES, [])])

    async def _visible(self) -> None:
        old, new = self._old, self._new
        async for rows in self._missing(old.chunks, new.chunks):
            named = await titles(self._bases, old, [row["doc_id"] for row in rows])
            filled = await self._embedded(rows, named)
            await put(self._bases, new.chunks, [_recoded(new, row) for row in filled])

    async def _replaced(self) -> None:
        old, new = self._old, self._new
        async for rows in self._missing(old.versions, new.versions):
            named = await archived_titles(self._bases, old, {row["revision"] for row in rows})
            filled = await self._embedded(rows, named)
            await put(self._bases, new.versions, [{**row, "document": ""} for row in filled])

    async def _missing(self, source: str, target: str) -> AsyncIterator[list[Row]]:
        """Passages that come after the last one that was embedded before; they go by id."""
        last: str | None = None
        async for done in pages(self._bases, target, PASSAGES, []):
            last = done[-1]["id"]
            self._report(len(done))
        async for rows in pages(self._bases, source, PASSAGES, _READ, size=ROWS, after=last):
            yield rows

    async def _embedded(self, rows: Sequence[Row], named: Mapping[str, str]) -> list[Row]:
        """The rows of known revisions; the others are leftovers of a write that was cut off."""
        owned = [row for row in rows if row["revision"] in named]
        texts = [_text(row, named[row["revision"]]) for row in owned]
        vectors: list[Sequence[float]] = []
        for part in batches(texts, self._batch):
            vectors += await self._embedder.embed_documents(part)
            self._report(len(part))
        old, new = self._old, self._new
        same_terms = (old.analyzer, old.unicode) == (new.analyzer, new.unicode)
        return [
            {**row, "dense": vector, **({} if same_terms else {"terms": index_text(text)})}
            for row, vector, text in zip(owned, vectors, texts, strict=True)
        ]

    def _report(self, more: int) -> None:
        self._done += more
        self._on_progress(Reindexed(self._done, self._total))


def _text(row: Row, title: str) -> str:
    return embedded_text(title, json.loads(row["heading"]), row["text"], row["terms"])


def _recoded(catalogue: Catalogue, row: Row) -> Row:
    return recoded(catalogue, row, original(row))
