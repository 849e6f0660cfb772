"""Plain text, with or without front matter."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath
from typing import BinaryIO

from agent.ingest.conventions import is_title
from agent.ingest.loaded import Loaded, Markup, Unreadable
from agent.ingest.loaders.markdown import below_front_matter
from agent.ingest.reading import Reading
from agent.ingest.written import Written

_LONGEST_TITLE = 100


class PlainLoader:
    """A file is one document. A short first line with a blank line below it is its title."""

    name = "text"
    suffixes = frozenset({".txt", ".text", ".log"})

    def claims(self, head: bytes) -> bool:
        return False

    def divides(self, path: PurePosixPath, reading: Reading) -> bool:
        return False

    def load(self, file: BinaryIO, reading: Reading) -> Iterator[Loaded | Unreadable]:
        loaded = replace(below_front_matter(file, reading), markup=Markup.PLAIN)
        title = _title(loaded.text)
        if title and not any(is_title(name) for name in loaded.fields):
            fields = {"title": Written(title, quoted=True), **loaded.fields}
            loaded = replace(loaded, fields=fields)
        yield loaded


def _title(text: str) -> str:
    first, newline, below = text.lstrip().partition("\n")
    title = first.strip()
    fits = len(title) <= _LONGEST_TITLE and any(letter.isalpha() for letter in title)
    alone = newline and not below.partition("\n")[0].strip() and below.strip()
    return title if fits and alone else ""
