"""Stage 30: no document crowds out the others."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from agent.ranking.strategy import RankingContext
from schemas.hits import Hit


class Diversity:
    """Round robin over documents, best document first: A1 B1 C1 A2 B2, at most `per_source`
    passages of each, what is over behind them in its old order.
    """

    name = "diversity"
    stage = 30

    def __init__(self, per_source: int) -> None:
        self._per_source = per_source

    def supports(self, context: RankingContext) -> bool:
        return True

    async def apply(self, context: RankingContext, hits: Sequence[Hit]) -> Sequence[Hit]:
        by_document: dict[str, list[Hit]] = {}
        for hit in hits:
            by_document.setdefault(hit.passage.doc_id, []).append(hit)
        rounds = zip_longest(*(group[: self._per_source] for group in by_document.values()))
        first = [hit for one in rounds for hit in one if hit is not None]
        chosen = {hit.passage.id for hit in first}
        return [*first, *(hit for hit in hits if hit.passage.id not in chosen)]
