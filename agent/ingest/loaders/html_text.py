"""All visible text of an HTML tree, with headings, lists and tables in Markdown.

Linear in the size of the tree, however deep it is.
"""

from __future__ import annotations

import re

from lxml import etree

_HIDDEN_TAGS = frozenset(
    {"script", "style", "template", "noscript", "head", "iframe", "object", "svg", "canvas"}
)
NAVIGATION = frozenset({"nav", "form", "button", "select"})
BESIDE = NAVIGATION | {"footer", "header", "aside"}
"""What stands beside the article of a page, or around it."""

_PERMALINKS = frozenset({"¶", "#", "§", "🔗"})
_BLOCKS = frozenset(
    {"address", "article", "aside", "blockquote", "body", "caption", "dd", "details", "div"}
    | {"dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "header", "hr", "html"}
    | {"li", "main", "nav", "ol", "p", "pre", "section", "summary", "table", "tbody", "td"}
    | {"tfoot", "th", "thead", "tr", "ul", "h1", "h2", "h3", "h4", "h5", "h6"}
)
_HEADING = re.compile(r"h([1-6])")
_INVISIBLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_LONGEST_CELL = 500
_SPACE = re.compile(r"\s+")


def is_hidden(element: etree._Element) -> bool:
    """Whether a browser would not show it, or it only leads to its own place."""
    if not isinstance(element.tag, str):
        return True  # comments and processing instructions
    if element.tag in _HIDDEN_TAGS or element.get("hidden") is not None:
        return True
    if element.tag == "a" and not len(element) and (element.text or "").strip() in _PERMALINKS:
        return True
    if element.get("aria-hidden", "").strip().lower() == "true":
        return True
    return _INVISIBLE.search(element.get("style", "")) is not None


def drop_hidden(root: etree._Element) -> None:
    """Takes everything out of the tree that is not shown, but not the text behind it."""
    for element in [one for one in root.iterdescendants() if is_hidden(one)]:
        parent = element.getparent()
        if parent is None or element.tag == "head":
            continue
        tail, before = element.tail or "", element.getprevious()
        if before is None:
            parent.text = (parent.text or "") + tail
        else:
            before.tail = (before.tail or "") + tail
        element.tail = None
        parent.remove(element)


def mark_code(root: etree._Element) -> list[str]:
    """Makes every preformatted text plain code, as article extractors know it; the first line
    of each.
    """
    first: list[str] = []
    for element in list(root.iter("pre")):
        text = "".join(element.itertext()).strip("\n")
        tail = element.tail
        element.clear()
        element.tail = tail
        etree.SubElement(element, "code").text = text
        first.extend(line.strip() for line in text.split("\n")[:1] if line.strip())
    return first


def visible_text(root: etree._Element, without: frozenset[str] = frozenset()) -> str:
    """All of it but what is in elements with the tags in `without`."""
    writer = _Writer()
    skipped: etree._Element | None = None
    preformatted = 0
    for event, element in etree.iterwalk(root, events=("start", "end", "comment", "pi")):
        if event == "start" and skipped is None:
            if is_hidden(element) or element.tag in without:
                skipped = element
                continue
            preformatted += element.tag == "pre"
            writer.open(element.tag)
            writer.write(element.text, verbatim=preformatted > 0)
        elif event == "end" and skipped is None:
            writer.close(element.tag)
            preformatted -= element.tag == "pre"
        if event == "start" or (skipped is not None and element is not skipped):
            continue
        skipped = None
        if element is not root:
            writer.write(element.tail, verbatim=preformatted > 0)
    return writer.text()


class _Writer:
    """Collects blocks; each is a paragraph, a row of cells, or a table."""

    def __init__(self) -> None:
        self._blocks: list[str] = []
        self._prefix = ""
        self._parts: list[str] = []
        self._table: list[list[str]] | None = None
        self._row: list[str] | None = None

    def open(self, tag: str) -> None:
        if tag in _BLOCKS:
            self._flush()
        if match := _HEADING.fullmatch(tag):
            self._prefix = f"{'#' * int(match[1])} "
        match tag:
            case "br":
                self._parts.append("\n")
            case "li":
                self._prefix = "- "
            case "pre":
                self._parts.append("```\n")
            case "table":
                self._spill()
                self._table = []
            case "tr" if self._table is not None:
                self._row = []
            case "td" | "th" if self._row is not None:
                self._row.append("")

    def close(self, tag: str) -> None:
        if tag == "pre":
            code = "".join(self._parts).rstrip("\n")
            self._parts = []
            self._put(f"{code}\n```")
        if tag in _BLOCKS:
            self._flush()
        if tag == "tr" and self._table is not None and self._row:
            self._table.append(self._row)
            self._row = None
        if tag == "table":
            self._tabulate()

    def write(self, text: str | None, *, verbatim: bool) -> None:
        if text:
            self._parts.append(text if verbatim else _SPACE.sub(" ", text))

    def text(self) -> str:
        self._flush()
        self._spill()
        return "\n\n".join(self._blocks)

    def _flush(self) -> None:
        lines = [line.strip() for line in "".join(self._parts).split("\n")]
        block = "\n".join(line for line in lines if line)
        self._parts = []
        if block:
            if self._prefix.startswith("#"):
                block = block.replace("\n", " ")
            self._put(self._prefix + block)
            self._prefix = ""

    def _put(self, block: str) -> None:
        if self._row:
            self._row[-1] = f"{self._row[-1]}\n{block}".strip()
        else:
            self._blocks.append(block)

    def _tabulate(self) -> None:
        table = self._table or []
        widest = max(map(len, table), default=0)
        longest = max((len(cell) for row in table for cell in row), default=0)
        if widest < 2 or longest > _LONGEST_CELL:
            self._spill()  # a table that only places things on the page
            return
        rows = [
            f"| {' | '.join(' '.join(cell.replace('|', ' ').split()) for cell in row)} |"
            for row in table
        ]
        rows.insert(1, f"|{' --- |' * len(table[0])}")
        self._blocks.append("\n".join(rows))
        self._table = self._row = None

    def _spill(self) -> None:
        cells = [cell for row in (*(self._table or []), self._row or []) for cell in row]
        self._blocks.extend(cell for cell in cells if cell)
        self._table = self._row = None
