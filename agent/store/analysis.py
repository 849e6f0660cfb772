"""Text as the keyword index sees it.

Words are cut here and not by the engine, so that Milvus Lite and every server index alike, and
because Lite's jieba analyzer takes 1.4 ms a chunk.
"""

from __future__ import annotations

from schemas.terms import telling_terms, terms

ANALYZER = "bigram-1"
"""Name of this scheme, kept with each knowledge base."""

INDEXED_BYTES = 65_000
"""How much of a chunk's terms fits into the column (a VARCHAR of 65,535 bytes)."""


def index_text(text: str) -> str:
    """The terms joined by spaces, cut to INDEXED_BYTES."""
    joined = " ".join(terms(text))
    if len(joined.encode()) <= INDEXED_BYTES:
        return joined
    cut = joined.encode()[:INDEXED_BYTES].decode(errors="ignore")
    return cut.rsplit(" ", 1)[0]


def query_text(text: str) -> str:
    """As index_text, each term once, without English function words unless nothing else is left.

    Function words select nothing, but their posting lists are the longest to walk.
    """
    return " ".join(telling_terms(text))[:INDEXED_BYTES]
