"""What reading a file gives, and what a reader of one kind of file is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import PurePosixPath
from typing import BinaryIO, Protocol

from agent.ingest.reading import Reading
from agent.ingest.written import Note, Value


class Markup(StrEnum):
    """How headings, code and tables stand in a text."""

    MARKDOWN = "markdown"  # or reStructuredText, where it looks like that
    PLAIN = "plain"  # nothing is a heading


@dataclass(frozen=True, slots=True)
class Loaded:
    """One document of a file: its text and the fields that its author gave.

    `doubtful` are the keys (written.name_key) of fields whose reading is a guess. `key` tells the
    documents of one file apart: a row's id column, else its number from 1; None where the file
    is one document. `pages` are the offsets in `text` at which its pages begin, first page
    first; empty where there are no pages.
    """

    text: str
    fields: Mapping[str, Value] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    doubtful: frozenset[str] = frozenset()
    key: str | None = None
    markup: Markup = Markup.MARKDOWN
    pages: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A document of a file that divides which could not be read, while its neighbours could.

    `line` counts from 1; `key` is the document's, as far as it is known.
    """

    reason: str
    key: str | None = None
    line: int | None = None


class Loader(Protocol):
    """Reads one kind of file."""

    @property
    def name(self) -> str:
        """As the type map names it: `markdown`, `pdf`, `csv` …"""
        ...

    @property
    def suffixes(self) -> frozenset[str]:
        """Ends of names in lower case, with the dot."""
        ...

    def claims(self, head: bytes) -> bool:
        """Whether the first 4 KB can only be of this kind (`%PDF-`, a zip of a workbook …),
        whatever the file is called.
        """
        ...

    def divides(self, path: PurePosixPath, reading: Reading) -> bool:
        """Whether such a file holds many documents, each with a `key`."""
        ...

    def load(self, file: BinaryIO, reading: Reading) -> Iterator[Loaded | Unreadable]:
        """The documents of a file, one after the other; a file that divides is never held in
        memory as a whole, where its format allows that. IngestError if it cannot be read.
        """
        ...
