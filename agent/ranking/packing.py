"""Stage 40: what fits into the context."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agent.ranking.excerpts import Measure, excerpt_span
from agent.ranking.strategy import PACKING, RankingContext
from graph.tokens import tokens_of
from schemas.hits import Hit, excerpt
from schemas.terms import telling_terms

SEPARATOR = "\n\n"
"""Stands between two passages in a prompt."""

WORTH = 0.5
"""A passage that can only be shown in part is left out for a shorter one behind it, where less
than this share of it fits.
"""


@dataclass(frozen=True)
class Room:
    """`results` passages that together, with separators, have at most `size`; None: any size."""

    results: int
    size: int | None
    measure: Measure

    @classmethod
    def of(cls, context: RankingContext) -> Room:
        """A caller who asks for a number of passages gets them, unless the same call limits the
        size as well. A budget in tokens takes the place of that in characters.
        """
        policy, call = context.policy, context.wanted.policy
        tokens = policy.max_total_tokens
        size = policy.max_total_chars if tokens is None else tokens
        sized = call is not None and (call.max_total_chars or call.max_total_tokens)
        unlimited = context.wanted.top is not None and not sized
        return cls(
            context.wanted.top or policy.max_retrieval_results,
            None if unlimited else size,
            len if tokens is None else tokens_of,
        )


class Packing:
    """The first passages for which there is room. One that alone is larger than all of it is
    trimmed to the sentences around the match, so that those behind it still fit; one that does
    not fit any more is trimmed, too, or left out for a shorter one behind it.
    """

    name = "packing"
    stage = PACKING

    def supports(self, context: RankingContext) -> bool:
        return True

    async def apply(self, context: RankingContext, hits: Sequence[Hit]) -> Sequence[Hit]:
        room = Room.of(context)
        shares = _Shares(context)
        if room.size is None:
            return [hit for hit in hits if shares.take(hit)][: room.results]
        wanted = telling_terms(context.wanted.query or context.wanted.question)
        packed: list[Hit] = []
        left = room.size
        for index, hit in enumerate(hits):
            if len(packed) == room.results:
                break
            free = left - (room.measure(SEPARATOR) if packed else 0)
            allowed = _allowed(hits[index:], free, room, room.results - len(packed))
            fitted = _fitted(hit, wanted, allowed, room, needed=not packed)
            if fitted is not None and shares.take(fitted):
                packed.append(fitted)
                left = free - room.measure(fitted.passage.text)
        return packed


class _Shares:
    """What the rules for types of documents leave to each of them."""

    def __init__(self, context: RankingContext) -> None:
        self._policy = context.policy
        self._results: dict[str, int] = {}
        self._characters: dict[str, int] = {}

    def take(self, hit: Hit) -> bool:
        """Whether the type of the hit's document has room for it, which is then taken."""
        kind = self._policy.type_of(hit.passage.metadata)
        rule = None if kind is None else self._policy.rule_for(kind)
        if kind is None or rule is None:
            return True
        results = self._results.get(kind, 0) + 1
        characters = self._characters.get(kind, 0) + len(hit.passage.text)
        if rule.max_retrieval_results and results > rule.max_retrieval_results:
            return False
        if rule.max_total_chars and results > 1 and characters > rule.max_total_chars:
            return False
        self._results[kind], self._characters[kind] = results, characters
        return True


def _allowed(hits: Sequence[Hit], free: int, room: Room, places: int) -> int:
    """The size that the first of these hits may have: all that is free, except for one that is
    larger than the whole room, which leaves the ones behind it theirs, down to an equal share.
    """
    if room.size is None or room.measure(hits[0].passage.text) <= room.size:
        return free
    least = free // min(places, len(hits))
    reserved = 0
    for hit in hits[1:places]:
        needed = room.measure(hit.passage.text) + room.measure(SEPARATOR)
        if reserved + needed <= free - least:
            reserved += needed
    return free - reserved


def _fitted(
    hit: Hit, wanted: Sequence[str], allowed: int, room: Room, *, needed: bool
) -> Hit | None:
    """The hit, or as much of it as is allowed; None where that is too little to be worth it."""
    text = hit.passage.text
    size = room.measure(text)
    if size <= allowed:
        return hit
    span = excerpt_span(text, wanted, allowed, room.measure)
    if span is None:
        return None
    part = excerpt(hit.passage, span)
    oversize = room.size is not None and size > room.size
    if not (needed or oversize) and room.measure(part.text) < WORTH * size:
        return None
    start = hit.span[0] if hit.span else 0
    return hit.model_copy(update={"passage": part, "span": (start + span[0], start + span[1])})
