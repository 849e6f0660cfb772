"""How rerankers put their scores on hits."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from schemas.hits import Hit

NAME = "rerank"
"""What every reranker is called in a chain, which has one of them at the most."""

STAGE = 25


def rescored(hit: Hit, score: float, parts: Mapping[str, float]) -> Hit:
    """The hit ordered by `score` from now on, which is also kept as `rerank`, its parts as
    `rerank.<part>`; the scores it had stay beside them.
    """
    named = {f"{NAME}.{part}": value for part, value in parts.items()}
    return hit.model_copy(
        update={"score": score, "scores": {**hit.scores, NAME: score, **named}},
    )


def best_first(hits: Iterable[Hit], by: str = NAME) -> list[Hit]:
    """By the score of this name. Ties are broken by the passage's id, so that runs can be
    repeated.
    """
    return sorted(hits, key=lambda hit: (-hit.scores[by], hit.passage.id, hit.passage.kb))


def finite(value: float) -> float:
    """0 for what is no finite number."""
    return value if math.isfinite(value) else 0.0


def unit(value: float) -> float:
    """Cut to 0..1; 0 for what is no finite number."""
    return min(1.0, max(0.0, finite(value)))


def over_highest(scores: Sequence[float]) -> list[float]:
    """Scores of any scale as shares of the highest; those below zero count as zero."""
    kept = [max(0.0, finite(score)) for score in scores]
    highest = max(kept, default=0.0)
    return [score / highest if highest else 0.0 for score in kept]
