"""Stage 10: passages with too little text to say anything."""

from __future__ import annotations

from collections.abc import Sequence

from agent.ranking.strategy import RankingContext
from schemas.hits import Hit


class HardFilter:
    """Keeps passages of at least `minimum` characters that are not white space."""

    name = "hard_filter"
    stage = 10

    def __init__(self, minimum: int) -> None:
        self._minimum = minimum

    def supports(self, context: RankingContext) -> bool:
        return True

    async def apply(self, context: RankingContext, hits: Sequence[Hit]) -> Sequence[Hit]:
        return [
            hit
            for hit in hits
            if hit.passage.whole or len("".join(hit.passage.text.split())) >= self._minimum
        ]
