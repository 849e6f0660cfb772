"""Reranking by six factors, without a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from agent.ranking.density import density
from agent.ranking.rerank.bm25 import LOCAL, with_bm25
from agent.ranking.rerank.closeness import closeness
from agent.ranking.rerank.coverage import coverage
from agent.ranking.rerank.ordering import NAME, STAGE, best_first, over_highest, rescored
from agent.ranking.rerank.wording import asked_terms, said
from agent.ranking.strategy import RankingContext
from schemas.hits import Hit

HIGHEST = 1.15
"""The highest raw total: the weights of the factors do not sum to 1."""

SHORT = 100
LONG = 1000
SOURCE_BONUS = 0.01
SOURCE_LIMIT = 0.05


@dataclass(frozen=True)
class SixFactors:
    """Five numbers in 0..1, and how many of the candidates are of the passage's document."""

    similarity: float
    bm25: float
    length: float
    density: float
    coverage: float
    sources: int

    @property
    def raw(self) -> float:
        """The sum of the weighted factors, in 0..HIGHEST."""
        return (
            0.40 * self.similarity
            + 0.20 * self.bm25
            + 0.10 * self.length
            + 0.15 * self.density
            + 0.25 * self.coverage
            + source_bonus(self.sources)
        )

    @property
    def total(self) -> float:
        """The raw sum as a share of the highest there can be."""
        return min(1.0, self.raw / HIGHEST)


class SixFactorReranker:
    """Similarity, BM25 over the candidates, length, density, coverage of the question's terms,
    and how many candidates the same document has. Dates play no part. The raw sum is kept as
    `rerank.raw`; hits behind `rerank_candidate_limit` follow in the order they had.
    """

    name = NAME
    stage = STAGE

    def supports(self, context: RankingContext) -> bool:
        return context.policy.rerank_enabled

    async def apply(self, context: RankingContext, hits: Sequence[Hit]) -> Sequence[Hit]:
        limit = context.policy.rerank_candidate_limit
        candidates = hits[:limit]
        if any(LOCAL not in hit.scores for hit in candidates):
            candidates = with_bm25(context, candidates)
        scored = (
            rescored(hit, one.total, {**vars(one), "raw": one.raw})
            for hit, one in zip(candidates, _factors(context, candidates), strict=True)
        )
        return [*best_first(scored), *hits[limit:]]


def length_factor(characters: int) -> float:
    """Rises to 1 at SHORT, stays there up to LONG, and falls as LONG / characters beyond."""
    if characters < SHORT:
        return characters / SHORT
    return min(1.0, LONG / characters)


def source_bonus(sources: int) -> float:
    """SOURCE_BONUS for each source where there are two or more, at most SOURCE_LIMIT."""
    return min(SOURCE_LIMIT, SOURCE_BONUS * sources) if sources > 1 else 0.0


def _factors(context: RankingContext, hits: Sequence[Hit]) -> list[SixFactors]:
    query = asked_terms(context.wanted)
    bm25 = over_highest([hit.scores[LOCAL] for hit in hits])
    sources = Counter((hit.passage.kb, hit.passage.doc_id) for hit in hits)
    return [
        SixFactors(
            similarity=near,
            bm25=words,
            length=length_factor(len(hit.passage.text.strip())),
            density=density(hit.passage.text),
            coverage=coverage(query, said(hit.passage)),
            sources=sources[hit.passage.kb, hit.passage.doc_id],
        )
        for hit, near, words in zip(hits, closeness(hits), bm25, strict=True)
    ]
