"""All documents under a guard: counted, sorted and grouped exactly, page by page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from agent.store.bases import Bases
from agent.store.guard import Guard
from agent.store.reading import rows_by
from agent.store.rows import chunk_id, original, to_passage
from agent.store.targets import OwnTarget, Row, Target
from agent.store.walk import chunk_rows, document_rows, is_about_chunks
from graph.ports import Listed
from schemas.collection import Collection
from schemas.grouping import GroupCount, in_order, sort_key
from schemas.hits import Hit, Passage
from schemas.listing import Group, Listing
from schemas.values import Key

_SLACK = 1_000
"""Documents kept beside those shown before the last of them are let go."""


@dataclass(frozen=True)
class _Entry:
    """A document in the running; `passage` where chunks, not documents, are walked."""

    id: str
    key: Key | None
    passage: Passage | None = None


class _First:
    """The first documents by the order asked for; holds no more than `size` and some slack."""

    def __init__(self, listing: Listing, collection: Collection, size: int) -> None:
        self._sort = listing.sort
        name = listing.sort.field if listing.sort else None
        self._field = collection.by_name.get(name) if name else None
        self._size = size
        self._entries: list[_Entry] = []

    @property
    def is_full(self) -> bool:
        """Whether no later document can come before those held: they come by id."""
        return self._field is None and len(self._entries) >= self._size

    def add(self, id_: str, metadata: Mapping[str, JsonValue], passage: Passage | None) -> None:
        key = None
        if self._field is not None:
            value = metadata.get(self._field.name)
            key = sort_key(value, self._field, descending=self._falls)
        self._entries.append(_Entry(id_, key, passage))
        if len(self._entries) >= self._size + _SLACK:
            self._entries = self.sorted()

    def sorted(self) -> list[_Entry]:
        by_id = sorted(self._entries, key=lambda entry: entry.id)
        return in_order(by_id, lambda entry: entry.key, descending=self._falls)[: self._size]

    @property
    def _falls(self) -> bool:
        return self._sort is not None and self._sort.descending


async def list_documents(
    bases: Bases,
    target: Target,
    allowed: Guard,
    listing: Listing,
    shown: int,
    *,
    count: Callable[[], Awaitable[int]],
) -> Listed:
    """The first `shown` documents as their first passages, with the number of all that match;
    for a group, its counts. `count` is asked where not every document has to be looked at.
    """
    if allowed.closed:
        return Listed(expression=allowed.expression)
    first = _First(listing, target.collection, shown)
    field = target.collection.by_name.get(listing.group) if listing.group else None
    groups = GroupCount(field, listing) if field is not None else None
    seen = 0
    everything = True
    async for id_, metadata, passage in _documents(bases, target, allowed):
        if groups is None and first.is_full:
            everything = False
            break
        seen += 1
        if groups is not None:
            groups.add(metadata)
        elif shown:
            first.add(id_, metadata, passage)
    total = seen if everything else await count()
    return Listed(
        hits=await _hits(bases, target, allowed, first.sorted()),
        total=total,
        groups=_groups(groups, listing, total),
        expression=allowed.expression,
    )


def _groups(found: GroupCount | None, listing: Listing, total: int) -> tuple[Group, ...]:
    """A knowledge base without the field has documents without a value, and no others."""
    if found is not None:
        return found.groups()
    return (Group(count=total),) if listing.group and total else ()


async def _documents(
    bases: Bases, target: Target, allowed: Guard
) -> AsyncIterator[tuple[str, Mapping[str, JsonValue], Passage | None]]:
    """Each visible document once, with its metadata."""
    if isinstance(target, OwnTarget) and not is_about_chunks(target, allowed):
        async for rows in document_rows(bases, target, allowed, []):
            for row in rows:
                yield row["id"], original(row), None
        return
    seen: set[str] = set()
    async for found in chunk_rows(bases, target, allowed):
        for chunk, passage in found:
            if passage.doc_id not in seen:
                seen.add(passage.doc_id)
                yield passage.doc_id, target.metadata(chunk), passage


async def _hits(
    bases: Bases, target: Target, allowed: Guard, entries: Sequence[_Entry]
) -> tuple[Hit, ...]:
    found = {entry.id: entry.passage for entry in entries if entry.passage is not None}
    if isinstance(target, OwnTarget):
        missing = [entry.id for entry in entries if entry.id not in found]
        found |= await _first_passages(bases, target, allowed, missing)
    return tuple(
        Hit(passage=passage, score=1.0)
        for entry in entries
        if (passage := found.get(entry.id)) is not None
    )


async def _first_passages(
    bases: Bases, target: OwnTarget, allowed: Guard, ids: Sequence[str]
) -> dict[str, Passage]:
    """The first passage of each document; one without text where that is switched off. What
    was read of the documents before is read again, and judged again.
    """
    if not ids:
        return {}
    fields = ("title", "source", "revision", "chunks", "enabled", "original")
    rows = [
        row
        for row in await rows_by(bases, target.catalogue.documents, "id", ids, fields)
        if row["enabled"] and allowed.keeps(row["original"] or {})
    ]
    firsts = [chunk_id(row["revision"], 0) for row in rows]
    chunks: Sequence[Row] = await rows_by(bases, target.chunks, "id", firsts, target.outputs)
    seen = await target.visible(bases, [row for row in chunks if allowed.keeps(original(row))])
    visible = {passage.doc_id: passage for passage in seen.values()}
    return {str(row["id"]): visible.get(row["id"]) or _textless(target, row) for row in rows}


def _textless(target: OwnTarget, document: Mapping[str, Any]) -> Passage:
    row = {
        "id": chunk_id(document["revision"], 0),
        "doc_id": document["id"],
        "text": "",
        "heading": "[]",
        "chunk_index": 0,
        "original": document["original"],
    }
    return to_passage(target.kb, row, document)
