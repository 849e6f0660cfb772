"""Stage 20: what is neither near the question nor speaks of what it names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agent.ranking.scoring import CONFIDENCE, SIMILARITY
from agent.ranking.strategy import SIMILARITY_STAGE, RankingContext
from agent.ranking.subject import subject_of
from schemas.filters import EVERYTHING
from schemas.hits import Hit
from schemas.policy import Policy

CLEARLY_NEAR = 0.8
"""Nine in ten passages that answer a question about their text are at least as near to it."""


class Similarity:
    """Takes away a hit whose similarity is below `similarity_threshold` and whose confidence is
    below `min_confidence_threshold`.

    Either alone is no reason: a passage in another language shares no word with the question,
    and one with the very error code that is asked for may be far from it in meaning. Hits
    without a similarity stay: no dense search has seen them, or the scale of the embedding model
    is not known. Where conditions are in force and none of the hits is clearly near, all stay:
    the question was about the conditions, which they meet, and not about a text.
    """

    name = "similarity"
    stage = SIMILARITY_STAGE

    def supports(self, context: RankingContext) -> bool:
        """Not for a question that names nothing besides its conditions: they are met, and the
        rest of its words, such as "list all documents", is near to no passage.
        """
        return bool(context.wanted.entities or subject_of(context.wanted))

    async def apply(self, context: RankingContext, hits: Sequence[Hit]) -> Sequence[Hit]:
        clearly = (hit.scores.get(SIMILARITY, 0.0) >= CLEARLY_NEAR for hit in hits)
        if context.wanted.filter != EVERYTHING and not any(clearly):
            return hits
        return [
            hit
            for hit in hits
            if _stays(hit.scores, context.policy.for_document(hit.passage.metadata))
        ]


def _stays(scores: Mapping[str, float], policy: Policy) -> bool:
    similar = scores.get(SIMILARITY)
    if similar is None:
        return True
    return (
        similar >= policy.similarity_threshold
        or scores.get(CONFIDENCE, 0.0) >= policy.min_confidence_threshold > 0
    )
