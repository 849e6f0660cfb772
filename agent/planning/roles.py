"""What a preposition before a name says of the field: places after "in", people after "by"."""

from __future__ import annotations

import re

from agent.planning.words import name_words
from schemas.collection import Field

_BONUS = 0.35
_PLACES = (
    r"city|town|country|nation|state|province|county|region|district|area|location|place|venue|"
    r"area|territory|address|site|campus|office|城市|国家|地区|区域|地点|地址"
)
_PEOPLE = (
    r"author|artist|writer|written|director|directed|actor|starring|cast|singer|composer|creator|"
    r"player|owner|reviewer|editor|performer|producer|designer|by|person|作者|导演|主演|演员|歌手"
)
_ORIGINS = r"from|origin|source|departure|pickup|start|outlet|publisher|country|nationality|出发"
_GOALS = r"to|destination|dest|arrival|dropoff|goal|目的"
_TITLES = r"name|title|名"
_ROLES = tuple(
    (
        re.compile(rf"(?:{words})\s*(?:the\s+)?$", re.IGNORECASE),
        re.compile(rf"\b(?:{fields})\b|(?:{fields})(?=[A-Z_ ]|$)", re.IGNORECASE),
    )
    for words, fields in (
        (r"\b(?:in|at|around|near|within|inside|throughout)|在|位于", _PLACES),
        (r"\b(?:by|starring|featuring|with)|由|主演", _PEOPLE),
        (r"\b(?:from|leaving|departing|out\s+of)|从", _ORIGINS + "|" + _PLACES),
        (r"\b(?:to|towards|for|into|arriving\s+(?:at|in)|landing\s+(?:at|in))|到|去|往", _GOALS),
        (r"\b(?:named|called|titled)|名叫|叫做|名为", _TITLES),
    )
)


def role_bonus(text: str, start: int, field: Field) -> float:
    """How much the words right before a name speak for a field, 0 where they do not."""
    before = text[max(0, start - 24) : start]
    name = name_words(field.name)
    for words, fields in _ROLES:
        if words.search(before):
            return _BONUS if fields.search(name) else 0.0
    return 0.0
