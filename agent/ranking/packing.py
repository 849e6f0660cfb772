"""Stage 40: what fits into the context."""

from __future__ import annotations

from collections.abc import Sequence

from agent.ranking.strategy import RankingContext
from schemas.hits import Hit


class Packing:
    """The first `results` passages that together stay within `characters`; a passage that does
    not fit is left out for a shorter one behind it, the first is always kept.
    """

    name = "packing"
    stage = 40

    def __init__(self, results: int, characters: int) -> None:
        self._results = results
        self._characters = characters

    def supports(self, context: RankingContext) -> bool:
        return True

    async def apply(self, context: RankingContext, hits: Sequence[Hit]) -> Sequence[Hit]:
        packed: list[Hit] = []
        used = 0
        for hit in hits:
            size = len(hit.passage.text)
            if packed and used + size > self._characters:
                continue
            packed.append(hit)
            used += size
            if len(packed) == self._results:
                break
        return packed
