"""The chain that the settings of `rag` ask for."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import EntryPoint

from agent.ranking.chain import StrategyChain
from agent.ranking.registry import Tools, registered
from agent.ranking.rerank.selection import reranker_of
from schemas.errors import SettingsError
from schemas.policy import Policy


def chain_of(
    policy: Policy, tools: Tools | None = None, plugins: Iterable[EntryPoint] | None = None
) -> StrategyChain:
    """The chain over all strategies that there are; which of them work is decided for each call,
    by the policy of the knowledge base and the call. Without `plugins`, those of installed
    packages. SettingsError where the settings ask for a reranker that cannot be made, or switch
    off a strategy that does not exist.
    """
    used = tools or Tools()
    found = registered(used, plugins)
    names = tuple(strategy.name for strategy in found.strategies)
    broken = {problem.value for problem in found.problems}
    for where, one in _policies(policy):
        unknown = [name for name in one.disabled_strategies if name not in {*names, *broken}]
        if unknown:
            raise SettingsError(
                f"{where}.disabled_strategies: {', '.join(map(repr, unknown))} is no strategy; "
                f"allowed: {', '.join(names)}"
            )
        reranker_of(one, settings=used.rerank, embedder=used.embedder)
    return StrategyChain(found.strategies, policy=policy, problems=found.problems)


def _policies(policy: Policy) -> Iterable[tuple[str, Policy]]:
    yield "rag.filter", policy
    for name in policy.knowledge_profiles:
        yield f"rag.filter.knowledge_profiles.{name}", policy.for_kb(name)
