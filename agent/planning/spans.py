"""Spans of a question that may be a value nobody listed: quoted text, names, identifiers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agent.planning.numerals import ENGLISH
from agent.planning.spans_zh import pieces
from agent.planning.tables import listed
from agent.planning.words import CJK, ENTITY_NOUNS, FUNCTION_WORDS, has_cjk, key, preceding

_QUOTED = re.compile(
    r'"(?P<a>[^"\n]{1,200})"|“(?P<b>[^”\n]{1,200})”|「(?P<c>[^」\n]{1,200})」'
    r"|《(?P<d>[^》\n]{1,200})》"
    r"|(?<!\w)['‘](?P<e>[^'’\n]{1,100}(?:['’](?=\w)[^'’\n]{1,100})*)['’](?!\w)"
    r"|`(?P<f>[^`\n]{1,200})`"
)
_MARKED = re.compile(
    r"\b(?:letters?|words?|substring|string|phrase|prefix|suffix)\s+(?:of\s+|the\s+)?"
    r"(?P<text>(?!in\b|that\b|is\b|and\b|count\b|or\b)[\w-]{1,40})",
    re.IGNORECASE,
)
_CHUNK = re.compile(rf"[^\s{CJK}，。？！；：、（）“”「」《》]+")
_CLOCK = re.compile(
    r"(?<!\w)(?:(?:morning|afternoon|evening|night)\s+\d{1,2}(?::\d\d)?(?!\d)|\d{1,2}(?=\s+in\s+the\s+(?:morn|after|even))"
    r"|(?:quarter|half)\s+(?:past|to)\s+\w+|\d{1,2}(?::\d\d)?\s?(?:am|pm|o.?clock)\b|\d{1,2}:\d\d(?![\w:])"
    r"|(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\s?(?:am|pm|o.?clock)\b|noon\b|midnight\b)"
    r"(?:\s+in\s+the\s+(?:morning|afternoon|evening))?",
    re.IGNORECASE,
)
_EDGES = " \t,.;:!?\"“”'‘’()[]，。？！；：、"
_CONNECTORS = frozenset(
    listed("""
    of the & de la le van von der den del di da du - – y
    """)
)
_SYMBOLIC = re.compile(
    r"\\\w|[A-Za-z]+[-–./]?\d[\w\-–./:]*|\d+[A-Z]+\w*|\d[\d.,]*(?:[-–—/:]\d[\d.]*)+|[A-Za-z]{1,6}-\d+\w*|[–—-]"
)
_PAREN = re.compile(r"\s?[(（][^()（）]{1,30}[)）]")
_STATE = re.compile(r",\s[A-Z]{2,3}\b|,\s[A-Z][a-z]+(?=\s*(?:,?\s*please\s*)?[.?!]?\s*$|[.?])")


@dataclass(frozen=True)
class Span:
    """Text of the question with its offsets; `sure` where the writer marked it (quotes),
    `contained` where the wording says that it is part of a longer text.
    """

    start: int
    end: int
    text: str
    sure: bool = False
    contained: bool = False


def find_quoted(text: str) -> tuple[Span, ...]:
    """Quoted texts, without their quotation marks, and texts after "the word"."""
    spans = []
    for found in _QUOTED.finditer(text):
        group = found.lastgroup
        if group is not None and found[group].strip():
            spans.append(Span(found.start(group), found.end(group), found[group], sure=True))
    for found in _MARKED.finditer(text):
        if all(found.end() <= s.start or found.start() >= s.end for s in spans):
            start, end = found.span("text")
            spans.append(Span(start, end, found["text"], sure=True, contained=True))
    return tuple(spans)


def find_symbolic(text: str) -> tuple[Span, ...]:
    """Identifiers and escapes such as 3X5710, T18, 2009-10 or \\x."""
    spans = []
    for found in _CHUNK.finditer(text):
        start, end = _trimmed(text, found.start(), found.end())
        word = text[start:end]
        dashed = word and word in "–—-" and re.search(r"(?:of|is|was)\s+$", text[:start])
        if word and _SYMBOLIC.fullmatch(word) and (word not in "–—-" or dashed):
            spans.append(Span(start, end, word))
    return tuple(spans)


def find_times(text: str) -> tuple[Span, ...]:
    """Times of day."""
    return tuple(Span(m.start(), m.end(), m.group()) for m in _CLOCK.finditer(text))


def find_names(text: str, taken: Sequence[tuple[int, int]]) -> tuple[Span, ...]:
    """Runs of words that are neither taken nor grammar.

    Lower-case connectors may stand inside a run of capitals (Bank of America), lower-case words
    beside one do not belong to it (Anna Schimrigk film); what follows in brackets does.
    """
    spans: list[Span] = []
    run: list[tuple[int, int]] = []
    for start, end in _pieces(text, taken):
        word = text[start:end]
        joined = bool(run) and _is_connected(text, run[-1][1], start)
        if run and not joined:
            _close(text, run, spans)
            run = []
        inside = bool(run) and (
            word == "&" or (word.lower() in _CONNECTORS and text[run[-1][0]].isupper())
        )
        if inside or _is_subject(text, start, word):
            run.append((start, end))
        else:
            _close(text, run, spans)
            run = []
    _close(text, run, spans)
    return tuple(_with_brackets(text, spans))


_ABBREVIATED = re.compile(r"\b(?:[A-Z]|St|Dr|Mr|Mrs|Ms|Mt|Ft|Jr|Sr|No|Prof)\.$")
_JUNIOR = re.compile(r"\s[JS]r\.$", re.IGNORECASE)
_CONNECTED = re.compile(r"\s*(?:[.&'’\-–/]\s*)?|\s*,\s+(?=Jr)")
_PIECE = re.compile(
    rf"[^\W_{CJK}](?:(?:(?!['’]s\b)[\w'’.+/:%#-])*[^\W_{CJK}%+#])?[%+#]?(?:['’]s(?=\s+[A-Z]))?|&"
)
_PLACED = re.compile(r"\b(?:in|to|from|at|around|near)\s+$", re.IGNORECASE)
_MEASURED = re.compile(r"(?:one|two|three|single|round|full|part|half|multi|low|high)-[a-z]+")
"""Compounds that say how much or how, not which: one-way, full-time."""
_UNNAMED = frozenset(listed("tv id ids url urls pdf"))
"""Abbreviations that say what kind of thing something is."""
_HAN = re.compile(rf"[{CJK}A-Za-z0-9·]+")


def _is_connected(text: str, end: int, start: int) -> bool:
    gap = text[end:start]
    if gap.strip() == ".":
        return _ABBREVIATED.search(preceding(text, end + 1)) is not None
    return _CONNECTED.fullmatch(gap) is not None


def _pieces(text: str, taken: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    pieces = [
        (found.start(), found.end())
        for found in _PIECE.finditer(text)
        if not has_cjk(found.group()) and _free(found.start(), found.end(), taken)
    ]
    return sorted([*pieces, *_chinese_pieces(text, taken)])


def _chinese_pieces(text: str, taken: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Stretches of Chinese without what is taken, parted at words of grammar."""
    if not has_cjk(text):
        return []
    found: list[tuple[int, int]] = []
    for stretch in _HAN.finditer(text):
        at = stretch.start()
        for start, end in [*sorted(taken), (stretch.end(), stretch.end())]:
            if not stretch.start() <= start <= stretch.end():
                continue
            if start > at:
                found.extend(pieces(text, at, start))
            at = max(at, end)
    return [(s, e) for s, e in found if has_cjk(text[s:e]) and 2 <= e - s <= 24]


def _free(start: int, end: int, taken: Sequence[tuple[int, int]]) -> bool:
    return all(end <= other_start or start >= other_end for other_start, other_end in taken)


def _is_subject(text: str, start: int, word: str) -> bool:
    if word == "&":
        return False
    plain = re.split(r"['’]", word)[0].lower()
    if _MEASURED.fullmatch(word) or plain in _UNNAMED or (plain in ENGLISH and word.islower()):
        return False
    if plain in FUNCTION_WORDS or key(word) in FUNCTION_WORDS:
        at_start = start == 0 or preceding(text, start).rstrip()[-1:] in ".?!:,"
        return word[0].isupper() and not at_start and plain not in ("i", "a") and "'" not in word
    return True


def _close(text: str, run: list[tuple[int, int]], spans: list[Span]) -> None:
    capitals = [i for i, (start, _) in enumerate(run) if text[start].isupper()]
    if capitals and _starts_sentence(text, *run[capitals[0]]):
        follows = len(capitals) > 1 and capitals[1] == capitals[0] + 1
        capitals = capitals if follows else capitals[1:]
    if capitals:
        run = run[capitals[0] : capitals[-1] + 1]
    while run and text[run[-1][0] : run[-1][1]] in _CONNECTORS:
        run = run[:-1]
    while len(run) > 1 and not capitals and _is_thing(text, run):
        run = run[:-1]
    if len(run) == 1 and not capitals and key(text[run[0][0] : run[0][1]]) in ENTITY_NOUNS:
        run = []
    if run:
        start, end = _trimmed(text, run[0][0], run[-1][1])
        if start < end:
            spans.append(Span(start, end, text[start:end]))


def _is_thing(text: str, run: Sequence[tuple[int, int]]) -> bool:
    """The last word says what is looked for, and is not the end of a place: "in redwood city"."""
    last = key(text[run[-1][0] : run[-1][1]])
    return last in ENTITY_NOUNS and not (last == "city" and _PLACED.search(text[: run[0][0]]))


def _starts_sentence(text: str, start: int, end: int) -> bool:
    """A capital that says nothing: the first word of a sentence, unless it is all capitals."""
    before = preceding(text, start).rstrip()
    first = not before or (before[-1] in ".?!" and not _ABBREVIATED.search(before))
    return first and not text[start:end].isupper()


def _with_brackets(text: str, spans: Sequence[Span]) -> list[Span]:
    grown: list[Span] = []
    for span in spans:
        if grown and span.start < grown[-1].end:
            continue
        more = _PAREN.match(text, span.end) or _STATE.match(text, span.end)
        end = more.end() if more else span.end
        grown.append(Span(span.start, end, text[span.start : end], span.sure, span.contained))
    return grown


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start] in _EDGES:
        start += 1
    while end > start and text[end - 1] in _EDGES and not _closes(text[start:end]):
        end -= 1
    if text[start:end].endswith(("'s", "’s")):
        end -= 2
    if _JUNIOR.search(text, start, end + 1):
        end += 1
    return start, end


def _closes(text: str) -> bool:
    return text.endswith((")", "）")) and ("(" in text or "（" in text)
