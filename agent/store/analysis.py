"""Text as the keyword index sees it.

Words are cut here and not by the engine, so that Milvus Lite and every server index alike, and
because Lite's jieba analyzer takes 1.4 ms a chunk. Chinese, Japanese and Korean runs become
overlapping pairs of characters (the scheme of Lucene's CJKAnalyzer); the rest are words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from schemas.folding import fold

ANALYZER = "bigram-1"
"""Name of this scheme, kept with each knowledge base."""

INDEXED_BYTES = 65_000
"""How much of a chunk's terms fits into the column (a VARCHAR of 65,535 bytes)."""

_CJK = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
# The first part leaves out what the interpreter's Unicode does not know as a letter yet.
_RUN = re.compile(rf"((?:(?=\w)[{_CJK}])+)|[^\W{_CJK}]+")
_ASCII_RUN = re.compile(r"\w+", re.ASCII)
_STOP = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be by do does for from how i in is it of on or that the this to was"
        " what when where which who why will with",
    )
)


def terms(text: str) -> Iterator[str]:
    """The index terms of a text, in order, with repetitions."""
    folded = fold(text)
    if folded.isascii():
        yield from _ASCII_RUN.findall(folded)
        return
    for run in _RUN.finditer(folded):
        if run[1] is None or len(run[1]) == 1:
            yield run[0]
        else:
            yield from (run[1][i : i + 2] for i in range(len(run[1]) - 1))


def index_text(text: str) -> str:
    """The terms joined by spaces, cut to INDEXED_BYTES."""
    joined = " ".join(terms(text))
    if len(joined.encode()) <= INDEXED_BYTES:
        return joined
    cut = joined.encode()[:INDEXED_BYTES].decode(errors="ignore")
    return cut.rsplit(" ", 1)[0]


def query_text(text: str) -> str:
    """As index_text, each term once, without English function words unless nothing else is left.

    Function words select nothing, but their posting lists are the longest to walk.
    """
    found = list(dict.fromkeys(terms(text)))
    telling = [term for term in found if term not in _STOP]
    return " ".join(telling or found)[:INDEXED_BYTES]
