"""How much of the question a passage speaks of."""

from __future__ import annotations

from collections.abc import Sequence

from schemas.terms import terms


def coverage(query: Sequence[str], text: str) -> float:
    """The share of the query's terms that occur in the text; 0 for a query without terms."""
    if not query:
        return 0.0
    found = set(terms(text))
    return sum(term in found for term in query) / len(query)
