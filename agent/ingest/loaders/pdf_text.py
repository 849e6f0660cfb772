"""Lines of printed pages become paragraphs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

MARGIN_LINES = 2
_LEAST_PAGES = 4
_REPEATED = 0.6
_FULL_LINE = 0.7
_LONGEST_PAGE_NUMBER = 40
_DIGITS = re.compile(r"[0-9]+")
_PAGE_NUMBER = re.compile(
    r"[^\w]*(?:page|seite|第)?[^\w]*#(?:[^\w]*(?:of|/|页|共)[^\w]*#)?[^\w页]*页?"
)
_BROKEN_WORD = re.compile(r"(?<=\w)[-\u00ad\ufffe\x02]$")
_STARTS = re.compile(
    r"[•‣▪●○◦*·–—-]\s|\(?[0-9]{1,3}[.)]\s|\(?[a-zA-Z]\)\s|[0-9]+(?:\.[0-9]+)+\.?\s|[（(]?[一二三四五六七八九十]+[、.)）]"
    r"|第[一二三四五六七八九十百0-9]+[章节条]"
    r"|(?:abstract|key ?words?|index terms)\b|摘\s*要|关\s*键\s*[词字]",
    re.IGNORECASE,
)
_ENDS = re.compile(r"[.!?:;。！？：；…][\"'”’)\]）]?$")
_WIDE = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\u3000-\u303f]")


def as_text(pages: Sequence[str]) -> tuple[str, tuple[int, ...]]:
    """The text of all pages, with paragraphs a blank line apart, and where each page begins."""
    parts: list[str] = []
    offsets: list[int] = []
    length = 0
    for lines in _without_margins([_lines(page) for page in pages]):
        offsets.append(length)
        text = "\n\n".join(_paragraphs(lines)).replace("\u00ad", "-")
        if text:
            parts.append(text)
            length += len(text) + 2
    whole = "\n\n".join(parts)
    return whole, tuple(min(offset, len(whole)) for offset in offsets)


def _lines(page: str) -> list[str]:
    lines = [" ".join(line.replace("\0", " ").split(" ")).strip() for line in page.splitlines()]
    return [line for line in lines if line]


def _without_margins(pages: list[list[str]]) -> Iterator[list[str]]:
    """Lines that stand at the top or bottom of most pages, numbers aside, are kept once; page
    numbers never.
    """
    counts = Counter(
        place for lines in pages for place in {_place(lines, at) for at in _margin(lines)}
    )
    often = max(_LEAST_PAGES, int(len(pages) * _REPEATED))
    seen: set[tuple[bool, str]] = set()
    for lines in pages:
        dropped: set[int] = set()
        for at in _margin(lines):
            place = _place(lines, at)
            if counts[place] >= often:
                if place in seen or _is_page_number(place[1]):
                    dropped.add(at)
                seen.add(place)
        yield [line for at, line in enumerate(lines) if at not in dropped]


def _is_page_number(place: str) -> bool:
    return len(place) <= _LONGEST_PAGE_NUMBER and _PAGE_NUMBER.fullmatch(place) is not None


def _margin(lines: Sequence[str]) -> list[int]:
    last = len(lines)
    return sorted({*range(min(MARGIN_LINES, last)), *range(max(0, last - MARGIN_LINES), last)})


def _place(lines: Sequence[str], at: int) -> tuple[bool, str]:
    return at < MARGIN_LINES, _DIGITS.sub("#", lines[at]).casefold()


def _paragraphs(lines: Sequence[str]) -> Iterator[str]:
    """A line goes on in the next one if it fills the column or breaks a word."""
    if not lines:
        return
    widths = sorted(_width(line) for line in lines)
    full = widths[-1 - len(widths) // 5] * _FULL_LINE
    paragraph = lines[0]
    for before, line in pairwise(lines):
        if _BROKEN_WORD.search(before) and line[0].islower():
            paragraph = paragraph[:-1] + line
        elif _goes_on(before, line, full):
            paragraph = _join(paragraph, line)
        else:
            yield paragraph
            paragraph = line
    yield paragraph


def _goes_on(before: str, line: str, full: float) -> bool:
    if _STARTS.match(line) or _width(before) < full:
        return False
    return not (_ENDS.search(before) and _width(before) < full / _FULL_LINE * 0.9)


def _join(paragraph: str, line: str) -> str:
    wide = _WIDE.match(paragraph[-1]) and _WIDE.match(line[0])
    return f"{paragraph}{line}" if wide else f"{paragraph} {line}"


def _width(line: str) -> int:
    """In columns of a terminal: Chinese letters are twice as wide."""
    return len(line) + len(_WIDE.findall(line))
