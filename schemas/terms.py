"""The words of a text, as the keyword index and term-based scores compare them.

Whoever changes how words are cut gives the index of knowledge bases another name (ANALYZER in
agent/store/analysis.py): what is indexed already was cut the old way.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from operator import add

from schemas.folding import fold

_CJK = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_RUN = re.compile(rf"([{_CJK}]+)|[^\W{_CJK}]+")
_WORD = re.compile(r"\w+")
_ASCII_RUN = re.compile(r"\w+", re.ASCII)
_FUNCTION_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be by do does for from how i in is it of on or that the this to was"
        " what when where which who why will with",
    )
)


def terms(text: str) -> Iterator[str]:
    """Folded words in order, with repetitions. Chinese, Japanese and Korean runs, which have no
    spaces, become overlapping pairs of characters (the scheme of Lucene's CJKAnalyzer).
    """
    folded = fold(text)
    if folded.isascii():
        yield from _ASCII_RUN.findall(folded)
        return
    for run in _RUN.finditer(folded):
        if run[1] is None:
            yield run[0]
        elif run[1].isalnum():
            yield from _pairs(run[1])
        else:
            # The interpreter's Unicode may not know all characters of these blocks yet.
            for part in _WORD.findall(run[1]):
                yield from _pairs(part)


def telling_terms(text: str) -> tuple[str, ...]:
    """Each term once, without English function words unless nothing else is left."""
    found = tuple(dict.fromkeys(terms(text)))
    telling = tuple(term for term in found if term not in _FUNCTION_WORDS)
    return telling or found


def _pairs(run: str) -> Iterable[str]:
    return map(add, run, run[1:]) if len(run) > 1 else (run,)
