"""How near hits are to the question, whichever search found them."""

from __future__ import annotations

from collections.abc import Sequence

from agent.ranking.rerank.ordering import over_highest, unit
from schemas.hits import Hit

MEASURES = ("similarity", "dense")
"""The calibrated similarity, else the cosine."""


def closeness(hits: Sequence[Hit]) -> list[float]:
    """A number in 0..1 per hit, of one measure for all: the first of MEASURES that some hit has,
    where one without it counts as 0, as in fusion; else the score over the highest.
    """
    for measure in MEASURES:
        if any(measure in hit.scores for hit in hits):
            return [unit(hit.scores.get(measure, 0.0)) for hit in hits]
    return over_highest([hit.score for hit in hits])
