"""A step of the ranking chain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from graph.ports import Wanted
from schemas.hits import Hit
from schemas.policy import Policy

SCORING = 5
HARD_FILTER = 10
SIMILARITY_STAGE = 20
RERANK = 25
BOOSTS = 27
DUPLICATES = 28
DIVERSITY = 30
PACKING = 40


@dataclass(frozen=True)
class RankingContext:
    """What a strategy may look at besides the hits; `policy` is the one of this call, and of the
    knowledge base that all the hits are of, where there is only one.
    """

    wanted: Wanted
    policy: Policy


@runtime_checkable
class Strategy(Protocol):
    """`stage` orders the chain: scoring 5, hard filter 10, similarity 20, rerank 25, boosts 27,
    near-duplicates 28, diversity 30, packing 40.
    """

    name: str
    stage: int

    def supports(self, context: RankingContext) -> bool:
        """Whether the strategy has anything to do here; if not, the chain goes on without it."""
        ...

    async def apply(self, context: RankingContext, hits: Sequence[Hit]) -> Sequence[Hit]:
        """Some of the hits given, best first. What it raises is told, and the hits stay."""
        ...
