"""What a question is about, apart from its conditions and the words of asking."""

from __future__ import annotations

import re

from graph.ports import Wanted
from schemas.filters import leaves
from schemas.folding import fold
from schemas.hits import Passage
from schemas.terms import terms

_ASKING_WORDS = """
a about all also an and any are as at be been before between but by can could did do does each
every everything fewer find for from get give had has have how i if in into is it its less list
many may me more most much my no not of on only or our other over own owned owns please publish
published publishes say says show since tell than that the their them there these they this
those to under us was we were what when where which while who whose why will with within without
would written you your document documents file files record records entry entries item items
passage passages page pages paper papers article articles title titles titled tag tags tagged
author authors owner version department category type kind count number total day days week
weeks month months quarter year years last past recent recently latest newest today yesterday
after until first second half january february march april june july august september october
november december
"""
_ASKING = frozenset(_ASKING_WORDS.split())

_ASKING_ZH = re.compile(
    "^请|什么时候|为什么|什么|怎么样|怎么|怎样|如何|哪些|哪个|哪里|是多少|多少|谁|请问|是否|是不是"
    "|有没有|有哪|可以|需要|应该|告诉|列出|查找|显示|所有|全部|关于|文档|文件|资料|发布|负责|标签"
    "|标题|部门|作者|去年|今年|上个月|本月|最近|以前|之前|以后|之后|以来"
    "|的|了|吗|呢|吧|和|与|或|我们|我|你"
)
"""Single characters only where they are seldom part of a word: words that are cut are lost."""

_ENDINGS = ("ies", "ing", "es", "ed", "s")
_DATE_NUMBER = re.compile(r"(?:19|20)\d\d")


def subject_of(wanted: Wanted) -> frozenset[str]:
    """The content words searched for, in the form in which they are compared; empty for a
    question that only names conditions, such as "all documents of HR".
    """
    text = _ASKING_ZH.sub(" ", fold(wanted.query))
    meant = {_stem(term) for value in _values(wanted) for term in terms(value)}
    return frozenset(
        stem
        for term in terms(text)
        if term not in _ASKING
        and not _DATE_NUMBER.fullmatch(term)
        and len(term) > 1
        and (stem := _stem(term)) not in meant
    )


def confidence(subject: frozenset[str], entities: tuple[str, ...], passage: Passage) -> float:
    """The share of the subject's words and of the question's entities that stand in the passage,
    its title or its headings, in 0..1; 0 where there is neither.
    """
    total = len(subject) + len(entities)
    if not total:
        return 0.0
    text = fold("\n".join((passage.title, *passage.heading, passage.text)))
    found = {_stem(term) for term in terms(text)}
    named = sum(fold(entity) in text for entity in entities)
    return (len(subject & found) + named) / total


def _values(wanted: Wanted) -> list[str]:
    """What conditions already make sure of, as written."""
    found: list[str] = []
    for leaf in leaves(wanted.filter):
        items = leaf.value if isinstance(leaf.value, tuple) else (leaf.value,)
        found += [str(item) for item in items if item is not None]
    return found


def _stem(term: str) -> str:
    """An English word without the commonest endings: policies and policy, resetting and reset."""
    if len(term) < 4 or not term.isascii() or not term.isalpha():
        return term
    ending = next((e for e in _ENDINGS if term.endswith(e) and len(term) - len(e) >= 3), "")
    stem = term.removesuffix(ending).removesuffix("e").removesuffix("y")
    return stem[:-1] if stem[-1:] == stem[-2:-1] else stem
