"""The reranker that a policy asks for."""

from __future__ import annotations

from typing import assert_never

from agent.ranking.rerank.cross_encoder import CrossEncoder
from agent.ranking.rerank.embedding import Embedder, EmbeddingReranker
from agent.ranking.rerank.rule import RuleReranker
from agent.ranking.rerank.six_factor import SixFactorReranker
from agent.ranking.strategy import Strategy
from agent.sections import RerankSettings
from schemas.errors import SettingsError
from schemas.policy import Policy


def reranker_of(
    policy: Policy, *, settings: RerankSettings, embedder: Embedder | None = None
) -> Strategy | None:
    """None where the policy reranks nothing. SettingsError where the reranker asked for lacks
    what it works with: an address, an embedding model.
    """
    if not policy.rerank_enabled:
        return None
    match policy.reranker:
        case "rule":
            return RuleReranker(settings)
        case "six_factor":
            return SixFactorReranker()
        case "embedding":
            if embedder is None:
                raise SettingsError(
                    "rag.filter.reranker: 'embedding' needs an embedding model, and there is none;"
                    " allowed without one: rule, six_factor, cross_encoder"
                )
            return EmbeddingReranker(embedder, term_weight=settings.term_weight)
        case "cross_encoder":
            return CrossEncoder(settings)
        case _ as never:
            assert_never(never)
