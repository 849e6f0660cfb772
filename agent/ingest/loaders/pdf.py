"""PDF: the text layer, page by page."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, BinaryIO

from agent.ingest.decoding import clean
from agent.ingest.loaded import Loaded, Markup, Unreadable
from agent.ingest.loaders.pdf_text import as_text
from agent.ingest.reading import Reading
from agent.ingest.written import Note, Value, Written
from schemas.errors import IngestError

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

_MAGIC = b"%PDF-"
_WRONG_PASSWORD = 4  # FPDF_ERR_PASSWORD
_SHOWN_PAGES = 10
# pdfium works in one thread at a time, also on different documents
_PDFIUM = threading.Lock()

_INFO = {"Title": "title", "Author": "author", "Subject": "subject"}
_JUNK = re.compile(
    r"untitled.*|unspecified|anonymous|unknown|none|null|user|admin(?:istrator)?|author|title"
    r"|(?:document|presentation|book|sheet)\s*[0-9]*|powerpoint presentation|slide [0-9]+"
    r"|.*\.(?:docx?|dvi|tex|pptx?|xlsx?|pdf|odt|rtf|indd|qxd|wpd|html?|txt|ps)|[\W_0-9]*",
    re.IGNORECASE,
)
_MADE_BY = re.compile(r"^(?:microsoft (?:word|powerpoint|excel) - )", re.IGNORECASE)
_SEPARATOR = re.compile(r"\s*[,;，；、]\s*")
_DATE = re.compile(
    r"D:(?P<day>[0-9]{4}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01]))"
    r"(?P<time>(?:[01][0-9]|2[0-3])[0-5][0-9](?:[0-5][0-9])?)?"
    r"(?P<zone>Z|[-+](?:0[0-9]|1[0-4])'?[0-5][0-9])?.*"
)


class PdfLoader:
    """A file is one document; what the file says of itself becomes fields: `title`, `author`,
    `subject`, `keywords`, `created`.
    """

    name = "pdf"
    suffixes = frozenset({".pdf"})

    def claims(self, head: bytes) -> bool:
        return head.lstrip().startswith(_MAGIC)

    def divides(self, path: PurePosixPath, reading: Reading) -> bool:
        return False

    def load(self, file: BinaryIO, reading: Reading) -> Iterator[Loaded | Unreadable]:
        with _PDFIUM:
            pages, info, unread = _extract(file)
        text, offsets = as_text([clean(_joined(page)) for page in pages])
        if not text:
            count = f"{len(pages)} page{'s' if len(pages) != 1 else ''}"
            raise IngestError(
                f"no text, {count}", remedy="it seems to be scanned: recognise its text first"
            )
        shown = ", ".join(str(number) for number in unread[:_SHOWN_PAGES])
        notes = (Note(f"pages that cannot be read: {shown}"),) if unread else ()
        yield Loaded(text, _fields(info), notes, markup=Markup.PLAIN, pages=offsets)


def _extract(file: BinaryIO) -> tuple[list[str], Mapping[str, str], list[int]]:
    """Texts of pages, what the file says of itself, and the numbers of pages that are broken.
    All that pdfium made is closed before, so that nothing of it is left to another thread.
    """
    from pypdfium2 import PdfDocument, PdfiumError  # noqa: PLC0415 - slow to import

    try:
        document = PdfDocument(file.read())
    except PdfiumError as error:
        if error.err_code == _WRONG_PASSWORD:
            raise IngestError(
                "the PDF is encrypted", remedy="save it without a password"
            ) from error
        raise IngestError(f"the PDF is damaged or none: {error}") from error
    with closing(document):
        pages: list[str] = []
        unread: list[int] = []
        for index in range(len(document)):
            try:
                pages.append(_page(document, index))
            except (PdfiumError, UnicodeError):
                pages.append("")
                unread.append(index + 1)
        return pages, document.get_metadata_dict(skip_empty=True), unread


def _page(document: PdfDocument, index: int) -> str:
    with closing(document[index]) as page, closing(page.get_textpage()) as text:
        return str(text.get_text_range())


def _joined(page: str) -> str:
    """A hyphen at the end of a line comes from pdfium as U+0002 or U+FFFE."""
    return page.replace("\x02", "\u00ad").replace("\ufffe", "\u00ad")


def _fields(info: Mapping[str, str]) -> dict[str, Value]:
    fields: dict[str, Value] = {}
    for key, name in _INFO.items():
        text = _MADE_BY.sub("", _one_line(info.get(key, "")))
        if text and not _JUNK.fullmatch(text):
            fields[name] = Written(text, quoted=True)
    words = [word for word in _SEPARATOR.split(_one_line(info.get("Keywords", ""))) if word]
    if words and not _JUNK.fullmatch(" ".join(words)):
        fields["keywords"] = tuple(Written(word, quoted=True) for word in words)
    created = iso_moment(info.get("CreationDate", ""))
    if created:
        fields["created"] = Written(created)
    return fields


def _one_line(text: str) -> str:
    return " ".join(clean(text).split())


def iso_moment(text: str) -> str:
    """`D:20240131093000+08'00'` in ISO 8601; empty if it is not such a date."""
    match = _DATE.fullmatch(text.strip())
    if match is None:
        return ""
    day, time, zone = match["day"], match["time"], match["zone"]
    moment = f"{day[:4]}-{day[4:6]}-{day[6:8]}"
    if time:
        moment += f"T{time[:2]}:{time[2:4]}:{time[4:6] or '00'}"
        if zone and zone != "Z":
            digits = zone[1:].replace("'", "")
            zone = f"{zone[0]}{digits[:2]}:{digits[2:4]}"
        moment += zone or ""
    return moment
