"""Stage 10: passages that say too little."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent.ranking.density import density
from agent.ranking.scoring import SIMILARITY
from agent.ranking.strategy import HARD_FILTER, RankingContext
from schemas.hits import Hit, Passage
from schemas.policy import Policy

_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")


class HardFilter:
    """Keeps passages with text, of a length within the policy's range and with enough
    information in it, whose similarity, where it is known, is not below `similarity_floor`. A
    passage that is its whole document may be of any length: there is no longer one to find in
    its place.
    """

    name = "hard_filter"
    stage = HARD_FILTER

    def supports(self, context: RankingContext) -> bool:
        return True

    async def apply(self, context: RankingContext, hits: Sequence[Hit]) -> Sequence[Hit]:
        return [
            hit for hit in hits if _stays(hit, context.policy.for_document(hit.passage.metadata))
        ]


def _stays(hit: Hit, policy: Policy) -> bool:
    if hit.scores.get(SIMILARITY, 1.0) < policy.similarity_floor:
        return False
    return _says_enough(hit.passage, policy)


def _says_enough(passage: Passage, policy: Policy) -> bool:
    size = length(passage.text)
    if size == 0:
        return False
    longest = policy.max_document_length
    fits = size >= policy.min_document_length and (longest is None or size <= longest)
    if not (fits or passage.whole):
        return False
    return density(passage.text) >= policy.min_information_density


def length(text: str) -> int:
    """Characters, where a run of white space counts as one, and a Chinese, Japanese or Korean
    character, which says as much as two letters, as two.
    """
    plain = " ".join(text.split())
    return len(plain) + len(_CJK.findall(plain))
