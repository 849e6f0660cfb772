"""Markdown and reStructuredText below front matter in YAML or TOML."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import BinaryIO

from agent.ingest.decoding import decode, guess_note
from agent.ingest.front_matter import split_front_matter
from agent.ingest.loaded import Loaded, Unreadable
from agent.ingest.reading import Reading
from agent.ingest.toml_front_matter import split_toml
from agent.ingest.unread_front_matter import unread_front_matter
from agent.ingest.written import Note


class MarkdownLoader:
    """A file is one document."""

    name = "markdown"
    suffixes = frozenset({".md", ".markdown", ".mdown", ".mkd", ".rst"})

    def claims(self, head: bytes) -> bool:
        return False

    def divides(self, path: PurePosixPath, reading: Reading) -> bool:
        return False

    def load(self, file: BinaryIO, reading: Reading) -> Iterator[Loaded | Unreadable]:
        yield below_front_matter(file, reading)


def below_front_matter(file: BinaryIO, reading: Reading) -> Loaded:
    """The text of a file and the fields above it."""
    decoded = decode(file.read(), reading.encoding)
    front, body = split_toml(decoded.text) or split_front_matter(decoded.text)
    if body == decoded.text and not front.doubtful:
        front = unread_front_matter(body)
    notes = front.notes
    if decoded.guessed:
        notes = (Note(guess_note(decoded.encoding)), *notes)
    return Loaded(body, front.fields, notes, front.doubtful)
