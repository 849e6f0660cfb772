"""Numbers in a question, with their units and the direction that the words around them give."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agent.planning.cues import Direction, number_direction
from agent.planning.numerals import CHINESE_PATTERN, ENGLISH, chinese
from agent.planning.words import preceding

_FIGURE = r"[+\-−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
_SCALE = {"k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6, "billion": 1e9, "bn": 1e9}
_SCALE |= {"千": 1e3, "万": 1e4, "百万": 1e6, "亿": 1e8}
_NUMBER = re.compile(
    rf"(?<![A-Za-z0-9_.\\])(?P<currency>[$€£¥￥]\s?)?(?P<figure>{_FIGURE})"
    r"(?:\s?(?P<scale>thousand|million|billion|bn|百万|千|万|亿)|(?P<short>[kKM])(?!\w))?"
    r"(?P<percent>\s?%)?(?:st|nd|rd|th)?(?![\d:]|[A-Za-z_](?:\w*\d|[A-Z0-9_]))(?!\.\d)"
)
_WORD = re.compile(
    r"(?<![\w-])(?:" + "|".join(ENGLISH) + r")(?!\w|\s+of\b|\s*-?\s*way\b)", re.IGNORECASE
)
_PRONOUN = re.compile(
    r"one\s+(?:that|which|who|where|with|in|at|on|from|by|for|is|are|near|located|of)\b",
    re.IGNORECASE,
)
_ADJECTIVE = re.compile(
    r"\b(?:(?:an?|the|another)\s+[a-z]+|the|this|that|each|every|which|another|no|any|other)\s+$",
    re.IGNORECASE,
)
_CHINESE = re.compile(
    rf"(?!一[个名位家张次条篇份块间])(?<!第){CHINESE_PATTERN}(?=[个名位间张人天日星次条篇份元块层站]|小时|分钟)"
)
_RANGE = re.compile(
    r"\s*(?:元|分|岁|块|米|页|人)?\s*(?:-|–|—|~|～|to|and|through|到|至|和)\s*(?:[$€£¥￥]\s?)?",
    re.IGNORECASE,
)
_BETWEEN = re.compile(
    r"(?:between|from|ranging\s+from|within|介于|在|从)\s*(?:[$€£¥￥]\s?)?$", re.I
)
_AFTER_RANGE = re.compile(r"\s*(?:元|块|分|人|岁|米|公里|%)?(?:之间|间|的范围)")


@dataclass(frozen=True)
class Number:
    """A number as written and as a value; `upper` is the other end of a closed range."""

    start: int
    end: int
    words: str
    value: int | float
    upper: int | float | None = None
    spelled: bool = False
    direction: Direction | None = None


def find_numbers(text: str) -> tuple[Number, ...]:
    """All numbers from left to right, ranges ("from 5 to 9", 100-150元) as one."""
    found = sorted([*_figures(text), *_spelled(text)], key=lambda n: n.start)
    joined: list[Number] = []
    for number in found:
        whole = _joined(text, joined[-1], number) if joined else None
        if whole is not None:
            joined[-1] = whole
        elif not joined or number.start >= joined[-1].end:
            joined.append(number)
    return tuple(joined)


def _figures(text: str) -> list[Number]:
    numbers = []
    for m in _NUMBER.finditer(text):
        value = float(m["figure"].replace(",", "").replace("−", "-"))
        value *= _SCALE.get((m["scale"] or m["short"] or "").lower(), 1)
        numbers.append(_number(text, m.start(), m.end(), _whole(value)))
    return numbers


def _spelled(text: str) -> list[Number]:
    numbers = [
        _number(text, m.start(), m.end(), ENGLISH[m.group().lower()], spelled=True)
        for m in _WORD.finditer(text)
        if not _PRONOUN.match(text, m.start()) and not _pronoun_after(text, m)
    ]
    for m in _CHINESE.finditer(text):
        value = chinese(m.group())
        if value is not None:
            numbers.append(_number(text, m.start(), m.end(), value, spelled=True))
    return numbers


def _pronoun_after(text: str, word: re.Match[str]) -> bool:
    """The one of "an older one", "each one"."""
    return (
        word.group().lower() == "one"
        and _ADJECTIVE.search(preceding(text, word.start())) is not None
    )


def _number(
    text: str, start: int, end: int, value: int | float, *, spelled: bool = False
) -> Number:
    direction = number_direction(text, start, end)
    return Number(start, end, text[start:end], value, spelled=spelled, direction=direction)


def _whole(value: float) -> int | float:
    return int(value) if value.is_integer() else value


def _joined(text: str, first: Number, last: Number) -> Number | None:
    middle = text[first.end : last.start]
    if first.upper is not None or first.direction not in (None, Direction.SINCE):
        return None
    low, high = first.value, abs(last.value) if last.words.startswith(("-", "−")) else last.value
    glued = last.words.startswith(("-", "−")) and first.end == last.start
    if not (glued or _RANGE.fullmatch(middle)) or low >= high:
        return None
    listed = middle.strip().lower() in ("and", "和", "to", "")
    opened = _BETWEEN.search(preceding(text, first.start))
    if listed and not glued and not (opened or _AFTER_RANGE.match(text, last.end)):
        return None
    start = opened.start() if opened else first.start
    return Number(start, last.end, text[start : last.end], low, high, direction=Direction.IN)
