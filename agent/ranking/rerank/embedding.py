"""Reranking by embeddings of question and passages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

from agent.ranking.rerank.coverage import coverage
from agent.ranking.rerank.ordering import NAME, STAGE, best_first, rescored
from agent.ranking.rerank.wording import asked_terms, said
from agent.ranking.strategy import RankingContext
from schemas.errors import ModelError
from schemas.hits import Hit

Vector = Sequence[float]


class Embedder(Protocol):
    """Embeds questions and passages into one space."""

    async def embed_query(self, text: str) -> list[float]: ...

    async def embed_documents(self, texts: Sequence[str]) -> list[list[float]]: ...


class EmbeddingReranker:
    """Orders the first `rerank_candidate_limit` hits by the cosine between the whole question and
    each passage with its headings; the others follow in the order they had.

    The score is (1 + cosine) / 2; a `term_weight` (0..1) gives so much of it to the share of the
    question's terms that the passage has. Raises what the embedder raises, and ModelError on
    vectors that cannot be compared.
    """

    name = NAME
    stage = STAGE

    def __init__(self, embedder: Embedder, *, term_weight: float = 0.0) -> None:
        self._embedder = embedder
        self._term_weight = term_weight

    def supports(self, context: RankingContext) -> bool:
        return context.policy.rerank_enabled

    async def apply(self, context: RankingContext, hits: Sequence[Hit]) -> Sequence[Hit]:
        limit = context.policy.rerank_candidate_limit
        candidates = hits[:limit]
        if not candidates:
            return hits
        question = await self._embedder.embed_query(context.wanted.question)
        texts = [said(hit.passage) for hit in candidates]
        vectors = await self._embedder.embed_documents(texts)
        if len(vectors) != len(candidates):
            raise ModelError(f"{len(candidates)} passages gave {len(vectors)} embeddings")
        query = asked_terms(context.wanted)
        scored = (
            self._scored(hit, cosine(question, vector), coverage(query, text))
            for hit, vector, text in zip(candidates, vectors, texts, strict=True)
        )
        return [*best_first(scored), *hits[limit:]]

    def _scored(self, hit: Hit, near: float, covered: float) -> Hit:
        weight = self._term_weight
        score = (1 - weight) * (1 + near) / 2 + weight * covered
        return rescored(hit, score, {"cosine": near, "coverage": covered})


def cosine(left: Vector, right: Vector) -> float:
    """In -1..1; 0 where one of them has no direction. ModelError if their lengths differ or a
    number is not finite.
    """
    if len(left) != len(right):
        raise ModelError(f"embeddings of {len(left)} and {len(right)} numbers cannot be compared")
    size = math.hypot(*left) * math.hypot(*right)
    product = math.fsum(a * b for a, b in zip(left, right, strict=True))
    if not (math.isfinite(size) and math.isfinite(product)):
        raise ModelError("an embedding holds a number that is not finite")
    return max(-1.0, min(1.0, product / size)) if size else 0.0
