"""Words by which a follow-up says that it stays with the documents of the turn before."""

from __future__ import annotations

import re

_BACK = re.compile(
    r"\b(?:of|among(?:st)?|from|within|out\s+of)\s+(?:those|these|them)\b"
    r"|^\W*(?:and|now|so|ok(?:ay)?)?\W*(?:only|just)\b"
    r"|^\W*(?:and|now|so)?\W*(?:narrow|restrict|limit)\s+(?:it|that|them|this|those)\b"
    r"|其中|这些(?:里|中|当中)|那些(?:里|中|当中)|它们(?:里|中|当中)|这里面|当中|^\W*(?:那)?只(?:要|看)",
    re.IGNORECASE,
)

_SHORT = re.compile(
    r"(?:\b(?:and|or|but|then|now|ok|okay|so|please|what|how|about|in|of|from|for|the|those|ones?|"
    r"documents?|same)\b|那么?|请|呢|吗|的|换成|改成|再看看?|文档|文件|\W)*",
    re.IGNORECASE,
)


def refers_back(question: str) -> bool:
    """True in the clearest cases only: "which of those", "only the final ones", 其中."""
    return _BACK.search(question) is not None


def is_cut_short(question: str, words: str) -> bool:
    """Whether a follow-up says nothing but these words: "and of 2023?", 那2023年的呢."""
    rest = question.replace(words, " ", 1)
    return words in question and _SHORT.fullmatch(rest) is not None
