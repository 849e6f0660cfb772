"""What ingesting needs of the outside: somewhere to put documents, and vectors for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from schemas.collection import Field
from schemas.drafts import DocumentDraft

Vectors = Sequence[Sequence[float]]
"""One vector per chunk of a document, in the order of its chunks."""


class Library(Protocol):
    """Knowledge bases that documents are written into."""

    async def fields(self, kb: str) -> tuple[Field, ...] | None:
        """The declared fields; None if there is no such knowledge base."""
        ...

    async def hashes(self, kb: str) -> Mapping[str, str]:
        """The content hash of each visible document by its id."""
        ...

    async def prepare(
        self,
        kb: str,
        fields: Sequence[Field],
        *,
        dimension: int,
        embedding_model: str,
        access_fields: Sequence[str],
    ) -> None:
        """Create the knowledge base or add what fields are new. DimensionMismatch before
        anything is written.
        """
        ...

    async def write(self, kb: str, documents: Sequence[tuple[DocumentDraft, Vectors]]) -> None:
        """Add or replace documents; each of them becomes visible whole, or not at all."""
        ...

    async def delete(self, kb: str, ids: Sequence[str]) -> int:
        """Delete documents with all their chunks; how many there were."""
        ...

    async def finish(self, kb: str) -> None:
        """Make everything written visible to searches, profiles included."""
        ...


class Embedder(Protocol):
    """An embedding model; all its vectors are of one length."""

    @property
    def name(self) -> str: ...

    async def dimension(self) -> int: ...

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """One vector per text, in order. ModelError for texts that cannot be embedded."""
        ...
