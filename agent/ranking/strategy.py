"""A step of the ranking chain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from graph.ports import Wanted
from schemas.hits import Hit
from schemas.policy import Policy


@dataclass(frozen=True)
class RankingContext:
    """What a strategy may look at besides the hits; `policy` is the one of this call."""

    wanted: Wanted
    policy: Policy


class Strategy(Protocol):
    """`stage` orders the chain: hard filter 10, similarity 20, rerank 25, diversity 30,
    packing 40.
    """

    name: str
    stage: int

    def supports(self, context: RankingContext) -> bool: ...

    async def apply(self, context: RankingContext, hits: Sequence[Hit]) -> Sequence[Hit]: ...
