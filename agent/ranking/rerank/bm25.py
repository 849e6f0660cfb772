"""BM25 over the candidates themselves."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from agent.ranking.rerank.wording import asked_terms, said
from agent.ranking.strategy import RankingContext
from schemas.hits import Hit
from schemas.terms import terms

LOCAL = "bm25_local"
"""The name of the score; `bm25` is the engine's, over the whole collection."""

K1 = 1.2
B = 0.75


def bm25_scores(query: Sequence[str], texts: Sequence[str]) -> list[float]:
    """BM25 of each text, in order; 0 where nothing can be scored.

    The formula is Lucene's (Kamphuis et al., "Which BM25 Do You Mean?", 2020): its inverse
    document frequency log(1 + (N - n + 0.5) / (n + 0.5)) is positive for every term, so that a
    term which all of two candidates share still counts for them.
    """
    counts = [Counter(terms(text)) for text in texts]
    lengths = [sum(count.values()) for count in counts]
    if not any(lengths):
        return [0.0] * len(texts)
    average = sum(lengths) / len(lengths)
    scores = [0.0] * len(texts)
    for term in dict.fromkeys(query):
        weight = _idf(sum(term in count for count in counts), len(counts))
        for i, (count, length) in enumerate(zip(counts, lengths, strict=True)):
            often = count[term]
            if often:
                scores[i] += weight * often / (often + K1 * (1 - B + B * length / average))
    return scores


def with_bm25(context: RankingContext, hits: Sequence[Hit]) -> list[Hit]:
    """The hits with their score under LOCAL, in the order they came in."""
    scores = bm25_scores(asked_terms(context.wanted), [said(hit.passage) for hit in hits])
    return [
        hit.model_copy(update={"scores": {**hit.scores, LOCAL: score}})
        for hit, score in zip(hits, scores, strict=True)
    ]


class CandidateBm25:
    """Keeps a BM25 score over all candidates with each of them; the order stays."""

    name = "bm25"
    stage = 24

    def supports(self, context: RankingContext) -> bool:
        return True

    async def apply(self, context: RankingContext, hits: Sequence[Hit]) -> Sequence[Hit]:
        return with_bm25(context, hits)


def _idf(documents: int, total: int) -> float:
    return math.log(1 + (total - documents + 0.5) / (documents + 0.5))
