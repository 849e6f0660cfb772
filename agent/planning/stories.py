"""Questions that retell what documents report.

"Who is the founder that, as reported by The Verge on October 2, told a judge in 2022 …?" names
its source like any question, but nearly all of its other names, days and figures are what the
documents say, not what is kept about them. There a mention counts only where the words right
beside it leave no doubt.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from agent.planning.affinity import STRONG
from agent.planning.scene import Found, Scene
from agent.planning.words import ENTITY_NOUNS, key, preceding, tokens
from schemas.mentions import MentionKind

STORY = 18
"""Words from which on a question can be one."""
_EXACT = 2.85
_OWN_NAME = 0.9
_BESIDE = 4
_PREPOSITION = 2
"""Letters of "by" and the like, which name a field only where nothing else does."""
_REPORTED = re.compile(
    r"\b(?:articles?|reports?|reported|reporting|coverage|covered|according\s+to|as\s+per|"
    r"mentioned\s+(?:by|in)|discussed\s+(?:by|in)|news\s+sources?|published\s+by|stories|"
    r"publish(?:es|ing|ed)?|claims?|suggests?|(?-i:states?)|indicates?|attributes?|describes?|"
    r"associated\s+with|alleg(?:ed|es)|refer(?:s|red)?\s+to|compared\s+to|accused)\b|报道|报导|文章|据",
    re.IGNORECASE,
)
_DATED = re.compile(
    r"\b(?:published|dated|reported|posted|written|updated|released|article|report|story|piece|"
    r"articles|reports)\s+(?:on|in|from|of|since|before|after|during|between)?\s*(?:the\s+)?$",
    re.IGNORECASE,
)
_SOURCE_OF = re.compile(
    r"\b(?:reported\s+(?:by|in|on)|according\s+to|as\s+per|covered\s+by|articles?\s+(?:by|from|in)|"
    r"(?:published|mentioned|discussed|reviewed|report\w*|coverage|stor(?:y|ies))\s+(?:by|in|from))"
    r"\s+(?:both\s+|the\s+|an?\s+)*['\"‘“]?$",
    re.IGNORECASE,
)
_ITS_REPORT = re.compile(
    r"['\"’”]?(?:['’]s?)?\s+(?:news\s+)?(?:articles?|reports?|reported|coverage|stor(?:y|ies)|pieces?|"
    r"suggests?|claims?|states?|indicates?|describes?|discusses|focuses|attributes?)\b",
    re.IGNORECASE,
)
_SURELY = 0.99
_KIND_AFTER = re.compile(r"\s+(?P<noun>[A-Za-z]+)")


def is_story(scene: Scene) -> bool:
    """Whether a text is long and speaks of what is reported."""
    return retells(scene.text)


def retells(text: str) -> bool:
    """The same of a bare text."""
    return len(tokens(text)) >= STORY and _REPORTED.search(text) is not None


def told(scene: Scene, found: Sequence[Found]) -> list[Found]:
    """What of a story's mentions says which documents are meant. Days of one document out of
    several would shut the others out, so they count only where one document is spoken of.
    """
    named = [f for f in found if _is_known(scene, f) and _is_named(scene, f)]
    periods = [f for f in found if f.kind is MentionKind.PERIOD]
    single = len(named) <= 1 and len(periods) == 1
    kept: list[Found] = []
    for one in found:
        match one.kind:
            case MentionKind.VALUE:
                keep = one in named
            case MentionKind.PERIOD:
                keep = single and _DATED.search(preceding(scene.text, one.start)) is not None
            case MentionKind.SPAN:
                keep = one in named or _is_labelled(scene, one)
            case _:
                keep = one.choices[0].score >= STRONG
        if keep:
            kept.append(_surely(one) if one in named and _is_attributed(scene, one) else one)
    return kept


def _is_attributed(scene: Scene, found: Found) -> bool:
    """Right behind "reported by" or "according to", or right before "article"."""
    before, after = preceding(scene.text, found.start), scene.text[found.end :]
    return _SOURCE_OF.search(before) is not None or _ITS_REPORT.match(after) is not None


def _surely(found: Found) -> Found:
    best = found.choices[0]
    alone = all(choice.field == best.field for choice in found.choices)
    if not alone:
        return found
    choices = tuple(
        choice.model_copy(update={"score": max(choice.score, _SURELY)}) for choice in found.choices
    )
    return replace(found, choices=choices)


def _is_named(scene: Scene, found: Found) -> bool:
    """A value written as it is, with capitals, or several words of one; other words only before
    what is looked for: "technology articles".
    """
    words = scene.text[found.start : found.end]
    if found.rank < _EXACT:
        begins = len(found.choices) == 1 and str(found.choices[0].value).startswith(words)
        return " " in words and words[0].isupper() and (begins or _is_attributed(scene, found))
    proper = any(_has_capitals(str(choice.value)) for choice in found.choices)
    if proper and _has_capitals(words):
        return True
    after = _KIND_AFTER.match(scene.text, found.end)
    return after is not None and key(after["noun"]) in ENTITY_NOUNS


def _is_known(scene: Scene, found: Found) -> bool:
    """A value of some field, be it in quotes."""
    if found.kind is MentionKind.VALUE:
        return True
    fields = {choice.field for choice in found.choices}
    known = scene.catalogue.values.entries(scene.text[found.start : found.end])
    return found.kind is MentionKind.SPAN and any(entry.field in fields for entry, _ in known)


def _has_capitals(text: str) -> bool:
    return any(char.isupper() for char in text)


def _is_labelled(scene: Scene, found: Found) -> bool:
    """A text right behind the name of its field: "the author Jane Doe"."""
    fields = {choice.field for choice in found.choices}
    return any(
        hit.field in fields
        and hit.weight >= _OWN_NAME
        and 0 <= found.start - hit.end <= _BESIDE
        and len(scene.text[hit.start : hit.end]) > _PREPOSITION
        for hit in scene.hits
    )
