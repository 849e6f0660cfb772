"""A step of the ranking chain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from schemas.filters import Filter
from schemas.hits import Hit


@dataclass(frozen=True)
class RankingContext:
    """What a strategy may look at besides the hits."""

    question: str
    filter: Filter


class Strategy(Protocol):
    """`stage` orders the chain: hard filter 10, similarity 20, rerank 25, diversity 30,
    packing 40.
    """

    name: str
    stage: int

    def supports(self, context: RankingContext) -> bool: ...

    def apply(self, context: RankingContext, hits: Sequence[Hit]) -> Sequence[Hit]: ...
