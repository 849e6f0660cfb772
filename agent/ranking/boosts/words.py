"""Values of a passage that speak for it."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import JsonValue

from schemas.errors import FilterError
from schemas.folding import fold, is_blank
from schemas.values import as_number

HIGHEST_PAGERANK = 100


def overlap(wanted: Sequence[str], value: JsonValue) -> float:
    """The share of the words wanted that are among the values, folded."""
    words = {fold(word) for word in wanted if not is_blank(word)}
    if not words:
        return 0.0
    items = value if isinstance(value, list) else [value]
    return len(words & {fold(item) for item in items if isinstance(item, str)}) / len(words)


def pagerank(value: JsonValue, default: float) -> float:
    """In 0..1, of a number in 0..100 beyond which it counts no more; `default` where the value is
    no number.
    """
    try:
        number = float(as_number(value))
    except FilterError:
        number = default
    return min(1.0, max(0.0, number / HIGHEST_PAGERANK))
