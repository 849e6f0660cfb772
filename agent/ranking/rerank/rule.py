"""Reranking by rules that can be read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from agent.ranking.duplicates import first_of_alike
from agent.ranking.rerank.authority import Authority
from agent.ranking.rerank.closeness import closeness
from agent.ranking.rerank.coverage import coverage
from agent.ranking.rerank.freshness import Freshness
from agent.ranking.rerank.ordering import NAME, STAGE, best_first, rescored
from agent.ranking.rerank.wording import asked_terms, said
from agent.ranking.strategy import RankingContext
from agent.sections import RerankSettings
from schemas.hits import Hit


@dataclass(frozen=True)
class RuleFactors:
    """Four numbers in 0..1."""

    similarity: float
    coverage: float
    freshness: float
    authority: float

    @property
    def total(self) -> float:
        """In 0..1: the weights sum to 1."""
        return (
            0.5 * self.similarity
            + 0.2 * self.coverage
            + 0.2 * self.freshness
            + 0.1 * self.authority
        )


class RuleReranker:
    """Similarity, coverage of the question's terms, freshness and authority.

    A document without a date that can be read has the mean freshness of those with one, so that
    it neither gains nor loses by it; where no document has a date, freshness is 0 for all and
    decides nothing. The best of the first `rule_candidates` hits are kept, `rule_results` of them
    or as many as the call may show; near-duplicates, which are removed later, do not count.
    """

    name = NAME
    stage = STAGE

    def __init__(self, settings: RerankSettings) -> None:
        self._settings = settings

    def supports(self, context: RankingContext) -> bool:
        return context.policy.rerank_enabled

    async def apply(self, context: RankingContext, hits: Sequence[Hit]) -> Sequence[Hit]:
        candidates = hits[: self._settings.rule_candidates]
        scored = (
            rescored(hit, one.total, vars(one))
            for hit, one in zip(candidates, self._factors(context, candidates), strict=True)
        )
        shown = max(context.policy.max_retrieval_results, context.wanted.top or 0)
        keep = max(self._settings.rule_results, shown)
        ordered = [*best_first(scored), *hits[len(candidates) :]]
        if not context.policy.duplicates_enabled:
            return ordered[:keep]
        distinct = first_of_alike(ordered, context.policy.duplicate_threshold)
        return ordered[: next(islice(distinct, keep, None), len(ordered))]

    def _factors(self, context: RankingContext, hits: Sequence[Hit]) -> list[RuleFactors]:
        wanted, settings = context.wanted, self._settings
        query = asked_terms(wanted)
        fresh = Freshness(wanted.collections, wanted.today, settings.date_field)
        ages = _with_mean([fresh.of(hit.passage) for hit in hits])
        authority = Authority(wanted.collections, settings.authority, settings.official_field)
        return [
            RuleFactors(
                similarity=near,
                coverage=coverage(query, said(hit.passage)),
                freshness=age,
                authority=authority.of(hit.passage),
            )
            for hit, near, age in zip(hits, closeness(hits), ages, strict=True)
        ]


def _with_mean(values: Sequence[float | None]) -> list[float]:
    """With the mean of those that are known in place of the unknown ones; 0 if none is."""
    known = [value for value in values if value is not None]
    mean = math.fsum(known) / len(known) if known else 0.0
    return [mean if value is None else value for value in values]
