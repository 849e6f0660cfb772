"""All that may be seen under a guard, page by page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

from agent.store.bases import Bases
from agent.store.guard import Guard
from agent.store.reading import PAGE, every, pages
from agent.store.targets import OwnTarget, Row, Target
from schemas.hits import Passage


def is_about_chunks(target: Target, allowed: Guard) -> bool:
    """Whether there is no row of a document that could tell if it matches."""
    if not isinstance(target, OwnTarget):
        return True
    return not allowed.fields.isdisjoint(target.catalogue.chunk_fields)


async def document_rows(
    bases: Bases,
    target: OwnTarget,
    allowed: Guard,
    fields: Sequence[str],
    *,
    size: int = PAGE,
    after: str | None = None,
    disabled: bool = False,
) -> AsyncIterator[list[dict[str, Any]]]:
    """Rows of documents with `original`, by id; `disabled` asks for the disabled ones too."""
    if allowed.closed:
        return
    expression = every("" if disabled else target.enabled, allowed.expression)
    names = list(dict.fromkeys(("original", *fields)))
    documents = target.catalogue.documents
    async for rows in pages(bases, documents, expression, names, size=size, after=after):
        yield [row for row in rows if allowed.keeps(row["original"] or {})]


async def chunk_rows(
    bases: Bases, target: Target, allowed: Guard, *, size: int = 2_000, also: str = ""
) -> AsyncIterator[list[tuple[Row, Passage]]]:
    """Rows of visible chunks with their passages, by id; `also` narrows them down."""
    if allowed.closed:
        return
    expression = every(also, target.enabled, allowed.expression)
    async for rows in pages(
        bases, target.chunks, expression, target.outputs, size=size, key=target.key
    ):
        kept = [row for row in rows if allowed.keeps(target.metadata(row))]
        visible = await target.visible(bases, kept)
        yield [(row, visible[id_]) for row in kept if (id_ := target.id_of(row)) in visible]
