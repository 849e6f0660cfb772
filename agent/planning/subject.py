"""What is left to search for once the conditions are taken out of the question."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent.planning.joins import Accepted
from agent.planning.lexicon import field_words
from agent.planning.spans_zh import pieces
from agent.planning.tables import listed
from agent.planning.words import (
    ENTITY_NOUNS,
    FUNCTION_WORDS,
    Token,
    has_cjk,
    keys,
    name_words,
    tokens,
)

_LEAD = re.compile(
    r"(?:\b(?:published|issued|released|created|written|authored|dated|from|since|before|after|"
    r"until|in|by|of|for|on|during|between|over|within|with|without|except|not|the|a|an|and|or|"
    r"at|least|more|less|than|above|below|under|no|any)\s+)+$",
    re.IGNORECASE,
)
_LEAD_ZH = re.compile(
    r"(?:并且|而且|不是|不要|不含|除了|排除|不?(?:低于|高于|超过|少于|多于)|至[少多]|最[多少]|[在于非除且由自从])+\s*$"
)
_TRAIL_ZH = re.compile(
    r"\s*(?:(?:以外|之外|除外|之前|以前|之后|以后|以来|期间)的?|的)+(?=[\u4e00-\u9fff]|\s|$)"
)
_TOPICAL = re.compile(
    r"tag|topic|subject|keyword|theme|area|category|主题|标签|关键词|话题", re.IGNORECASE
)
_SEARCHED = ENTITY_NOUNS | frozenset(listed("one ones doc docs pep thing proposal entry page"))
_SHORT = 4
"""Characters of a Chinese turn that is too short to say what it is about."""
_CLAUSE = re.compile(r"(?<=[,;，；。.!?？！])\s*")


def subject(question: str, accepted: Sequence[Accepted], history: Sequence[str] = ()) -> str:
    """The question without the words of its conditions; all of it where nothing else is left.
    Where it goes on from the turn before it, or is no more than an answer to something asked
    back, it then stands behind that turn, which says what it is about.

    Words that name a topic (tags, subjects) stay: they are a condition and a subject. So do
    those of mere wishes, which nothing else stands for.
    """
    now = sorted(
        (one for one in accepted if one.turn == 0 and one.hard), key=lambda one: -one.start
    )
    behind = " ".join((*history[-1:], question))
    text = question
    for one in now:
        if not (_TOPICAL.search(one.use.field) and _is_list(one)):
            before, after = _LEAD.sub("", text[: one.start]), text[one.end :]
            if has_cjk(text):
                before, after = _LEAD_ZH.sub("", before), _trail(after)
            text = f"{before} {after}"
    if text == question:
        return behind if _is_fragment(question) else question
    named = {word for one in now for word in _name(one.use.field)}
    clauses = [c for c in _CLAUSE.split(text) if _says_something(c, named)]
    trimmed = _trimmed(" ".join(" ".join(clauses).split()), named)
    goes_on = any(one.turn < 0 for one in accepted) or _is_fragment(question)
    return trimmed or (behind if goes_on else question)


def _trail(after: str) -> str:
    found = _TRAIL_ZH.match(after)
    return after[found.end() :] if found else after


def _is_fragment(question: str) -> bool:
    """One or two words: "March", "the first one"."""
    if has_cjk(question):
        return len(question) <= _SHORT
    return sum(token.key not in FUNCTION_WORDS for token in tokens(question)) <= 1


def _is_list(one: Accepted) -> bool:
    return one.use.parts[0].op.value in ("contains", "in")


def _name(field: str) -> tuple[str, ...]:
    words = name_words(field)
    return (*keys(words), *(key for word in field_words(words) for key in keys(word)))


def _is_content(token: Token, named: set[str]) -> bool:
    return not (token.key in FUNCTION_WORDS or token.key in _SEARCHED or token.key in named)


def _says_something(text: str, named: set[str]) -> bool:
    if has_cjk(text):
        return any(True for _ in pieces(text, 0, len(text)))
    return any(_is_content(token, named) for token in tokens(text))


def _trimmed(text: str, named: set[str]) -> str:
    """Without the words of asking before the first word that says something."""
    if has_cjk(text):
        return text.strip(" ,;:，；、")
    first = next((t.start for t in tokens(text) if _is_content(t, named)), 0)
    quoted = first and text[first - 1] in "\"'“‘@#"
    return text[first - 1 if quoted else first :].strip(" ,;:")
