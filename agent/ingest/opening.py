"""A file is opened in the way that the type map, its content and its name ask for."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import BinaryIO

from agent.ingest.discovery import Source
from agent.ingest.loaded import Loaded, Loader, Unreadable
from agent.ingest.loaders.registry import HEAD_BYTES, Loaders
from agent.ingest.reading import Reading
from agent.ingest.type_map import TypeMap
from schemas.errors import IngestError

State = tuple[int, int, int]
"""Size, time of the last change in nanoseconds, and number of a file."""

WHOLE = ""
"""The key of a document that is a whole file."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A file that can be read. `raw` are the bytes of one that is a single document; one that
    divides is read as it goes, and has none. `modified` is a time stamp in seconds; `state`
    tells whether it is another file by now.
    """

    loader: Loader
    reading: Reading
    file: BinaryIO
    size: int
    modified: float
    raw: bytes | None
    state: State

    @property
    def divided(self) -> bool:
        return self.raw is None

    def document(self) -> Loaded:
        """The one document of a file that does not divide."""
        loaded = next(iter(self.loader.load(self.file, self.reading)), None)
        match loaded:
            case Loaded():
                return loaded
            case Unreadable(reason=reason):
                raise IngestError(reason)
            case None:
                raise IngestError("there is nothing in it")

    def documents(self) -> Iterator[tuple[str, Loaded | Unreadable]]:
        """The documents of a file that divides, with their keys. WHOLE is the key of one that is
        the whole file after all, and of an unreadable one of which no more is known.
        """
        for one in self.loader.load(self.file, self.reading):
            yield one.key or WHOLE, one


class Opener:
    """Opens files for reading, at most `limit` bytes long."""

    def __init__(self, loaders: Loaders, types: TypeMap, limit: int) -> None:
        self._loaders = loaders
        self._types = types
        self._limit = limit

    def accepts(self, source: Source, *, named: bool) -> bool:
        """By the type map and the suffix; a file that was `named` also by its content."""
        if self._types.reading(source.name).loader is not None:
            return True
        if self._loaders.accepts(source.path):
            return True
        return named and self._is_claimed(source)

    def _is_claimed(self, source: Source) -> bool:
        try:
            with source.path.open("rb") as file:
                head = file.read(HEAD_BYTES)
            self._loaders.choose(source.path, head, self._types.reading(source.name))
        except IngestError:
            return False
        except OSError:
            # it is taken as a file to read, and fails there with the reason
            return True
        return True

    @contextmanager
    def open(self, source: Source, id_: str) -> Iterator[Opened]:
        """IngestError if it is too large or cannot be read, now or later on in the block."""
        reading = self._types.reading(id_)
        try:
            with source.path.open("rb") as file:
                yield self._opened(source, id_, reading, file)
        except OSError as error:
            raise IngestError(f"it cannot be read: {error.strerror or error}") from error

    def _opened(self, source: Source, id_: str, reading: Reading, file: BinaryIO) -> Opened:
        status = os.fstat(file.fileno())
        if status.st_size > self._limit:
            raise IngestError(f"it has {status.st_size} bytes; allowed are {self._limit}")
        head = file.read(HEAD_BYTES)
        loader = self._loaders.choose(source.path, head, reading)
        if loader.divides(PurePosixPath(id_), reading):
            file.seek(0)
            size, modified = status.st_size, status.st_mtime
            return Opened(loader, reading, file, size, modified, None, state_of(status))
        raw = head + file.read()
        size, modified = len(raw), status.st_mtime
        return Opened(loader, reading, io.BytesIO(raw), size, modified, raw, state_of(status))


def state_of(status: os.stat_result) -> State:
    return status.st_size, status.st_mtime_ns, status.st_ino
