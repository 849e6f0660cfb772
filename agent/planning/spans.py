"""Spans of a question that may be a value nobody listed: quoted text, names, identifiers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agent.planning.words import CJK, FUNCTION_WORDS, key

_QUOTED = re.compile(
    r'"(?P<a>[^"\n]{1,200})"|“(?P<b>[^”\n]{1,200})”|「(?P<c>[^」\n]{1,200})」|《(?P<d>[^》\n]{1,200})》'
    r"|(?<!\w)['‘](?P<e>[^'’\n]{1,100}(?:['’](?=\w)[^'’\n]{1,100})*)['’](?!\w)|`(?P<f>[^`\n]{1,200})`"
)
_CHUNK = re.compile(rf"[^\s{CJK}，。？！；：、（）“”「」《》]+|[{CJK}]+")
_EDGES = " \t,.;:!?\"“”'‘’()[]，。？！；：、"
_CONNECTORS = frozenset("of the and & de la le van von der den del di da du - – for in on at to y".split())
_SYMBOLIC = re.compile(r"\\\w|\w*\d\w*[-_/:.]\w*\d?\w*|[A-Za-z]+\d+\w*|\d+[A-Za-z]+\w*|[+\-−]\d+|\d+%")


@dataclass(frozen=True)
class Span:
    """Text of the question with its offsets; `sure` where the writer marked it (quotes)."""

    start: int
    end: int
    text: str
    sure: bool = False


def find_quoted(text: str) -> tuple[Span, ...]:
    """Quoted texts, without their quotation marks."""
    spans = []
    for found in _QUOTED.finditer(text):
        group = found.lastgroup
        if group is not None and found[group].strip():
            spans.append(Span(found.start(group), found.end(group), found[group], sure=True))
    return tuple(spans)


def find_symbolic(text: str) -> tuple[Span, ...]:
    """Identifiers and escapes such as 3X5710, T18 or \\x."""
    spans = []
    for found in _CHUNK.finditer(text):
        start, end = _trimmed(text, found.start(), found.end())
        if start < end and _SYMBOLIC.fullmatch(text[start:end]):
            spans.append(Span(start, end, text[start:end]))
    return tuple(spans)


def find_names(text: str, taken: Sequence[tuple[int, int]]) -> tuple[Span, ...]:
    """Runs of words that are neither taken nor grammar. Lower-case connectors may stand inside
    a run of capitals: Bank of America."""
    spans: list[Span] = []
    run: list[tuple[int, int]] = []
    for start, end in _pieces(text, taken):
        word = text[start:end]
        joins = bool(run) and _CONNECTED.fullmatch(text[run[-1][1] : start]) is not None
        if not joins:
            _close(text, run, spans)
            run = []
        if _is_subject(text, start, word) or (run and word.lower() in _CONNECTORS and _capital(text, run)):
            run.append((start, end))
        else:
            _close(text, run, spans)
            run = []
    _close(text, run, spans)
    return tuple(spans)


_CONNECTED = re.compile(r"\s*(?:[.&'’\-–/]\s*)?|\s*,\s+(?=Jr)")
_PIECE = re.compile(rf"[^\W_{CJK}](?:[\w'’.+/:%#-]*[^\W_{CJK}%+#])?[%+#]?|[{CJK}]+|&")


def _pieces(text: str, taken: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    pieces = []
    for found in _PIECE.finditer(text):
        if all(found.end() <= start or found.start() >= end for start, end in taken):
            pieces.append((found.start(), found.end()))
    return pieces


def _is_subject(text: str, start: int, word: str) -> bool:
    if word == "&":
        return False
    at_start = start == 0 or text[:start].rstrip()[-1:] in ".?!:"
    if key(word) in FUNCTION_WORDS or word.lower() in FUNCTION_WORDS:
        return word[0].isupper() and not at_start and len(word) > 2
    return True


def _capital(text: str, run: Sequence[tuple[int, int]]) -> bool:
    return text[run[-1][0]].isupper() or text[run[0][0]].isupper()


def _close(text: str, run: list[tuple[int, int]], spans: list[Span]) -> None:
    while run and text[run[-1][0] : run[-1][1]].lower() in _CONNECTORS:
        run.pop()
    if run:
        start, end = _trimmed(text, run[0][0], run[-1][1])
        if start < end:
            spans.append(Span(start, end, text[start:end]))


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start] in _EDGES:
        start += 1
    while end > start and text[end - 1] in _EDGES:
        end -= 1
    if text[start:end].endswith(("'s", "’s")):
        end -= 2
    return start, end
