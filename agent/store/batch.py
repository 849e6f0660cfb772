"""Documents written at once, as rows."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence

from agent.store.commit import Before
from agent.store.layout import Catalogue
from agent.store.revisions import new_revision
from agent.store.rows import Row, chunk_rows, document_row, metadata_cells
from schemas.drafts import DocumentDraft
from schemas.errors import IngestError

Written = tuple[DocumentDraft, Sequence[Sequence[float]]]
"""A document with one vector per chunk."""


class DocumentsRefused(IngestError):
    """Documents of a batch that cannot be stored; nothing of the batch was. `reasons` is by id."""

    def __init__(self, reasons: Mapping[str, str], *, remedy: str = "") -> None:
        super().__init__("; ".join(reasons.values()), remedy=remedy)
        self.reasons = dict(reasons)


def encoded(
    catalogue: Catalogue, documents: Sequence[Written], before: Before, now: dt.datetime
) -> tuple[list[Row], list[Row]]:
    """Rows of chunks and of documents. Of several documents with one id the last counts.

    Raises DocumentsRefused and DimensionMismatch. A document that was switched off stays off.
    """
    chunks: list[Row] = []
    rows: list[Row] = []
    reasons: dict[str, str] = {}
    for draft, vectors in {draft.id: (draft, vectors) for draft, vectors in documents}.values():
        revision = new_revision(now)
        enabled = bool(before.get(draft.id, {}).get("enabled", True))
        try:
            cells = metadata_cells(catalogue, draft.metadata, draft.id)
            rows.append(document_row(draft, revision, cells, enabled=enabled, at=now.isoformat()))
            chunks += chunk_rows(catalogue, draft, vectors, revision, cells)
        except IngestError as error:
            reasons[draft.id] = str(error)
    if reasons:
        raise DocumentsRefused(reasons)
    return chunks, rows
