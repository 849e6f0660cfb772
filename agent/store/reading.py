"""Rows out of a collection and into it, in batches that fit into a message."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from agent.store.bases import Bases
from schemas.compile.literals import literal, literal_list, quote

T = TypeVar("T")
PAGE = 8_000
"""Narrow rows asked for at once (the limit of servers is 16,384, of a message 64 MB). Lite
assembles the whole collection for each page."""

WRITE_ROWS = 1_000
"""Rows sent at once; with 1,024 dimensions about 8 MB of the 64 MB of a message."""

IDS = 1_000
"""Ids named in one expression."""


def batches(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def one_of(column: str, values: Sequence[str]) -> str:
    return f"({column} in {literal_list([quote(value) for value in values])})"


def every(*expressions: str) -> str:
    """The conjunction of the expressions that are not empty, each in parentheses."""
    return " and ".join(f"({part})" for part in expressions if part)


async def rows_by(
    bases: Bases, collection: str, column: str, values: Iterable[str], fields: Sequence[str]
) -> list[dict[str, Any]]:
    """Rows whose column is one of the values, each once, in no order."""
    found: dict[str, dict[str, Any]] = {}
    for part in batches(list(dict.fromkeys(values)), IDS):
        rows = await bases.read(
            "query",
            collection,
            filter=one_of(column, part),
            output_fields=list(dict.fromkeys(("id", *fields))),
        )
        found.update((row["id"], row) for row in rows)
    return list(found.values())


async def pages(
    bases: Bases,
    collection: str,
    expression: str,
    fields: Sequence[str],
    *,
    size: int = PAGE,
    after: str | int | None = None,
    key: str = "id",
) -> AsyncIterator[list[dict[str, Any]]]:
    """All rows that match, ascending by their primary key `key`, from after `after`."""
    last = after
    while True:
        rows = await bases.read(
            "query",
            collection,
            filter=every(expression, "" if last is None else f"{key} > {literal(last)}"),
            output_fields=list(dict.fromkeys((key, *fields))),
            limit=size,
            # What pymilvus' own iterator sends for pages in the order of the key.
            iterator="True",
            reduce_stop_for_best="True",
        )
        if rows:
            yield rows
        if len(rows) < size:
            return
        last = rows[-1][key]


async def put(bases: Bases, collection: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """On Lite an insert replaces too, and is spared the look for what it replaces."""
    method = "insert" if await bases.connection.is_lite() else "upsert"
    for part in batches(rows, WRITE_ROWS):
        await bases.connection.call(method, collection, data=list(part))


async def remove(bases: Bases, collection: str, ids: Sequence[str]) -> None:
    for part in batches(ids, WRITE_ROWS):
        await bases.connection.call("delete", collection, ids=list(part))
