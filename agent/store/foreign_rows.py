"""Which rows of somebody else's collection are looked at, and in how few queries."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from agent.store.bases import Bases
from agent.store.reading import every, pages
from schemas.compile.literals import DYNAMIC

PAGE = 2_500
FOREIGN_ROWS = 10_000
"""Rows of a foreign collection that its profiles are made from."""

ROOM = 16_000_000
"""Bytes of rows asked for at once; a message may have 64 MB."""

RANGES = 16
"""Parts of the key space that rows come from, where keys are numbers."""

LARGEST = 2**63 - 1

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Begun:
    """A collection of which the first rows by key are known: all that there are if `whole`.
    `count` is about how many it has.
    """

    name: str
    key: str
    sample: Sequence[Row]
    whole: bool
    count: int


async def further_rows(
    bases: Bases, begun: Begun, expression: str, columns: Sequence[str], *, share: float
) -> tuple[Sequence[Row], bool]:
    """Rows beside the sample that match, and whether these are all of them.

    Of far more than FOREIGN_ROWS those of several ranges of the key are taken, if `share` (0..1)
    of the rows matches; texts as keys do not tell where to look, so the first by key are taken.
    """
    if begun.whole:
        return [], True
    rows: list[Row] = []
    keys = [row[begun.key] for row in begun.sample]
    wanted = min(FOREIGN_ROWS, ROOM // _size(begun.sample, columns))
    spans = ranges(keys, begun.count, wanted / max(share, 1 / len(keys)))
    if begun.count > FOREIGN_ROWS and spans:
        within = " or ".join(f"({_within(begun.key, *span)})" for span in spans)
        rows += await _first(bases, begun, every(expression, within), columns, wanted)
    if len(keys) + len(rows) >= FOREIGN_ROWS or len(rows) >= wanted:
        return rows, False
    seen = {row[begun.key] for row in rows}
    async for page in pages(
        bases, begun.name, expression, columns, size=PAGE, after=keys[-1], key=begun.key
    ):
        rows += [row for row in page if row[begun.key] not in seen]
        if len(page) == PAGE and len(keys) + len(rows) >= FOREIGN_ROWS:
            return rows, False
    return rows, True


async def _first(
    bases: Bases, begun: Begun, expression: str, columns: Sequence[str], most: int
) -> Sequence[Row]:
    found = pages(bases, begun.name, expression, columns, size=most, key=begun.key)
    return await anext(found, [])


def ranges(keys: Sequence[Any], count: int, wanted: float) -> list[tuple[int, int | None]]:
    """Half-open ranges of keys, evenly over all after `keys` (ascending, the first ones), that
    hold about `wanted` of `count` rows if keys go on as they begin. The last has no end, for
    keys that reach further. Empty for keys that are no numbers.
    """
    if len(keys) < 2 or not all(isinstance(key, int) for key in keys):
        return []
    gap = (keys[-1] - keys[0]) / (len(keys) - 1)
    begin = keys[-1] + 1
    step = (round(gap * count) - (begin - keys[0])) / RANGES
    width = int(min(step, gap * wanted / RANGES))
    if width < 1 or begin + RANGES * step > LARGEST:
        return []
    ends = [begin + round(step * number) for number in range(1, RANGES + 1)]
    starts = [max(before, end - width) for before, end in pairwise([begin, *ends])]
    return [*zip(starts[:-1], ends[:-1], strict=True), (starts[-1], None)]


def _within(key: str, start: int, end: int | None) -> str:
    return f"{key} >= {start}" + ("" if end is None else f" and {key} < {end}")


def _size(sample: Sequence[Row], columns: Sequence[str]) -> int:
    """Bytes of the widest row. Dynamic keys stand beside the columns in a row."""
    left = {name for row in sample for name in row} - set(columns)
    wide = [{k: v for k, v in row.items() if DYNAMIC in columns or k not in left} for row in sample]
    return max(len(json.dumps(row, default=str)) for row in wide)
