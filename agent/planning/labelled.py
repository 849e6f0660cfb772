"""Values that follow the name of their field up to the end of a clause: "the site is …"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from agent.planning.facets import FacetHit
from agent.planning.scene import NAME, Found, Scene
from agent.planning.words import CJK, FUNCTION_WORDS, key
from schemas.collection import FieldType
from schemas.mentions import Choice, MentionKind
from schemas.operators import Op

RANK = 3.5
_SCORE = 1.0
_LONGEST = 8
_LINK = re.compile(
    r"(?:\s+(?:(?:is|was|are|were)(?:\s+(?:listed|given|shown|recorded)\s+as)?|of|equals|:|=)\s+|\s*[:=]\s*)(?:(?:the|an?)\s+)?"
)
_OWN = 0.5
_CONTAINED = 9.5
_REACH = 200
_NAMED_ZH = re.compile(
    rf"\s*(?:是|为|叫做?|名叫|：)\s*(?P<value>[{CJK}A-Za-z0-9·]{{2,16}}?)(?=的|[，。；？！]|\s*$)"
)
_ASKS_ZH = re.compile(r"什么|哪|谁|多少|几|怎|何|[不没非未最]|大于|小于|高于|低于|超过|以[上下内]")
_HOLDS = re.compile(
    r"\s+(?:that\s+)?(?:contain(?:s|ing)?|includ(?:es|ing)|mention(?:s|ing)?)\s+"
    r"(?:(?:the|a)\s+)?(?:(?:words?|phrase|text|string)\s+)?(?![\"“‘'《「])",
    re.IGNORECASE,
)
_HOLDS_ZH = re.compile(
    rf"(?:里面?|中|上)?(?:包含|含有|带有|提到|出现|(?<=[里中上])有)(?P<value>[{CJK}A-Za-z0-9]{{1,12}}?)(?=的|[，。；？！]|\s*$)"
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
    text = scene.text
    link = _LINK.match(text, hit.end)
    named = _NAMED_ZH.match(text, hit.end) if link is None else None
    if named is not None:
        return named.span("value") if _ASKS_ZH.search(named["value"]) is None else None
    if link is None:
        return None
    value = _clause(text, link.end())
    if not value or _PLAIN.fullmatch(value) or not _SPECIAL.search(value) or _is_list(value):
        return None
    return _whole(scene, hit, link.end(), value)


def link_contained(scene: Scene) -> Iterable[Found]:
    """Words that a field is to contain: "whose title mentions budget", 标题里有预算的."""
    for hit in scene.hits:
        if hit.weight < _OWN or scene.catalogue.fields[hit.field].type is not FieldType.STRING:
            continue
        zh = _HOLDS_ZH.match(scene.text, hit.end)
        holds = None if zh else _HOLDS.match(scene.text, hit.end)
        span: tuple[int, int] | None = zh.span("value") if zh else None
        if holds is not None:
            value = _clause(scene.text, holds.end())
            span = _whole(scene, hit, holds.end(), value) if _is_bare(value) else None
        if span is not None and scene.text[slice(*span)].strip():
            choice = Choice(field=hit.field, value=scene.text[slice(*span)], score=_SCORE)
            yield Found(MentionKind.SPAN, *span, (choice,), Op.CONTAINS.value, rank=_CONTAINED)


def _is_bare(value: str) -> bool:
    """Words without quotation marks, which mark the text better."""
    return bool(value) and not re.search(r"['\"‘“`《「]", value)


def _clause(text: str, start: int) -> str:
    """What follows up to the end of its clause."""
    rest = text[start : start + _REACH]
    end = _END.search(rest)
    return (rest[: end.start()] if end else rest).rstrip(" .,?")


def _whole(scene: Scene, hit: FacetHit, start: int, value: str) -> tuple[int, int] | None:
    """The place of a value of few words without grammar, and without the name of another field."""
    words = [word.group() for word in _WORD.finditer(value)]
    grammar = [w for w in words if key(w) in FUNCTION_WORDS and w.lower() not in _INNER]
    if len(value.split()) > _LONGEST or grammar:
        return None
    after = (h for h in scene.hits if h.start < start + len(value) and start < h.end)
    named = any(h.weight >= NAME for h in after if h.field != hit.field)
    return None if named else (start, start + len(value))


def _is_list(value: str) -> bool:
    """Words with commas between them may be several values; one comma may be a place's."""
    return len(_LIST.findall(value)) > 1 and not any(c.isdigit() for c in value)
