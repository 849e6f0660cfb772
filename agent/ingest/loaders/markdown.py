"""Markdown and reStructuredText below front matter in YAML."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import BinaryIO

from agent.ingest.decoding import decode
from agent.ingest.front_matter import split_front_matter
from agent.ingest.loaded import Loaded
from agent.ingest.reading import Reading
from agent.ingest.written import Note


class MarkdownLoader:
    """A file is one document."""

    name = "markdown"
    suffixes = frozenset({".md", ".markdown", ".mdown", ".mkd"})

    def claims(self, head: bytes) -> bool:
        return False

    def divides(self, path: PurePosixPath, reading: Reading) -> bool:
        return False

    def load(self, file: BinaryIO, reading: Reading) -> Iterator[Loaded]:
        decoded = decode(file.read())
        front, body = split_front_matter(decoded.text)
        notes = front.notes
        if decoded.guessed:
            guess = f"is not UTF-8 and does not say its encoding; read as {decoded.encoding}"
            notes = (Note(guess), *notes)
        yield Loaded(body, front.fields, notes, front.doubtful)
