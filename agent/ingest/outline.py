"""What splitting needs to know of a text: its sections, and the blocks to be kept whole."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

_LINE_END = re.compile(r"\r\n?|\n")
_MAX_HEADING = 300


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading over the lines `first` up to but without `after`; level 1 is the highest."""

    level: int
    text: str
    first: int
    after: int


@dataclass(frozen=True, slots=True)
class Section:
    """Character offsets: `start` of the heading, `body` of what is below it, `end`."""

    path: tuple[str, ...]
    start: int
    body: int
    end: int


@dataclass(frozen=True, slots=True)
class Span:
    """A range of character offsets."""

    start: int
    end: int

    def __len__(self) -> int:
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Outline:
    """Sections cover the text without gaps. `blocks` are code and tables, in order and apart."""

    sections: tuple[Section, ...]
    blocks: tuple[Span, ...]
    headings: tuple[str, ...]


class Lines:
    """The lines of a text and where they are."""

    def __init__(self, text: str) -> None:
        ends = [match.end() for match in _LINE_END.finditer(text)]
        self.starts = [0, *ends]
        if self.starts[-1] != len(text):
            self.starts.append(len(text))
        self.text = text

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, index: int) -> str:
        """A line without its end."""
        return self.text[self.starts[index] : self.starts[index + 1]].rstrip("\r\n")

    def offset(self, index: int) -> int:
        """Where a line begins; the end of the text for lines beyond it."""
        return self.starts[min(index, len(self.starts) - 1)]


def build(lines: Lines, headings: Sequence[Heading], blocks: Iterable[tuple[int, int]]) -> Outline:
    """`blocks` are ranges of lines."""
    usable = [heading for heading in headings if len(heading.text) <= _MAX_HEADING]
    return Outline(
        sections=tuple(_sections(lines, usable)),
        blocks=tuple(_apart(Span(lines.offset(a), lines.offset(b)) for a, b in blocks)),
        headings=tuple(heading.text for heading in usable if heading.text),
    )


def _sections(lines: Lines, headings: Sequence[Heading]) -> list[Section]:
    end = len(lines.text)
    starts = [*(lines.offset(heading.first) for heading in headings), end]
    sections = [Section((), 0, 0, starts[0])]
    above: list[Heading] = []
    for heading, (start, stop) in zip(headings, pairwise(starts), strict=True):
        above = [upper for upper in above if upper.level < heading.level] + [heading]
        path = tuple(upper.text for upper in above if upper.text)
        sections.append(Section(path, start, min(lines.offset(heading.after), stop), stop))
    return [section for section in sections if section.end > section.start]


def _apart(spans: Iterable[Span]) -> list[Span]:
    """Blocks in order; one inside another, or overlapping one before it, is left out."""
    kept: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if len(span) and (not kept or span.start >= kept[-1].end):
            kept.append(span)
    return kept
