"""Whether a filter says what it should, condition by condition and in its structure."""

from __future__ import annotations

from evals.golds import Expected, Gold
from evals.scorers.canonical import canonical, shape, understood
from schemas.collection import Collection
from schemas.filters import Filter


def is_exact(said: Filter, gold: Gold, collection: Collection) -> bool:
    """The same conditions in the same structure as the gold filter."""
    meant = canonical(gold.first.filter, collection)
    return shape(canonical(said, collection), collection) == shape(meant, collection)


def is_accepted(said: Filter, gold: Gold, collection: Collection) -> bool:
    """Exact, or one of the other right filters, or with other right values in its conditions."""
    plain = canonical(said, collection)
    return any(_is(plain, one, collection) for one in gold.all)


def _is(plain: Filter, expected: Expected, collection: Collection) -> bool:
    read = understood(plain, expected, collection)
    return shape(read, collection) == shape(canonical(expected.filter, collection), collection)
