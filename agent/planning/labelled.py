"""Values that follow the name of their field up to the end of a clause: "the site is …"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from agent.planning.facets import FacetHit
from agent.planning.scene import NAME, Found, Scene
from agent.planning.words import CJK, FUNCTION_WORDS, key
from schemas.collection import FieldType
from schemas.mentions import Choice, MentionKind

RANK = 3.5
_SCORE = 1.0
_LONGEST = 8
_LINK = re.compile(
    r"(?:\s+(?:(?:is|was|are|were)(?:\s+(?:listed|given|shown|recorded)\s+as)?|of|equals|:|=)\s+|\s*[:=]\s*)(?:(?:the|an?)\s+)?"
)
_END = re.compile(
    r"[?!;\"“”]|[.](?=\s|$)|,\s+(?=(?:and|or|but|what|which|who|when|where|how|with|in|is|the|a)\b)"
    r"|\s(?:and|or|but|when|where|that|who|which|with|has|have|had|as|for|from|in|at|on|by|if|to|while)\s"
)
_LIST = re.compile(r",\s")
_WORD = re.compile(rf"[^\W\d_{CJK}]+")
_SPECIAL = re.compile(r"[^\w\s.]|\d.*\s|\s.*\d")
"""Marks and figures inside a text, at which it would fall to pieces."""
_INNER = frozenset({"of", "the", "de", "la", "le", "van", "von", "der", "den", "del", "di", "da"})
_PLAIN = re.compile(r"[+\-−$€£]?[\d.,]+\s?(?:%|[a-z]+)?")
"""A figure, perhaps with its unit or the verb behind it."""


def link_labelled(scene: Scene, found: Sequence[Found]) -> Iterable[Found]:
    """Texts with marks or figures inside, such as "8.11 (59)" or "5–7, 6–4", whole. What is found
    inside with a known value, or is a day or a plain figure, is left to those that know it.
    """
    for hit in scene.hits:
        if hit.weight < NAME or hit.field not in scene.open or hit.asked:
            continue
        if scene.catalogue.fields[hit.field].type is not FieldType.STRING:
            continue
        span = _labelled(scene, hit)
        if span is not None and all(one.apart(*span) or _is_part(one, span) for one in found):
            choice = Choice(field=hit.field, value=scene.text[slice(*span)], score=_SCORE)
            yield Found(MentionKind.SPAN, *span, (choice,), rank=RANK)


def _is_part(one: Found, span: tuple[int, int]) -> bool:
    """A guess inside the text, not what is known to be something else."""
    within = span[0] <= one.start and one.end <= span[1]
    guessed = one.kind in (MentionKind.SPAN, MentionKind.NUMBER) and one.rank < RANK
    return within and guessed


def _labelled(scene: Scene, hit: FacetHit) -> tuple[int, int] | None:
    link = _LINK.match(scene.text, hit.end)
    if link is None:
        return None
    start, rest = link.end(), scene.text[link.end() :]
    end = _END.search(rest)
    value = (rest[: end.start()] if end else rest).rstrip(" .,?")
    if not value or _PLAIN.fullmatch(value) or not _SPECIAL.search(value):
        return None
    words = [word.group() for word in _WORD.finditer(value)]
    grammar = [w for w in words if key(w) in FUNCTION_WORDS and w.lower() not in _INNER]
    if len(value.split()) > _LONGEST or grammar or _is_list(value):
        return None
    after = (h for h in scene.hits if h.start < start + len(value) and start < h.end)
    named = any(h.weight >= NAME for h in after if h.field != hit.field)
    return None if named else (start, start + len(value))


def _is_list(value: str) -> bool:
    """Words with commas between them may be several values; one comma may be a place's."""
    return len(_LIST.findall(value)) > 1 and not any(c.isdigit() for c in value)
