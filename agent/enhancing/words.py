"""Words of a question: those that carry its meaning, and tokens in which values are looked up."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from schemas.folding import fold

MOST_KEYWORDS = 12

_CJK = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_TOKEN = re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+(?:[.\-/&+'’][^\W_{_CJK}]+)*")
_ATOM = re.compile(rf"[{_CJK}]|\d+|[^\W\d_{_CJK}]+")
_HAN_RUN = re.compile(rf"[{_CJK}]+")
_PLAIN = frozenset(
    re.findall(
        r"\w+",
        "a an the this that these those there here it its they them their he she his her i me my"
        " we us our you your who whom whose which what when where why how and or but nor not no"
        " yes if then than as at by for from in into of off on onto out over to under up with"
        " within without about after against along among around because before behind below"
        " between both during each either else ever every except few is are was were be been"
        " being am do does did done doing have has had having can could may might must shall"
        " should will would just only also too very more most much many some any all such same"
        " other another own s t re ve ll d m show list give find get tell look looking search"
        " need want like let please help know see say said according long",
    )
)
_GRAMMAR = re.compile(
    "请问|请|什么|怎么样|怎么|怎样|如何|为什么|为何|哪些|哪个|哪里|哪|多少|多久|几个|几|"
    "是否|是不是|有没有|能不能|可不可以|应该|需要|必须|可以|能否|能|关于|根据|按照|对于|时候|"
    "以及|还有|之前|之后|期间|至少|至多|最多|最少|目前|多长|或者|并且|但是|如果|那么|我们|我|你们|你|他们|他|这个|那个|这些|那些|谁|"
    "先|的|地|得|了|吗|呢|吧|啊|是|在|和|与|及|或|等|有|要|会|做|把|被|对|给|从|到|为|以|就|都|也|里|时|由"
)
_WORDS_WITH_GRAMMAR = re.findall(
    r"\w+",
    "会议 目的 地址 地点 地区 地方 为期 对象 对账 对接 等级 权利 和解 到期 到货 到岗 有效 有限"
    " 要求 要点 要件 是非 在职 在线 与会 从业 以上 以下 以内 以前 以后 从属 里程 先进 优先 首先"
    " 得分 所得 被动 做法 会计 机会 社会 工会 会员 给予 供给 目的地 能力 性能 功能 智能 节能"
    " 几何 就业 就餐 都市 行为 和平 总和 对策 针对 应对 反对 存在 现在 内在 需要量 需求"
    " 时间 小时 同时 及时 实时 按时 准时 工时 时长 时区 时效 临时 理由 自由 由来"
    " 报到 签到 收到 直到 达到 到达 迟到",
)
_KEPT = re.compile("|".join(sorted(_WORDS_WITH_GRAMMAR, key=len, reverse=True)))


@dataclass(frozen=True)
class Token:
    """A word, a number or one CJK character, with its place in the text."""

    key: str
    start: int
    end: int


def tokens(text: str) -> tuple[Token, ...]:
    return tuple(Token(_key(m.group()), m.start(), m.end()) for m in _ATOM.finditer(text))


def keys(text: str) -> tuple[str, ...]:
    """Tokens in the form in which they are compared: folded, without an English plural."""
    return tuple(_key(match.group()) for match in _ATOM.finditer(text))


def is_plain(key: str) -> bool:
    """Whether a word belongs to the grammar of a question."""
    return key in _PLAIN


def keywords(text: str) -> tuple[str, ...]:
    """The content words in their order, once each: English without function words, Chinese cut
    where its grammar stands, with no dictionary.
    """
    found: dict[str, str] = {}
    for word in _content_words(text):
        found.setdefault(fold(word), word)
    return tuple(found.values())[:MOST_KEYWORDS]


def _content_words(text: str) -> Iterator[str]:
    at = 0
    for run in _HAN_RUN.finditer(text):
        yield from _latin(text[at : run.start()])
        yield from _chinese(run.group())
        at = run.end()
    yield from _latin(text[at:])


def _latin(text: str) -> Iterator[str]:
    for match in _TOKEN.finditer(text):
        word = match.group()
        if fold(word) not in _PLAIN and (len(word) > 1 or word.isdigit()):
            yield word


def _chinese(run: str) -> Iterator[str]:
    """Pieces of two characters and more between words of grammar; a word that only holds a
    character of grammar is not cut.
    """
    kept = [match.span() for match in _KEPT.finditer(run)]
    at = 0
    for match in _GRAMMAR.finditer(run):
        inside = any(start < match.end() and match.start() < end for start, end in kept)
        if inside or match.start() < at:
            continue
        yield from _long_enough(run[at : match.start()])
        at = match.end()
    yield from _long_enough(run[at:])


def _long_enough(piece: str) -> Iterator[str]:
    if len(piece) > 1:
        yield piece


def _key(word: str) -> str:
    folded = fold(word)
    if len(folded) < 4 or not folded.isascii() or not folded.endswith("s"):
        return folded
    if folded.endswith("ies") and len(folded) > 4:
        return f"{folded[:-3]}y"
    return folded if folded.endswith(("ss", "us", "is")) else folded[:-1]
