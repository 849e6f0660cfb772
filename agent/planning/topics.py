"""Which kind of thing a turn asks for, so that a talk that turns to another kind starts afresh.

A talk about hotels that goes on with "now find me a restaurant" has no use for the hotel's
price. Only kinds of things that nobody mixes in one search stand here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from agent.planning.tables import listed
from agent.planning.words import name_words, preceding
from schemas.collection import Field

_KINDS = (
    listed("hotel hotels hostel motel accommodation lodging 酒店 宾馆 旅馆 民宿 住宿 住处"),
    listed("restaurant restaurants diner eatery cafe 餐馆 餐厅 饭店 饭馆 吃饭 用餐 小吃店"),
    listed("attraction attractions museum park sights sightseeing 景点 景区 公园 博物馆 游玩"),
    listed("flight flights airline 航班 飞机票 机票"),
    listed("train trains railway 火车 列车 动车票 火车票 车次"),
    listed("taxi cab 出租车 打车"),
    listed("bus buses coach 公交 大巴"),
    listed("movie movies film films cinema 电影 影片"),
    listed("sitcom 电视剧 剧集 连续剧"),
    listed("song songs album 歌曲 专辑 音乐"),
    listed("doctor doctors dentist therapist hospital clinic 医院 医生 诊所"),
    listed("apartment apartments house houses flat 公寓 房子 租房"),
    listed("laptop laptops computer computers 电脑 笔记本"),
    listed("car cars 汽车 轿车 租车"),
    listed("course courses tutor 课程 辅导班 家教"),
    listed("salon stylist hairdresser 理发店 美发"),
    listed("weather forecast 天气预报"),
    listed("event events concert concerts 演唱会 音乐会"),
)
_NEARBY = re.compile(
    r"(?:周边|周围|附近|旁边|near(?:by)?|around|close\s+to|next\s+to)[^,.;，。；！？!?]{0,12}$",
    re.IGNORECASE,
)
_WANTED = re.compile(
    r"\b(?:find|search|look(?:ing)?\s+for|recommend|suggest|book|reserve|get|need|want|like|show|"
    r"where\s+can)\b|找|推荐|介绍|安排|预[订定]|订|想|要|去|吃|住|看|玩|有没有",
    re.IGNORECASE,
)
_WORD = {word: number for number, kind in enumerate(_KINDS) for word in kind}
_NOUN = re.compile(
    "|".join(
        rf"\b{re.escape(word)}\b" if word.isascii() else re.escape(word)
        for word in sorted(_WORD, key=len, reverse=True)
    ),
    re.IGNORECASE,
)


def topic(text: str, is_value: Callable[[str], bool], *, asked: bool = True) -> int | None:
    """The kind that a turn is about, or with `asked` the one that it wants to have. What it names
    only as nearby, and what is a value of the collection in hand, is none.
    """
    if asked and _WANTED.search(text) is None:
        return None
    found = [
        _WORD[match.group().lower()]
        for match in _NOUN.finditer(text)
        if not is_value(match.group()) and not _NEARBY.search(preceding(text, match.start()))
    ]
    return found[-1] if found else None


def kind_of(word: str) -> int | None:
    """The kind that a noun names, in any case or number."""
    return _WORD.get(word.lower())


def only_kind(fields: Sequence[Field]) -> int | None:
    """The one kind that fields are about, by their names and descriptions; None where they are
    about none or several.
    """
    kinds = {
        topic(text, lambda _: False, asked=False)
        for field in fields
        for text in (name_words(field.name), field.description)
    } - {None}
    return kinds.pop() if len(kinds) == 1 else None


def still_meant(
    history: Sequence[str],
    question: str,
    is_value: Callable[[str], bool],
    own: int | None = None,
) -> tuple[bool, ...]:
    """For each earlier turn, whether its conditions may still hold for the question. `own` is
    the one kind that the collection is about: to it the talk comes back by itself after a turn
    about another kind.
    """
    current: int | None = None
    topics: list[int | None] = []
    for turn in history:
        found = topic(turn, is_value, asked=False)
        current = current if found is None else found
        topics.append(current)
    now = topic(question, is_value)
    if now is None:
        now = current if own is None else own
    return tuple(one is None or one == now for one in topics)
