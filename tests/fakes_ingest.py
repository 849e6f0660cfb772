"""A library and an embedder in memory, for ingesting."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import BinaryIO

from agent.ingest.loaded import Loaded, Unreadable
from agent.ingest.ports import Vectors
from agent.ingest.reading import Reading
from agent.ingest.written import Written
from schemas.collection import Field
from schemas.drafts import DocumentDraft
from schemas.errors import DimensionMismatch, IngestError, ModelError, ModelUnavailable

UNEMBEDDABLE = "UNEMBEDDABLE"
UNWRITABLE = "UNWRITABLE"


@dataclass
class Shelf:
    """A knowledge base: documents with their vectors, whole ones only."""

    fields: tuple[Field, ...]
    dimension: int
    access_fields: tuple[str, ...]
    documents: dict[str, tuple[DocumentDraft, Vectors]] = field(default_factory=dict)


@dataclass
class MemoryLibrary:
    """Writes one document after the other and gives way between them, so that a run can be
    cut off in the middle of a batch. `writing` is set once the first document of a write is in,
    and while `hold` is set, no further one follows."""

    shelves: dict[str, Shelf] = field(default_factory=dict)
    writing: asyncio.Event = field(default_factory=asyncio.Event)
    hold: bool = False
    batches: list[int] = field(default_factory=list)
    finished: int = 0

    async def fields(self, kb: str) -> tuple[Field, ...] | None:
        shelf = self.shelves.get(kb)
        return None if shelf is None else shelf.fields

    async def hashes(self, kb: str) -> Mapping[str, str]:
        return {id_: draft.content_hash for id_, (draft, _) in self.documents(kb).items()}

    async def prepare(
        self,
        kb: str,
        fields: Sequence[Field],
        *,
        dimension: int,
        embedding_model: str,
        access_fields: Sequence[str],
    ) -> None:
        shelf = self.shelves.setdefault(kb, Shelf((), dimension, tuple(access_fields)))
        if shelf.dimension != dimension:
            raise DimensionMismatch(f"{kb} has {shelf.dimension}, {embedding_model} {dimension}")
        shelf.fields = tuple(fields)

    async def write(self, kb: str, documents: Sequence[tuple[DocumentDraft, Vectors]]) -> None:
        self.batches.append(sum(len(draft.chunks) for draft, _ in documents))
        for draft, vectors in documents:
            if len(vectors) != len(draft.chunks):
                raise AssertionError(f"{draft.id}: {len(vectors)} of {len(draft.chunks)} vectors")
            if any(UNWRITABLE in chunk.text for chunk in draft.chunks):
                raise IngestError(f"{draft.id} cannot be stored")
            self.shelves[kb].documents[draft.id] = (draft, vectors)
            self.writing.set()
            await asyncio.sleep(3600 if self.hold else 0)

    async def delete(self, kb: str, ids: Sequence[str]) -> int:
        gone = [id_ for id_ in ids if self.shelves[kb].documents.pop(id_, None)]
        return len(gone)

    async def finish(self, kb: str) -> None:
        self.finished += 1

    def documents(self, kb: str) -> dict[str, tuple[DocumentDraft, Vectors]]:
        return self.shelves[kb].documents if kb in self.shelves else {}

    def draft(self, kb: str, id_: str) -> DocumentDraft:
        return self.documents(kb)[id_][0]


@dataclass
class CountingEmbedder:
    """A vector says how long its text is; `texts` are all that were embedded. Fails for good on
    some texts, and altogether after `outage_after` requests."""

    size: int = 3
    texts: list[str] = field(default_factory=list)
    outage_after: int | None = None
    requests: int = 0
    most_at_once: int = 0
    _now: int = 0

    @property
    def name(self) -> str:
        return "counting"

    async def dimension(self) -> int:
        return self.size

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        self.requests += 1
        if self.outage_after is not None and self.requests > self.outage_after:
            raise ModelUnavailable("nothing answers")
        if any(UNEMBEDDABLE in text for text in texts):
            raise ModelError("a text is refused")
        self._now += 1
        self.most_at_once = max(self.most_at_once, self._now)
        await asyncio.sleep(0)
        self._now -= 1
        self.texts.extend(texts)
        return [[float(len(text))] * self.size for text in texts]


@dataclass
class LinesLoader:
    """A document a line, `key|text|field=value|…`; the number of the line where the key is empty.
    `?key` cannot be read, `!` breaks off. `read` counts the lines.
    """

    name: str = "lines"
    suffixes: frozenset[str] = frozenset({".lines"})
    read: int = 0

    def claims(self, head: bytes) -> bool:
        return head.startswith(b"LINES")

    def divides(self, path: PurePosixPath, reading: Reading) -> bool:
        return reading.documents == "row"

    def load(self, file: BinaryIO, reading: Reading) -> Iterator[Loaded | Unreadable]:
        if reading.documents == "file":
            yield Loaded(file.read().decode())
            return
        for number, raw in enumerate(file, 1):
            self.read += 1
            line = raw.decode().rstrip("\n")
            if line == "LINES":
                continue
            if line.startswith("!"):
                raise IngestError(f"line {number} is beyond reading")
            if line.startswith("?"):
                yield Unreadable("it is odd", key=line[1:] or None, line=number)
                continue
            key, _, rest = line.partition("|")
            text, *given = rest.split("|")
            pairs = (item.partition("=") for item in given)
            fields = {name: Written(value, line=number) for name, _, value in pairs}
            yield Loaded(text, fields, key=key or str(number))
