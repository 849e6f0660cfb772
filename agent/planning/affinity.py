"""How closely a mention stands to words that name a field."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent.planning.facets import FacetHit
from agent.planning.tables import listed

STRONG = 0.6
_LINK = frozenset(
    listed("""
    is are was were be been being = : of the a an than more less fewer greater larger
    higher lower smaller bigger over under above below at least most exactly equal to
    equals named called titled had has have s number no # value values code not n't only
    starts start starting ends end ending begin begins beginning with include includes
    including contains containing contain between
    """)
)
_PREPOSITIONS = frozenset(
    listed("""
    in by on for from at about near into within it that who which it's its their out
    """)
)
_BREAK = re.compile(
    r"[,;?!。，；？！、]|\b(?:and|or|but|when|where|while|if)\b|[和及或且]", re.IGNORECASE
)
_LINK_ZH = re.compile(r"^[是为在有要达到等于大概的：:得能约里中含带叫做包括\s]*$")
_AFTER = re.compile(
    r"^[\s-]*(?:(?:as|is|was|were)\s+(?:the|an?|its|their)|of)?\s*(?:the)?[\s-]*$", re.IGNORECASE
)
_ROLE = re.compile(r"\s+as\s+(?:the|an?|its|their)\s+", re.IGNORECASE)
"""What a name is: "Richmond as the away team"."""
_RELATED = 1.1
_WORD = 16
_FAR, _AFAR = 60, 0.05
_ENDS_OPEN = re.compile(r"\b(?:by|from|to|at|in|of)$", re.IGNORECASE)
"""A field's name that waits for its value: "cartoons directed by …"."""


def affinity(text: str, start: int, end: int, hits: Sequence[FacetHit]) -> dict[str, float]:
    """Field → 0..1 from its best-placed hit; fields that nothing names are left out."""
    scores: dict[str, float] = {}
    for hit in hits:
        if hit.start < end and start < hit.end:
            continue
        apart = max(start - hit.end, hit.start - end)
        near = (
            _AFAR
            if apart > _FAR
            else _RELATED
            if hit.end < start and _relates(text, hit, start, hits)
            else _leading(text[hit.end : start])
            if hit.end <= start
            else _trailing(text[end : hit.start])
        )
        score = hit.weight * near
        if hit.end > start and _ENDS_OPEN.search(text[max(0, hit.end - _WORD) : hit.end]):
            score *= 0.2
        if hit.asked and not _adjoins(text, start, end, hit):
            score *= 0.25
        if score > scores.get(hit.field, 0.0):
            scores[hit.field] = score
    return scores


def _relates(text: str, hit: FacetHit, start: int, hits: Sequence[FacetHit]) -> bool:
    """Only the name of another field between: "replaces PEP 345" is about what is replaced."""
    gap = text[hit.end : start]
    if len(gap) > _WORD or not gap.strip().isalpha() or len(gap) != len(gap.strip()) + 2:
        return False
    between = [h for h in hits if h.start == hit.end + 1 and h.end == start - 1]
    longer = any(h.start <= hit.start and h.end == start - 1 for h in hits)
    return not longer and any(other.field != hit.field for other in between)


def _adjoins(text: str, start: int, end: int, hit: FacetHit) -> bool:
    """Whether a name or figure stands right behind the field: PEP 617, but not the verb in
    "which abbreviation corresponds to".
    """
    return 0 <= start - hit.end <= 1 and not text[start].islower()


def _leading(gap: str) -> float:
    """How well words between a field's name and the mention bind them: "Venue is …"."""
    if _LINK_ZH.fullmatch(gap):
        return 1.0
    if _BREAK.search(gap):
        return 0.12
    words = re.findall(r"[\w'#=:]+", gap.lower())
    strange = sum(word not in _LINK and word not in _PREPOSITIONS for word in words)
    if strange:
        return max(0.2, 0.55 - 0.1 * strange)
    return 0.55 if any(word in _PREPOSITIONS for word in words) else 1.0


def _trailing(gap: str) -> float:
    """How well words between the mention and a field's name bind them: "4 cylinders"."""
    if _ROLE.fullmatch(gap):
        return 1.05
    if _AFTER.fullmatch(gap):
        return 0.97
    if _BREAK.search(gap):
        return 0.1
    return max(0.15, 0.62 - 0.12 * len(gap.split()))
