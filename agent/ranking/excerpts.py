"""The part of a text around what was asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from schemas.hits import Span
from schemas.terms import terms

Measure = Callable[[str], int]
"""The size of a text, which never shrinks as the text grows."""

_END = re.compile(r"""[.!?]+["'”’)\]]*(?=\s)|[。！？；]+[”’」』）]*|\n+""")


def excerpt_span(text: str, wanted: Sequence[str], limit: int, measure: Measure) -> Span | None:
    """Whole sentences around the one with most of the wanted terms, the first one with that many,
    of a size of at most `limit`. A sentence that is larger is cut between words; None where not
    even a word fits.
    """
    sentences = _sentences(text)
    if not sentences:
        return None
    asked = frozenset(wanted)
    hits = [len(asked & set(terms(text[begin:end]))) for begin, end in sentences]
    best = hits.index(max(hits))
    if measure(_piece(text, sentences[best])) > limit:
        return _cut(text, sentences[best], limit, measure)
    first = last = best
    grown = True
    while grown:
        grown = False
        for step in (1, -1):
            begin, end = (first, last + 1) if step > 0 else (first - 1, last)
            if begin < 0 or end >= len(sentences):
                continue
            if measure(text[sentences[begin][0] : sentences[end][1]]) <= limit:
                first, last, grown = begin, end, True
    return _trimmed(text, (sentences[first][0], sentences[last][1]))


def _sentences(text: str) -> list[Span]:
    ends = [found.end() for found in _END.finditer(text)]
    spans = zip([0, *ends], [*ends, len(text)], strict=True)
    return [_trimmed(text, span) for span in spans if text[slice(*span)].strip()]


def _cut(text: str, sentence: Span, limit: int, measure: Measure) -> Span | None:
    """As much of the beginning of a sentence as fits, up to the last white space in it."""
    begin, end = sentence
    low, high = begin, end
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if measure(text[begin:middle]) <= limit else (low, middle - 1)
    if low == begin:
        return None
    space = max(text.rfind(" ", begin, low + 1), text.rfind("\n", begin, low + 1))
    if low < end and text[low - 1].isascii() and space > begin:
        low = space
    return _trimmed(text, (begin, low))


def _piece(text: str, span: Span) -> str:
    return text[slice(*span)]


def _trimmed(text: str, span: Span) -> Span:
    begin, end = span
    piece = text[begin:end]
    return begin + len(piece) - len(piece.lstrip()), begin + len(piece.rstrip())
