"""Which text fields hold prose, such as titles and descriptions, rather than values to sort by."""

from __future__ import annotations

import re

from agent.planning.words import has_cjk, name_words
from schemas.collection import Field, FieldType

FREE_TEXT_TOKENS = 3.4
_MANY = 20
_SOME = 3
_SAMPLE = 50
_CJK_PER_WORD = 4
_TITLE = re.compile(
    r"(?:^|\b)(?:title|headline|subject\s+line|caption)$|标题|题名|题目", re.IGNORECASE
)
_PROSE = re.compile(
    r"(?:^|\b)(?:description|content|body|text|summary|abstract|excerpt|remarks?|notes?|comments?|details?)$"
    r"|内容|正文|全文|摘要|概要|简介|描述|说明|备注|详情",
    re.IGNORECASE,
)


def is_prose(field: Field) -> bool:
    """Whether the name says that the field holds running text, and nearly every document has one
    of its own. A question whose words stand in it asks for it, and does not filter by it.
    """
    return _is_text(field) and _PROSE.search(name_words(field.name)) is not None and _is_own(field)


def is_free_text(field: Field) -> bool:
    """Whether the values are texts such as titles, which a question hardly names in part: many
    long ones, or in a small collection such as no two documents share.
    """
    if not _is_text(field):
        return False
    if len(field.values) >= _MANY:
        return _length(field) >= FREE_TEXT_TOKENS
    named = _TITLE.search(name_words(field.name)) or _PROSE.search(name_words(field.name))
    return _is_own(field) and (named is not None or _length(field) >= FREE_TEXT_TOKENS)


def _is_text(field: Field) -> bool:
    return field.type is FieldType.STRING and bool(field.values)


def _is_own(field: Field) -> bool:
    """Whether every document was counted to have a value that no other has."""
    profile = field.profile
    if profile is None or profile.distinct is None:
        return False
    present = profile.rows - profile.missing
    return present >= _SOME and profile.distinct >= present


def _length(field: Field) -> float:
    """The mean number of words of some values; four Chinese characters count as one."""
    sample = [str(value) for value in field.values[:: max(1, len(field.values) // _SAMPLE)]]
    counts = [
        len(text) / _CJK_PER_WORD if has_cjk(text) else len(re.findall(r"\w+", text))
        for text in sample
    ]
    return sum(counts) / len(counts)
