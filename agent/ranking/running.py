"""Strategies applied one after another; one that fails is left out."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace

from agent.ranking.statistics import Journal, step_of
from agent.ranking.strategy import PACKING, RankingContext, Strategy
from schemas.hits import Hit

log = logging.getLogger(__name__)


class StrangeHits(Exception):
    """A strategy gave hits that it was not given, one of them twice, or a score that is no number
    to order by.
    """


async def run(
    strategies: Iterable[Strategy],
    context: RankingContext,
    hits: Sequence[Hit],
    journal: Journal,
    *,
    kb: str = "",
) -> Sequence[Hit]:
    """What the strategies leave of the hits. Those that are switched off or do not apply here
    leave no trace in the journal.
    """
    for strategy in strategies:
        if is_on(strategy, context):
            hits = await _applied(strategy, context, hits, journal, kb)
    return hits


def is_on(strategy: Strategy, context: RankingContext) -> bool:
    """Whether the policy lets a strategy work; a policy that is off as a whole still packs."""
    policy = context.policy
    return strategy.name not in policy.disabled_strategies and (
        policy.enabled or strategy.stage >= PACKING
    )


async def _applied(
    strategy: Strategy, context: RankingContext, hits: Sequence[Hit], journal: Journal, kb: str
) -> Sequence[Hit]:
    started = time.perf_counter()
    kept, fault = hits, ""
    try:
        if not strategy.supports(context):
            return hits
        kept = _known(tuple(await strategy.apply(context, hits)), hits)
    except Exception as error:  # a strategy may be anybody's, and raise anything
        fault = f"{type(error).__name__}: {error}"
        log.warning("ranking step %r failed and was left out", strategy.name, exc_info=error)
    ms = round((time.perf_counter() - started) * 1000, 3)
    journal.steps.append(replace(step_of(strategy, kb, hits, kept, ms), fault=fault))
    return kept


def _known(hits: Sequence[Hit], given: Sequence[Hit]) -> Sequence[Hit]:
    """The hits, if they are some of those given: nothing from elsewhere passes the permission
    filter by way of ranking.
    """
    known = {(hit.passage.kb, hit.passage.id, hit.passage.doc_id) for hit in given}
    seen = [(hit.passage.kb, hit.passage.id, hit.passage.doc_id) for hit in hits]
    strange = [id_ for _, id_, _ in set(seen) - known]
    if strange:
        raise StrangeHits(f"passages that no search found: {', '.join(sorted(strange))}")
    if len(set(seen)) < len(seen):
        raise StrangeHits("a passage is there twice")
    if not all(math.isfinite(hit.score) for hit in hits):
        raise StrangeHits("a score is not finite")
    return hits
