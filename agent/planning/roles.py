"""What a preposition before a name says of the field: places after "in", people after "by"."""

from __future__ import annotations

import re

from agent.planning.words import ENTITY_NOUNS, key, name_words
from schemas.collection import Field
from schemas.mentions import Choice

_BONUS = 0.4
_LESS = 0.05
_AGAINST = 0.015
_LOOSE = re.compile(r"location|place|site|office|station|airport|terminal", re.IGNORECASE)
_LOOSER = re.compile(r"address|name|地址", re.IGNORECASE)
_PLACES = (
    r"city|town|country|nation|state|province|county|region|district|area|location|place|venue|"
    r"area|territory|address|site|campus|office|城市|国家|地区|区域|地点|地址"
)
_PEOPLE = (
    r"author|artist|writer|written|director|directed|actor|starring|cast|singer|composer|creator|"
    r"player|owner|reviewer|editor|performer|producer|designer|by|person|作者|导演|主演|演员|歌手"
)
_ORIGINS = r"from|origin|source|departure|pickup|start|outlet|publisher|country|nationality|出发地?"
_GOALS = r"to|destination|dest|arrival|dropoff|goal|目的地?"
_TITLES = r"name|title|名"
_ROLES = tuple(
    (
        re.compile(rf"(?:{words})\s*(?:the\s+)?$", re.IGNORECASE),
        re.compile(rf"\b(?:{fields})\b|(?:{fields})(?=[A-Z_ ]|$)", re.IGNORECASE),
    )
    for words, fields in (
        (r"\b(?:by|starring|featuring|with)|由|主演", _PEOPLE),
        (r"\b(?:from|leaving|departing|out\s+of)|从", _ORIGINS + "|" + _PLACES),
        (r"\b(?:to|towards|for|into|(?:arriv|land)(?:es?|ing|s)?\s+(?:at|in))|到|去|往", _GOALS),
        (r"\b(?:in|at|around|near|within|inside|throughout)|在|位于", _PLACES),
        (r"\b(?:named|called|titled)|名叫|叫做|名为", _TITLES),
    )
)


_TRAVEL = re.compile(
    r"\b(?:go(?:ing)?|travel\w*|trip|vacation|fly\w*|flights?|driv\w*|mov\w*|bus|train|tickets?|"
    r"head\w*|way|rides?|return\w*)\s+(?:\w+\s+)?(?:to|into|towards)\s+(?:the\s+)?$|[到去]$",
    re.IGNORECASE,
)
_PLACE = re.compile(rf"\b(?:{_PLACES})\b", re.IGNORECASE)
_ORIGIN = re.compile(r"\b(?:from|origin|source|departure|pickup|start)|出发", re.IGNORECASE)
_DISHES = re.compile(r"菜|美食|dish|food|menu", re.IGNORECASE)
_EATEN = re.compile(r"(?:吃到?|品?尝|喝|点|有|做|菜里有|eat|serv(?:es|ing))\s*$", re.IGNORECASE)
_SERVED = re.compile(r"^\s*(?:这|那)?(?:道|个|俩|些)?菜")
_ABOUT = re.compile(
    r"^\s*(?:的|这个|这家)*(?:景点|酒店|餐馆|餐厅|公园)?(?:的|它|他家)*"
    r"(?:电话|地址|评分|门票|营业时间|开放时间|周边|附近|人均|价格|票价|位置|可以玩|可以游玩|类型|是什么|怎么走|在哪)"
)
_TITLED = re.compile(r"name|title|名", re.IGNORECASE)
_WRITES = re.compile(
    r"\s+(?:(?:has|have|had|did|does|do|not|ever|never|also|co-?)\s+)*(?:wr(?:ite|ites|ote|itten)|"
    r"publish(?:es|ed)?|author(?:s|ed)?|edit(?:s|ed)?|paint(?:s|ed)?|compos(?:e|es|ed)|direct(?:s|ed)?)\b",
    re.IGNORECASE,
)
_AUTHORS = re.compile(
    r"author|writer|editor|artist|painter|composer|director|creator|作者|编辑|导演", re.IGNORECASE
)
_KINDS = re.compile(
    r"\b(?:sub)?(?:category|genre|type|cuisine|style|kind|theme|topics?|subjects?|tags?|"
    r"key(?:words?|phrases?))\b|菜系|类型|类别|风格|流派|主题|标签|关键词",
    re.IGNORECASE,
)
_LIKED = re.compile(
    r"\b(?:serv(?:es|ed|ing)|likes?|love|prefer|into|mood\s+for|interested\s+in|enjoy)\s+"
    r"(?:some\s+|an?\s+)?$",
    re.IGNORECASE,
)
_NOUN = re.compile(r"\s+(?P<noun>[a-z]+)\b")
_NAMED = re.compile(r"[A-Z][\w.'’-]*(?:\s+[A-Z][\w.'’-]*)+")
_CREDITED = re.compile(rf"\b(?:{_PEOPLE})s?\b", re.IGNORECASE)
_KIND = 0.3
_NEARBY = re.compile(r"周边|附近|\bnear", re.IGNORECASE)
_CLOSE = re.compile(
    r"(?:附近|周边|靠近|旁边|near(?:by)?|close\s+to)(?:有|的是)?\s*$", re.IGNORECASE
)


def role_bonus(text: str, start: int, end: int, field: Field) -> float:
    """How much the words beside a name speak for a field: above 0 for, below 0 against it."""
    before, after = text[max(0, start - 24) : start], text[end : end + 16]
    name = name_words(field.name)
    if _NEARBY.search(name):
        return _BONUS if _CLOSE.search(before) else -_AGAINST
    if _ABOUT.match(after) and _TITLED.search(name):
        return _BONUS
    if is_maker(text, end) and _AUTHORS.search(name):
        return _BONUS
    if before_noun(text, end) and _NAMED.fullmatch(text[start:end]) and _CREDITED.search(name):
        return _BONUS
    if _KINDS.search(name) and (_LIKED.search(before) or before_noun(text, end)):
        return _KIND
    if _EATEN.search(before) or _SERVED.match(after):
        return _BONUS if _DISHES.search(name) else 0.0
    for words, fields in _ROLES:
        if words.search(before):
            if not fields.search(name) and not (_TRAVEL.search(before) and _is_place(name)):
                return 0.0
            looser = 2 * _LESS if _LOOSER.search(name) else 0.0
            return _BONUS - (looser or (_LESS if _LOOSE.search(name) else 0.0))
    return 0.0


def is_maker(text: str, end: int) -> bool:
    """Whether a verb of writing or making follows: "that Chris Dyer did not write"."""
    return _WRITES.match(text, end) is not None


def _is_place(name: str) -> bool:
    """Where a journey could go; the place that it starts from is none."""
    return _PLACE.search(name) is not None and _ORIGIN.search(name) is None


def is_kind(name: str) -> bool:
    """Whether a field's name, as words, is about what kind of thing something is."""
    return _KINDS.search(name) is not None


def before_noun(text: str, end: int) -> bool:
    """Right before what is looked for: "Cantonese restaurants", "country songs"."""
    noun = _NOUN.match(text, end)
    return noun is not None and key(noun["noun"]) in ENTITY_NOUNS


_BEGINS = re.compile(
    r"(?:^|[_ ])(?:start|begin|from|pick\s?up|pickup|departure|depart|outbound|check\s?in|"
    r"checkin|open|valid\s?from|since)|开始|出发|入住|取车|起始",
    re.IGNORECASE,
)
_ENDS = re.compile(
    r"(?:^|[_ ])(?:end|to|until|drop\s?off|dropoff|return|inbound|check\s?out|checkout|"
    r"expir\w*|due|valid\s?to|close)|结束|返回|离店|退房|还车|截止|到期",
    re.IGNORECASE,
)
_ENDING = re.compile(
    r"\b(?:till?|until|return\w*|back|drop\w*(?:\s+\w+)?\s+off|ends?|ending|through|"
    r"check\w*\s+out|coming\s+back)\b[^,.;!?]{0,24}$|\bto\s+$|(?:到|至|回来?|返回|离店|退房|还车)[^，。！？]{0,6}$",
    re.IGNORECASE,
)
_STARTING = re.compile(
    r"\b(?:from|since|starting|beginning|pick\w*(?:\s+\w+)?\s+up|leav\w+|depart\w*)\b[^,.;!?]{0,16}$"
    r"|从[^，。！？]{0,4}$",
    re.IGNORECASE,
)
_PAIRED = 0.2
_BIRTH = re.compile(r"birth|出生|生日", re.IGNORECASE)
_BORN = re.compile(r"\bborn\b|birth|\bage|old|young|出生|生日|岁", re.IGNORECASE)


def period_bonus(text: str, start: int, field: Field) -> float:
    """Of two fields for a beginning and an end, which one a day belongs to: days are beginnings
    unless the words before them speak of an end ("until", "return on", 到).
    """
    name = name_words(field.name)
    if _BIRTH.search(name):
        return 0.0 if _BORN.search(text) else -_PAIRED
    ending = _ENDING.search(text[max(0, start - 40) : start]) is not None
    if _ENDS.search(name):
        return _PAIRED if ending else 0.0
    return _PAIRED if _BEGINS.search(name) and not ending else 0.0


def paired(text: str, start: int, choices: tuple[Choice, ...]) -> tuple[Choice, ...]:
    """Without the beginnings where the words before a day speak of an end ("until"), and without
    the ends where they speak of a beginning ("from").
    """
    before = text[max(0, start - 40) : start]
    unfit = _BEGINS if _ENDING.search(before) else _ENDS if _STARTING.search(before) else None
    if unfit is None:
        return choices
    fit = tuple(one for one in choices if not unfit.search(name_words(one.field)))
    other = _ENDS if unfit is _BEGINS else _BEGINS
    return fit if any(other.search(name_words(one.field)) for one in fit) else choices
