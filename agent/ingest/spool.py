"""What the first reading of a file that divides found, kept on disk for the second one."""

from __future__ import annotations

import logging
import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import BinaryIO, Self

from agent.ingest.loaded import Loaded
from agent.ingest.opening import Opened, State, state_of
from agent.ingest.reading import Reading

log = logging.getLogger(__name__)

MOST_BYTES = 256 * 1024 * 1024
"""Beyond it files are parsed twice: the folder for temporary files may lie in memory."""

_RECORDS_AT_ONCE = 64
_SIZE_AT_ONCE = 256 * 1024

Record = tuple[str, Loaded, str]
"""Key, document and digest."""


@dataclass(frozen=True, slots=True)
class Spooled:
    """The records of one file, as it was when it had `state`."""

    path: Path
    offset: int
    groups: int
    reading: Reading
    state: State

    def is_current(self, source: Path) -> bool:
        return state_of(source.stat()) == self.state

    def records(self) -> Iterator[Record]:
        """In the order in which they were read."""
        with self.path.open("rb") as file:
            file.seek(self.offset)
            for _ in range(self.groups):
                yield from pickle.load(file)  # noqa: S301 (written by this run, for its user only)


class Spool:
    """A temporary file that goes away with the block."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._most = most
        self._folder: TemporaryDirectory[str] | None = None
        self._file: BinaryIO | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._file is not None:
            self._file.close()
        if self._folder is not None:
            self._folder.cleanup()

    def begin(self, opened: Opened) -> Recording:
        return Recording(self, opened)

    def tell(self) -> int:
        return self._opened().tell()

    def put(self, group: list[Record]) -> bool:
        """Whether there was room for it."""
        file = self._opened()
        pickle.dump(group, file, pickle.HIGHEST_PROTOCOL)
        return file.tell() <= self._most

    def end(self) -> Path:
        file = self._opened()
        file.flush()
        return Path(file.name)

    def rewind(self, offset: int) -> None:
        """Forget what came after."""
        file = self._opened()
        file.seek(offset)
        file.truncate()

    def _opened(self) -> BinaryIO:
        if self._file is None:
            self._folder = TemporaryDirectory(prefix="facetwise-", ignore_cleanup_errors=True)
            self._file = (Path(self._folder.name) / "documents").open("wb")
        return self._file


class Recording:
    """The records of one file on their way. Where they cannot be kept, they are read again."""

    def __init__(self, spool: Spool, opened: Opened) -> None:
        self._spool = spool
        self._opened = opened
        self._offset = -1
        self._groups = 0
        self._group: list[Record] = []
        self._size = 0
        self._failed = False

    def add(self, record: Record) -> None:
        if self._failed:
            return
        self._group.append(record)
        self._size += len(record[1].text)
        if len(self._group) == _RECORDS_AT_ONCE or self._size >= _SIZE_AT_ONCE:
            self._put()

    def end(self) -> Spooled | None:
        """None where the file is to be read again."""
        if self._group:
            self._put()
        if self._failed or not self._groups:
            return None
        opened = self._opened
        try:
            path = self._spool.end()
        except OSError as error:
            log.debug("cannot keep what was read: %s", error)
            return None
        return Spooled(path, self._offset, self._groups, opened.reading, opened.state)

    def _put(self) -> None:
        group, self._group, self._size = self._group, [], 0
        try:
            if self._offset < 0:
                self._offset = self._spool.tell()
            if self._spool.put(group):
                self._groups += 1
                return
            self._failed = True
            self._spool.rewind(self._offset)
        except (OSError, pickle.PicklingError, AttributeError, TypeError) as error:
            # a disk that is full, or a loader's own kind of value
            log.debug("cannot keep what was read: %s", error)
            self._failed = True
