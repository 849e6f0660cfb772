"""The chain that the settings of `rag.filter` ask for."""

from __future__ import annotations

from agent.ranking.chain import StrategyChain
from agent.ranking.diversity import Diversity
from agent.ranking.hard_filter import HardFilter
from agent.ranking.packing import Packing
from agent.ranking.strategy import Strategy
from schemas.policy import Policy


def chain_of(policy: Policy) -> StrategyChain:
    """A switched-off policy still packs: an answer has only so much room."""
    strategies: list[Strategy] = [Packing(policy.max_retrieval_results, policy.max_total_chars)]
    if policy.enabled:
        strategies.append(HardFilter(policy.min_document_length))
    if policy.enabled and policy.diversity_enabled:
        strategies.append(Diversity(policy.max_per_source))
    fallback = policy.fallback_top_k if policy.fallback_enabled else 0
    return StrategyChain(strategies, fallback=fallback, policy=policy)
