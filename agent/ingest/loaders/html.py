"""HTML: the text of the article; what the page says of itself becomes fields."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, BinaryIO

from agent.ingest.decoding import guess_note
from agent.ingest.loaded import Loaded, Unreadable
from agent.ingest.reading import Reading
from agent.ingest.written import Note
from schemas.errors import IngestError

if TYPE_CHECKING:
    from lxml import etree

LARGEST_ARTICLE = 1_000_000
"""Characters of a page up to which the article is sought; of a larger one all text is taken."""

_LEAST_SHARE = 0.5
_MOST_ELEMENTS = 20_000
_HEADING = re.compile(r"^#{1,6} \S.*$", re.MULTILINE)
_START = re.compile(
    rb"^(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->).)*-->\s*)*<(?:!doctype\s+html|html)\b",
    re.IGNORECASE | re.DOTALL,
)


class HtmlLoader:
    """A file is one document. Text that a browser would not show is left out."""

    name = "html"
    suffixes = frozenset({".html", ".htm", ".xhtml"})

    def claims(self, head: bytes) -> bool:
        return _START.match(head) is not None

    def divides(self, path: PurePosixPath, reading: Reading) -> bool:
        return False

    def load(self, file: BinaryIO, reading: Reading) -> Iterator[Loaded | Unreadable]:
        # lxml is slow to import
        from agent.ingest.loaders.html_head import decode_page, page_fields  # noqa: PLC0415 - lxml
        from agent.ingest.loaders.html_text import drop_hidden  # noqa: PLC0415 - lxml

        decoded = decode_page(file.read(), reading.encoding)
        root = _parse(decoded.text)
        fields, doubtful = page_fields(root)
        drop_hidden(root)
        text = _article(root, len(decoded.text))
        if not text.strip():
            raise IngestError("the page has no visible text")
        notes = (Note(guess_note(decoded.encoding)),) if decoded.guessed else ()
        yield Loaded(text, fields, notes, doubtful)


def _parse(text: str) -> etree._Element:
    from lxml import etree, html  # noqa: PLC0415 - slow to import

    parser = html.HTMLParser(
        encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True
    )
    try:
        root = html.document_fromstring(text.encode("utf-8", "replace"), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError, AssertionError) as error:
        raise IngestError(f"it is no HTML: {error}") from error
    for entry in parser.error_log:
        if entry.level_name == "FATAL" and "depth" in entry.message:
            raise IngestError(f"line {entry.line}: its elements are nested too deep")
    return root


def _article(root: etree._Element, size: int) -> str:
    """What the page marks as its main part, or else what trafilatura takes for the article,
    unless that leaves out much of the page, most headings, or code.
    """
    # lxml is slow to import
    from agent.ingest.loaders.html_text import (  # noqa: PLC0415 - lxml
        BESIDE,
        NAVIGATION,
        mark_code,
        visible_text,
    )

    plain = visible_text(root, BESIDE) or visible_text(root)
    least = _LEAST_SHARE * _letters(plain)
    main = _main(root)
    marked = "" if main is None else visible_text(main, NAVIGATION)
    if marked and _letters(marked) >= least:
        return marked
    if size > LARGEST_ARTICLE or sum(1 for _ in root.iter()) > _MOST_ELEMENTS:
        return plain
    code = mark_code(root)
    found = _extract(root)
    headings = _HEADING.findall(plain)
    kept = sum(heading in found for heading in headings) >= _LEAST_SHARE * len(headings)
    whole = kept and _letters(found) >= least and all(line in found for line in code)
    return found if whole else plain


def _main(root: etree._Element) -> etree._Element | None:
    for path in ("//main | //*[@role='main']", "//article"):
        found = root.xpath(path)
        if len(found) == 1:
            return found[0]
    return None


def _extract(root: etree._Element) -> str:
    import trafilatura  # noqa: PLC0415 - slow to import

    # what it leaves out is no warning to the reader of this program
    logging.getLogger("trafilatura").addHandler(logging.NullHandler())
    try:
        found = trafilatura.extract(
            root, output_format="markdown", favor_recall=True, include_comments=False
        )
    except (RecursionError, ValueError, AttributeError, TypeError):
        return ""  # the tree is odd; the caller takes all visible text
    return found or ""


def _letters(text: str) -> int:
    return sum(map(str.isalnum, text))
