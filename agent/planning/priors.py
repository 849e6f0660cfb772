"""What a field's name promises of its values: names of people, titles, codes, figures."""

from __future__ import annotations

import re

from agent.planning.scene import Scene
from agent.planning.spans import Span
from agent.planning.words import has_cjk, name_words
from schemas.collection import Field

_ENDED = 0.5
_FIGURES = re.compile(
    r"date|time|version|phone|price|fare|cost|number|rating|score|\bage\b|year|zip|email|url|website|"
    r"amount|balance|rent|length|duration|temperature|humidity|wind|precipitation|day|"
    r"\bno\b|#|%|\brank(?:ing)?\b|crowd|attendance|points?\b|\bseason\b|founded|revenue|profits?\b|"
    r"\bvalue\b|population|\btotal\b|goals\b|\bwins\b|loss(?:es)?\b|\blaps\b|"
    r"weight|height|percent|ratio|average|\bavg\b|elected|launched|opened|"
    r"电话|时间|价格|地址|票价|评分|温度|时长|排名|人数|数量|编号|面积|人口",
    re.IGNORECASE,
)
_NUMBERED = re.compile(
    r"(?:the\s+|all\s+)?(?:numbers?|versions?|years?|\w+\s+versions?)\b", re.IGNORECASE
)
"""Descriptions that begin with what figures are: "Numbers of the documents that …"."""
_WORKS = re.compile(
    r"\b(?:name|title|song|album|film|movie|track|single|episode|book|poem|headline)\b|名|标题|歌|曲",
    re.IGNORECASE,
)
"""What has titles, which are quoted."""
_CODES = re.compile(r"\b(?:code|id|key|abbreviation|symbol)\b|代码|编码|缩写", re.IGNORECASE)
NAMES = re.compile(r"name|title|名", re.IGNORECASE)
_PEOPLE = re.compile(
    r"\b(?:authors?|writers?|editors?|directors?|actors?|artists?|composers?|creators?|persons?|people)\b",
    re.IGNORECASE,
)
_HEADS = tuple(
    (
        re.compile(
            rf"(?:\b(?:{heads})|(?:{heads_zh}))(?:\s*[(（][^()（）]*[)）])?\.?$", re.IGNORECASE
        ),
        re.compile(rf"{fields}", re.IGNORECASE),
    )
    for heads, heads_zh, fields in (
        (
            "university|college|school|academy|institute",
            "大学|学院|学校|中学",
            r"college|school|universit|institut|education|alma|学校|院校|大学",
        ),
        (
            "stadium|field|arena|cent(?:er|re)|park|hall|theat(?:er|re)|gardens?|grounds?",
            "体育馆|体育场|剧院|会展中心",
            r"stadium|venue|arena|ground|\bsite\b|场馆|场地",
        ),
        (
            "inc|ltd|llc|corp|corporation|company|gmbh|records|industries",
            "公司|集团",
            r"company|employer|vendor|supplier|publisher|label|owner|customer|client|manufacturer"
            r"|公司|供应商|客户|厂商",
        ),
        (
            "championships?|cup|league|tournament|olympics|games",
            "杯|锦标赛|联赛|运动会",
            r"competition|tournament|championship|league|赛事|比赛",
        ),
        ("street|avenue|road|lane|boulevard", "路|街|大道", r"address|street|地址|街道"),
    )
)
"""Last words of names, with the fields that hold what they are the names of."""
_HEADED = 0.45


def prior(field: Field, span: Span) -> float:
    """What a field's name says against or for holding words rather than figures."""
    if any(c.isdigit() for c in span.text):
        return 0.02
    if span.sure and span.text.isupper() and " " not in span.text:
        return 0.06 if _CODES.search(name_words(field.name)) else 0.02
    if span.sure:
        return 0.06 if _WORKS.search(name_words(field.name)) else 0.02
    if _FIGURES.search(name_words(field.name)) or _NUMBERED.match(field.description):
        return -0.4
    return 0.04 if NAMES.search(field.name) else 0.02


def ending(scene: Scene, span: Span, name: str) -> float:
    """A name that ends in what the field is called ("Atlantic Coast Conference"), or in a word
    for what the field holds ("Lake Superior State University").
    """
    ends = (h for h in scene.hits if h.field == name and h.end == span.end and h.start > span.start)
    ended = _ENDED * max((hit.weight for hit in ends), default=0.0)
    words = name_words(name)
    headed = (
        any(head.search(span.text) and fields.search(words) for head, fields in _HEADS)
        and not span.text.islower()
    )
    return max(ended, _HEADED if headed else 0.0)


def is_nobody(scene: Scene, field: Field, span: Span) -> bool:
    """Words in lower case, or with figures, over a field of people's names; where nothing is
    written in capitals, several words may be a person.
    """
    if not _PEOPLE.search(f"{name_words(field.name)} {field.description}"):
        return False
    if span.sure or has_cjk(span.text):
        return False
    if any(c.isdigit() for c in span.text) or any(c.isupper() for c in span.text):
        return any(c.isdigit() for c in span.text)
    return " " not in span.text or any(c.isupper() for c in scene.text[1:])
