"""Readers by kind of file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from agent.ingest.decoding import decode
from agent.ingest.front_matter import split_front_matter
from agent.ingest.written import Note, Value


@dataclass(frozen=True, slots=True)
class Loaded:
    """The text of a document and the fields that its author gave. `doubtful` are the keys of
    fields whose reading is a guess.
    """

    text: str
    fields: Mapping[str, Value] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    doubtful: frozenset[str] = frozenset()


class Loader(Protocol):
    """Reads one kind of file."""

    @property
    def suffixes(self) -> frozenset[str]:
        """Ends of names in lower case, with the dot."""
        ...

    def load(self, raw: bytes) -> Loaded:
        """IngestError if the file cannot be read."""
        ...


class MarkdownLoader:
    """Markdown or reStructuredText below front matter in YAML."""

    suffixes = frozenset({".md", ".markdown", ".mdown", ".mkd"})

    def load(self, raw: bytes) -> Loaded:
        decoded = decode(raw)
        front, body = split_front_matter(decoded.text)
        notes = front.notes
        if decoded.guessed:
            guess = f"is not UTF-8 and does not say its encoding; read as {decoded.encoding}"
            notes = (Note(guess), *notes)
        return Loaded(body, front.fields, notes, front.doubtful)


class Loaders:
    """The first loader that reads files of a name."""

    def __init__(self, loaders: Iterable[Loader]) -> None:
        self._by_suffix: dict[str, Loader] = {}
        for loader in loaders:
            for suffix in loader.suffixes:
                self._by_suffix.setdefault(suffix, loader)

    def __getitem__(self, path: Path) -> Loader:
        return self._by_suffix[path.suffix.lower()]

    def accepts(self, path: Path) -> bool:
        return path.suffix.lower() in self._by_suffix


DEFAULT_LOADERS: tuple[Loader, ...] = (MarkdownLoader(),)
