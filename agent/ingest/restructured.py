"""The outline of reStructuredText: underlined headings, literal blocks, directives, tables."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from agent.ingest.outline import Heading, Lines, Outline, build

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1{2,}[ \t]*")
_ADORNED = re.compile(r"^(?![ \t])(.{1,200})\n([=~^\"'*+#.`:_-])\2{3,}[ \t]*$", re.MULTILINE)
_MARKS = re.compile(r"^\.\. (?:[\w-]+::|_[^\n]+:|\[)|[^:\s]::[ \t]*$|^::[ \t]*$", re.MULTILINE)
_MARKDOWN_MARKS = re.compile(r"^(?:#{1,6}[ \t]+\S|```|~~~\w)", re.MULTILINE)
_DIRECTIVE = re.compile(
    r"\s*\.\. (?:code|code-block|sourcecode|parsed-literal|literalinclude|highlight|math"
    r"|table|list-table|csv-table|productionlist|graphviz|doctest|testcode)::"
)
_GRID = re.compile(r"\s*\+(?:[-=]+\+)+\s*")
_GRID_LINE = re.compile(r"\s*[+|].*[+|]\s*")
_SAMPLE = 65_536
_SIMPLE = re.compile(r"\s*={2,}(?:[ \t]+={2,})+[ \t]*")


def is_restructured(text: str) -> bool:
    """Whether a text is reStructuredText rather than Markdown. Titles underlined with `=` or
    `-` are headings in both, so that a wrong guess costs little.
    """
    sample = text[:_SAMPLE]
    marks = sum(1 for _ in _MARKS.finditer(sample))
    adorned = sum(1 for _ in _ADORNED.finditer(sample))
    markdown = sum(1 for _ in _MARKDOWN_MARKS.finditer(sample))
    return marks + adorned > 2 * markdown and (marks > 0 or adorned > 0)


def outline(text: str) -> Outline:
    lines = Lines(text)
    rows = [lines[index] for index in range(len(lines))]
    blocks = list(_blocks(rows))
    inside = {index for first, after in blocks for index in range(first, after)}
    return build(lines, list(_headings(rows, inside)), blocks)


def _headings(rows: list[str], inside: set[int]) -> Iterator[Heading]:
    """A style of adornment has the level at which it first appears."""
    styles: list[tuple[str, bool]] = []
    index = 0
    while index + 1 < len(rows):
        over = _is_over(rows, index)
        title = index + 1 if over else index
        if index in inside or not _is_title(rows, title, over):
            index += 1
            continue
        style = (rows[title + 1][0], over)
        if style not in styles:
            styles.append(style)
        yield Heading(styles.index(style) + 1, rows[title].strip(), index, title + 2)
        index = title + 2


def _is_over(rows: list[str], index: int) -> bool:
    if index + 2 >= len(rows) or not _ADORNMENT.fullmatch(rows[index]):
        return False
    return rows[index].rstrip() == rows[index + 2].rstrip() and bool(rows[index + 1].strip())


def _is_title(rows: list[str], index: int, over: bool) -> bool:
    title, under = rows[index], rows[index + 1]
    if not title.strip() or not _ADORNMENT.fullmatch(under) or _ADORNMENT.fullmatch(title):
        return False
    if over:
        return True
    alone = index == 0 or not rows[index - 1].strip()
    return alone and not title[0].isspace() and len(under.rstrip()) >= min(4, len(title.rstrip()))


def _blocks(rows: list[str]) -> Iterator[tuple[int, int]]:
    borders = [at for at, row in enumerate(rows) if _SIMPLE.fullmatch(row)]
    # a simple table ends at a border with a blank line below it
    ends = [at for at in borders if not "".join(rows[at + 1 : at + 2]).strip()]
    index = 0
    while index < len(rows):
        after = _block_at(rows, index, ends)
        if after > index:
            yield index, after
        index = max(after, index + 1)


def _block_at(rows: list[str], index: int, table_ends: list[int]) -> int:
    """Where a block that begins here ends; the index itself if none does."""
    row = rows[index]
    if _DIRECTIVE.match(row):
        return _indented(rows, index + 1, _indent(row))
    if index and rows[index - 1].strip() == "" and row.strip():
        opener = _before(rows, index)
        if opener is not None and _indent(row) > _indent(rows[opener]):
            return _indented(rows, index, _indent(rows[opener]))
    if _GRID.fullmatch(row):
        return _while(rows, index, _GRID_LINE)
    if not _SIMPLE.fullmatch(row):
        return index
    end = bisect_right(table_ends, index)
    return table_ends[end] + 1 if end < len(table_ends) else index


def _before(rows: list[str], index: int) -> int | None:
    """The line above the blank ones, if it announces a literal block."""
    above = index - 1
    while above >= 0 and not rows[above].strip():
        above -= 1
    announces = above >= 0 and rows[above].rstrip().endswith("::")
    return above if announces and not rows[above].lstrip().startswith(".. ") else None


def _indented(rows: list[str], index: int, base: int) -> int:
    """The end of the lines indented deeper than `base`, without blank lines at the end."""
    end = index
    while index < len(rows) and (not rows[index].strip() or _indent(rows[index]) > base):
        index += 1
        if rows[index - 1].strip():
            end = index
    return end


def _while(rows: list[str], index: int, pattern: re.Pattern[str]) -> int:
    while index < len(rows) and pattern.fullmatch(rows[index]):
        index += 1
    return index


def _indent(row: str) -> int:
    return len(row) - len(row.lstrip())
