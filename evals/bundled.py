"""The bundled handbook without a store: its collection and its documents, read as they are
ingested.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path

from agent.ingest.pipeline import Ingest
from agent.ingest.ports import Vectors
from agent.store.profiles import Tally
from evals.corpora import Row
from schemas.collection import Collection, Field
from schemas.drafts import DocumentDraft
from schemas.errors import IngestError

HANDBOOK = "handbook"


class _Shelf:
    """Keeps what is ingested."""

    def __init__(self) -> None:
        self.declared: tuple[Field, ...] = ()
        self.drafts: list[DocumentDraft] = []

    async def fields(self, kb: str) -> tuple[Field, ...] | None:
        return None

    async def hashes(self, kb: str) -> Mapping[str, str]:
        return {}

    async def prepare(
        self,
        kb: str,
        fields: Sequence[Field],
        *,
        dimension: int,
        embedding_model: str,
        access_fields: Sequence[str],
    ) -> None:
        self.declared = tuple(fields)

    async def write(self, kb: str, documents: Sequence[tuple[DocumentDraft, Vectors]]) -> None:
        self.drafts += [draft for draft, _ in documents]

    async def delete(self, kb: str, ids: Sequence[str]) -> int:
        return 0

    async def finish(self, kb: str) -> None:
        self.drafts.sort(key=lambda draft: draft.id)


class _NoVectors:
    """Nothing is searched by similarity here."""

    name = "none"

    async def dimension(self) -> int:
        return 1

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return [[0.0]] * len(texts)


async def bundled_handbook() -> tuple[Collection, tuple[Row, ...]]:
    """The collection as a knowledge base of the handbook would describe it, and its documents.
    Raises IngestError if one of them cannot be read.
    """
    shelf = _Shelf()
    with resources.as_file(resources.files("agent.data") / HANDBOOK) as folder:
        report = await Ingest(shelf, _NoVectors()).run(HANDBOOK, [Path(folder)])
    for failed in report.failed:
        raise IngestError(f"{failed.file}: {failed.reason}", remedy=failed.remedy)
    collection = Collection(
        name=HANDBOOK, fields=tuple(_described(field, shelf.drafts) for field in shelf.declared)
    )
    return collection, tuple(_row(draft) for draft in shelf.drafts)


def _described(field: Field, drafts: Sequence[DocumentDraft]) -> Field:
    tally = Tally(field)
    for draft in drafts:
        tally.add(draft.metadata.get(field.name))
    return tally.described()


def _row(draft: DocumentDraft) -> Row:
    text = "\n".join(chunk.text for chunk in draft.chunks)
    return Row(draft.id, draft.id, draft.title, text, draft.metadata)
