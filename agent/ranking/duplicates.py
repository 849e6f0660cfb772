"""Stage 28: the same text again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import Indel

from agent.ranking.strategy import DUPLICATES, RankingContext
from schemas.folding import fold
from schemas.hits import Hit

_NUMBER = re.compile(r"\d+")
_NO_WORD = re.compile(r"[\W_]+")


@dataclass(frozen=True)
class _Print:
    """A text as it is compared. Texts with different numbers are no duplicates, however alike:
    last year's rate beside this year's is a difference that matters.
    """

    text: str
    numbers: tuple[str, ...]

    def resembles(self, other: _Print, least: float) -> bool:
        if self.numbers != other.numbers:
            return False
        if self.text == other.text:
            return True
        alike = Indel.normalized_similarity(self.text, other.text, score_cutoff=least)
        return bool(alike >= least)


class NearDuplicates:
    """Keeps the best-ranked of passages whose texts are alike by `duplicate_threshold` or more,
    in one document or in several. Alike is the Indel similarity of the texts without punctuation,
    in 0..1.
    """

    name = "near_duplicates"
    stage = DUPLICATES

    def supports(self, context: RankingContext) -> bool:
        return context.policy.duplicates_enabled

    async def apply(self, context: RankingContext, hits: Sequence[Hit]) -> Sequence[Hit]:
        kept = set(first_of_alike(hits, context.policy.duplicate_threshold))
        return [hit for place, hit in enumerate(hits) if place in kept]


def first_of_alike(hits: Sequence[Hit], least: float) -> Iterator[int]:
    """The places of the hits that are like none before them, in order."""
    seen: list[_Print] = []
    for place, hit in enumerate(hits):
        mark = _print(hit.passage.text)
        if not any(mark.resembles(other, least) for other in seen):
            seen.append(mark)
            yield place


def _print(text: str) -> _Print:
    plain = fold(text)
    return _Print(_NO_WORD.sub(" ", plain).strip(), tuple(_NUMBER.findall(plain)))
