"""Stage 5: how near each hit is to the question, in meaning and in words."""

from __future__ import annotations

from collections.abc import Sequence

from agent.ranking.calibration import Calibration
from agent.ranking.strategy import SCORING, RankingContext
from agent.ranking.subject import confidence, subject_of
from schemas.hits import Hit

DENSE = "dense"
SIMILARITY = "similarity"
CONFIDENCE = "confidence"


class Scoring:
    """Puts `similarity` and `confidence`, both in 0..1, on the hits; takes none away and changes
    no order. Without a cosine, or a known scale for it, a hit gets no similarity.
    """

    name = "scoring"
    stage = SCORING

    def __init__(self, model: str) -> None:
        self._model = model

    def supports(self, context: RankingContext) -> bool:
        return True

    async def apply(self, context: RankingContext, hits: Sequence[Hit]) -> Sequence[Hit]:
        scale = Calibration(self._model, context.policy.calibration)
        subject, entities = subject_of(context.wanted), context.wanted.entities
        return [
            _with_scores(hit, scale, confidence(subject, entities, hit.passage)) for hit in hits
        ]


def _with_scores(hit: Hit, scale: Calibration, confident: float) -> Hit:
    found = {CONFIDENCE: round(confident, 4)}
    if scale.known and DENSE in hit.scores:
        found[SIMILARITY] = round(scale.similarity(hit.scores[DENSE]), 4)
    return hit.model_copy(update={"scores": {**hit.scores, **found}})
