"""A text is cut into the pieces that are embedded and searched.

Sections under headings come first. One that is too long is cut by langchain's recursive
splitter at paragraphs, lines, sentences and words, Chinese punctuation included, into pieces
of size minus overlap; each then begins up to an overlap earlier, at the start of a sentence or
line. Code and tables stay whole up to twice the size; of longer ones each piece is embedded
with the head of its table, or the line that names the language. All cuts are kept as offsets.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace

from langchain_text_splitters import RecursiveCharacterTextSplitter

from agent.ingest import markdown, restructured
from agent.ingest.loaded import Markup
from agent.ingest.outline import Lines, Outline, Section, Span, build
from schemas.drafts import ChunkDraft

METHOD = "sections-2"
"""Part of every content hash: another way of splitting needs another name."""

_SEPARATORS = [
    "\n\n",
    "\n",
    "。",
    "！",
    "？",
    "；",
    ". ",
    "! ",
    "? ",
    "; ",
    "，",
    "、",
    ", ",
    " ",
    "",
]
_BOUNDARIES = (
    re.compile(r"\n[ \t]*\n\s*|[。！？；]|[.!?;]\s+"),
    re.compile(r"\n"),
    re.compile(r"\s+|[，、,]"),
)
"""Where an overlap may begin, best first."""


_GRID_HEAD = re.compile(r"(?:[+|][^\n]*\n){1,8}?\+[=+]+\+[ \t]*(?:\n|$)")
_PIPE_HEAD = re.compile(r"[^\n|]*\|[^\n]*\n[ \t]*\|?[ \t]*:?-+[^\n]*(?:\n|$)")
_CODE_HEAD = re.compile(r"[ \t]*(?:```|~~~|\.\. code)[^\n]*(?:\n|$)")


def outline(text: str, markup: Markup = Markup.MARKDOWN) -> Outline:
    """The outline of Markdown, or of reStructuredText if it looks like that; a plain text is one
    section, whatever it looks like.
    """
    if markup is Markup.PLAIN:
        return build(Lines(text), (), ())
    if restructured.is_restructured(text):
        return restructured.outline(text)
    return markdown.outline(text)


class Splitter:
    """Cuts texts into chunks of at most `size` characters, code and tables of less than twice
    that; consecutive chunks of a section share at most `overlap`.
    """

    def __init__(self, size: int = 800, overlap: int = 200) -> None:
        self._size = size
        self._overlap = overlap
        self._core = size - overlap
        self._prose = RecursiveCharacterTextSplitter(
            separators=_SEPARATORS,
            keep_separator="end",
            strip_whitespace=False,
            chunk_size=self._core,
            chunk_overlap=0,
        )

    @property
    def method(self) -> str:
        return f"{METHOD}-{self._size}-{self._overlap}"

    def split(
        self,
        text: str,
        outlined: Outline,
        title: str = "",
        *,
        pages: Sequence[int] = (),
        words: Sequence[str] = (),
    ) -> tuple[ChunkDraft, ...]:
        """Chunks in the order of the text; together they cover all of it but white space.

        `pages` are offsets at which pages begin: a chunk gets the number, from 1, of that on
        which it begins, as metadata `page`. `words` are embedded and indexed with every chunk.
        """
        chunks: list[ChunkDraft] = []
        for section in _with_text(text, outlined.sections):
            for span in self._spans(text, section, outlined.blocks):
                repeated = self._repeated(text, span, outlined.blocks)
                chunk = _chunk(text, section, span, len(chunks), (title, repeated, words))
                chunks.append(_paged(chunk, pages))
        return tuple(chunks)

    def _repeated(self, text: str, span: Span, blocks: tuple[Span, ...]) -> str:
        """The head of the code or table within which a span begins."""
        index = bisect_right(blocks, span.start, key=lambda block: block.start) - 1
        if index < 0 or not blocks[index].start < span.start < blocks[index].end:
            return ""
        block = blocks[index]
        head = _head(text, Span(block.start, min(block.end, block.start + self._size)))
        inside = span.start >= block.start + len(head)
        return head.strip("\r\n") if inside and len(head) <= self._size // 2 else ""

    def _spans(self, text: str, section: Section, blocks: tuple[Span, ...]) -> Iterator[Span]:
        whole = _trim(text, Span(section.start, section.end))
        if len(whole) <= self._size:
            yield from [whole] if len(whole) else []
            return
        inside = _inside(blocks, whole)
        for core in self._pack(self._units(text, whole, inside)):
            span = _trim(text, self._begin_earlier(text, core, whole.start, inside))
            if len(_trim(text, core)):
                yield span

    def _units(self, text: str, whole: Span, blocks: list[Span]) -> Iterator[Span]:
        """The smallest pieces, without gaps: prose of at most a core, and whole blocks."""
        at = whole.start
        for block in blocks:
            yield from self._prose_units(text, Span(at, block.start))
            if len(block) < 2 * self._size:
                yield block
            else:
                yield from self._prose_units(text, block)
            at = block.end
        yield from self._prose_units(text, Span(at, whole.end))

    def _prose_units(self, text: str, span: Span) -> Iterator[Span]:
        at = span.start
        for piece in self._prose.split_text(text[span.start : span.end]):
            yield Span(at, at + len(piece))
            at += len(piece)

    def _pack(self, units: Iterator[Span]) -> list[Span]:
        """Neighbours joined up to a core; a small rest joins the last one."""
        packed: list[Span] = []
        for unit in units:
            if packed and unit.end - packed[-1].start <= self._core:
                packed[-1] = Span(packed[-1].start, unit.end)
            else:
                packed.append(unit)
        if len(packed) > 1 and packed[-1].end - packed[-2].start <= self._size:
            last = packed.pop()
            packed[-1] = Span(packed[-1].start, last.end)
        return packed

    def _begin_earlier(self, text: str, core: Span, floor: int, blocks: list[Span]) -> Span:
        earliest = max(floor, core.start - min(self._overlap, self._size - len(core)))
        for block in blocks:
            if block.start < earliest < block.end:
                earliest = block.end
        if earliest >= core.start:
            return core
        if earliest == floor:
            return Span(floor, core.end)
        for boundary in _BOUNDARIES:
            # a boundary may end just where the overlap may begin
            for match in boundary.finditer(text, max(floor, earliest - 2), core.start):
                if earliest <= match.end() < core.start:
                    return Span(match.end(), core.end)
        return Span(earliest, core.end)


def _with_text(text: str, sections: tuple[Section, ...]) -> Iterator[Section]:
    """Sections, where a heading with nothing below it goes with the section that follows."""
    pending: Section | None = None
    for section in sections:
        joined = _join(pending, section) if pending else section
        pending = None if text[section.body : section.end].strip() else joined
        if pending is None:
            yield joined
    if pending is not None:
        yield pending


def _join(empty: Section, section: Section) -> Section:
    below = section.path[: len(empty.path)] == empty.path
    return replace(section, start=empty.start, body=section.body if below else empty.start)


def _chunk(
    text: str,
    section: Section,
    span: Span,
    index: int,
    around: tuple[str, str, Sequence[str]],
) -> ChunkDraft:
    """The embedded text names title and headings once, so it leaves the heading lines out.

    `around` is what it has beside the text: the title, a repeated head, words.
    """
    title, repeated, words = around
    path = section.path[1:] if section.path[:1] == (title,) else section.path
    begin = max(span.start, min(section.body, span.end))
    head = [line for line in (title, " > ".join(path), "; ".join(words), repeated) if line]
    return ChunkDraft(
        index=index,
        text=text[span.start : span.end],
        embed_text="\n".join([*head, text[begin : span.end].strip()]).strip(),
        heading=section.path,
        start=span.start,
        end=span.end,
    )


def _paged(chunk: ChunkDraft, pages: Sequence[int]) -> ChunkDraft:
    if not pages:
        return chunk
    page = max(1, bisect_right(pages, chunk.start))
    return chunk.model_copy(update={"metadata": {**chunk.metadata, "page": page}})


def _head(text: str, block: Span) -> str:
    """The rows of a table down to the line below its header, or the line that opens code."""
    for head in (_CODE_HEAD, _PIPE_HEAD, _GRID_HEAD):
        match = head.match(text, block.start, block.end)
        if match:
            return match.group()
    return ""


def _inside(blocks: tuple[Span, ...], whole: Span) -> list[Span]:
    """The blocks within a section; one that sticks out is cut to it."""
    first = bisect_left(blocks, whole.start, key=lambda block: block.end)
    inside = []
    for block in blocks[first:]:
        if block.start >= whole.end:
            break
        cut = Span(max(block.start, whole.start), min(block.end, whole.end))
        if len(cut):
            inside.append(cut)
    return inside


def _trim(text: str, span: Span) -> Span:
    piece = text[span.start : span.end]
    left = len(piece) - len(piece.lstrip())
    return Span(span.start + left, span.start + max(left, len(piece.rstrip())))
