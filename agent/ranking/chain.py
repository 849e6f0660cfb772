"""The chain of strategies between search and answer."""

from __future__ import annotations

import time
from collections.abc import Sequence

from agent.ranking.strategy import RankingContext, Strategy
from graph.ports import Ranking, Wanted
from schemas.hits import Hit
from schemas.policy import Policy


class StrategyChain:
    """The Ranker port: strategies by stage. Where they take everything away, the first
    `fallback` of what came in are returned, marked as such.
    """

    def __init__(
        self, strategies: Sequence[Strategy], *, fallback: int = 0, policy: Policy | None = None
    ) -> None:
        self._policy = policy or Policy()
        self._strategies = sorted(strategies, key=lambda strategy: strategy.stage)
        self._fallback = fallback

    async def rank(self, wanted: Wanted, hits: Sequence[Hit]) -> Ranking:
        context = RankingContext(wanted, self._policy)
        kept: Sequence[Hit] = hits
        removed: dict[str, int] = {}
        timings: dict[str, float] = {}
        for strategy in self._strategies:
            if not strategy.supports(context):
                continue
            started = time.perf_counter()
            before, kept = len(kept), await strategy.apply(context, kept)
            removed[strategy.name] = before - len(kept)
            timings[strategy.name] = round((time.perf_counter() - started) * 1000, 3)
        fell_back = bool(hits) and not kept
        if fell_back:
            kept = hits[: self._fallback]
        return Ranking(tuple(kept), fallback=fell_back, removed=removed, timings_ms=timings)
