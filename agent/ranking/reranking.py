"""Stage 25: whichever reranker the policy names."""

from __future__ import annotations

from collections.abc import Sequence

from agent.ranking.rerank.embedding import Embedder
from agent.ranking.rerank.ordering import NAME
from agent.ranking.rerank.selection import reranker_of
from agent.ranking.strategy import RERANK, RankingContext, Strategy
from agent.sections import RerankSettings
from schemas.hits import Hit
from schemas.policy import Policy


class Reranking:
    """Knowledge bases and calls may each ask for another reranker."""

    name = NAME
    stage = RERANK

    def __init__(self, settings: RerankSettings, embedder: Embedder | None = None) -> None:
        self._settings = settings
        self._embedder = embedder

    def supports(self, context: RankingContext) -> bool:
        return context.policy.rerank_enabled

    async def apply(self, context: RankingContext, hits: Sequence[Hit]) -> Sequence[Hit]:
        """Raises what the reranker raises, and SettingsError where it cannot be made."""
        chosen = self.of(context.policy)
        return hits if chosen is None else await chosen.apply(context, hits)

    def of(self, policy: Policy) -> Strategy | None:
        return reranker_of(policy, settings=self._settings, embedder=self._embedder)
