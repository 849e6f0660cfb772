"""Full-text search alone, over all passages."""

from __future__ import annotations

import re
from collections.abc import Sequence

import bm25s  # type: ignore[import-untyped]  # the package has no types
import Stemmer  # type: ignore[import-not-found]  # an extension module without stubs

from evals.corpora import Row
from evals.knowledge import indexed_text
from schemas.folding import fold

BM25 = "bm25"

_TOKEN = re.compile(r"[a-z0-9]+|[\u3400-\u9fff]+")


class Bm25Index:
    """Okapi BM25 (Lucene's variant, k1 1.5, b 0.75) over titles and texts; English words are
    stemmed, Chinese is cut into pairs of characters.
    """

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = rows
        self._stemmer = Stemmer.Stemmer("english")
        self._index = bm25s.BM25(method="lucene")
        self._index.index([self._tokens(indexed_text(row)) for row in rows], show_progress=False)

    def search(self, question: str, limit: int) -> list[Row]:
        """The best rows with a score above zero, best first."""
        wanted = self._tokens(question)
        if not wanted:
            return []
        places, scores = self._index.retrieve(
            [wanted], k=min(limit, len(self._rows)), show_progress=False
        )
        return [
            self._rows[int(place)]
            for place, score in zip(places[0], scores[0], strict=True)
            if score > 0
        ]

    def _tokens(self, text: str) -> list[str]:
        found: list[str] = []
        for token in _TOKEN.findall(fold(text)):
            if token.isascii():
                found.append(str(self._stemmer.stemWord(token)))
            else:
                found += [token[i : i + 2] for i in range(max(1, len(token) - 1))]
        return found
