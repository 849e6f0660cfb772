"""CSV and its relatives, row by row."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import PurePosixPath
from typing import BinaryIO

from agent.ingest.decoding import Encoding, as_text, guess_note
from agent.ingest.loaded import Loaded, Unreadable
from agent.ingest.loaders import cells
from agent.ingest.loaders.gathering import with_note
from agent.ingest.loaders.rows import Row, documents
from agent.ingest.reading import Reading
from agent.ingest.written import Note
from schemas.errors import IngestError

LONGEST_CELL = 32 << 20
"""Characters; a quote that is never closed takes in the rest of its file."""

_DELIMITERS = ",;\t|"
_SNIFFED_LINES = 30
_SNIFFED_CHARACTERS = 65_536
_SUSPICIOUS_LINES = 200
_MOST_COLUMNS = 2_000


@dataclass(frozen=True, slots=True)
class TableLoader:
    """A document a row, or the file as one document that is a table in Markdown.

    The first line that is not empty names the columns. The delimiter is the one that the type
    map gives, else `delimiter`, else the one of `, ; tab |` that divides the first lines alike.
    """

    name: str = "csv"
    suffixes: frozenset[str] = frozenset({".csv"})
    delimiter: str | None = None

    def claims(self, head: bytes) -> bool:
        return False

    def divides(self, path: PurePosixPath, reading: Reading) -> bool:
        return reading.documents == "row"

    def load(self, file: BinaryIO, reading: Reading) -> Iterator[Loaded | Unreadable]:
        try:
            with as_text(file, reading.encoding, newline="") as (wrapper, encoding):
                yield from self._read(wrapper, encoding, reading)
        except csv.Error as error:
            raise IngestError(
                f"a cell is longer than {LONGEST_CELL} characters, or the table is broken: {error}",
                remedy="look for a quote that is not closed",
            ) from error

    def _read(
        self, wrapper: io.TextIOWrapper, encoding: Encoding, reading: Reading
    ) -> Iterator[Loaded | Unreadable]:
        # the limit is one for the process and only guards memory; files are bounded by size
        csv.field_size_limit(LONGEST_CELL)
        lines = _Lines(wrapper)
        delimiter = reading.delimiter or lines.declared or self.delimiter or sniff(lines.head)
        table = _Table(lines, delimiter)
        if not table.columns:
            raise IngestError("the table is empty")
        said = guess_note(encoding.name) if encoding.guessed else None
        if reading.documents == "file":
            kept = list(table.rows())
            text = "\n".join(cells.markdown_table(table.columns, kept))
            notes = tuple(note for row in kept for note in row.notes)
            yield from with_note([Loaded(text, notes=notes)], said)
            return
        yield from with_note(documents(table.rows(), reading, table.columns), said)


class _Lines:
    """The lines of a file; the first ones are looked at before they are read. `declared` is the
    delimiter of a first line `sep=;`, as Excel writes it; that line is no data.
    """

    def __init__(self, wrapper: io.TextIOWrapper) -> None:
        self.head: list[str] = []
        self.declared: str | None = None
        self.skipped = 0
        length = 0
        while len(self.head) < _SNIFFED_LINES and length < _SNIFFED_CHARACTERS:
            line = wrapper.readline(LONGEST_CELL)
            if not line:
                break
            self.head.append(line)
            length += len(line)
        first = self.head[0].rstrip("\r\n") if self.head else ""
        if len(first) == 5 and first.lower().startswith("sep="):
            self.declared = first[4]
            self.skipped = 1
        self._rest = wrapper

    def __iter__(self) -> Iterator[str]:
        return chain(self.head[self.skipped :], iter(self._rest))


class _Table:
    def __init__(self, lines: _Lines, delimiter: str) -> None:
        self._skipped = lines.skipped
        self._reader = csv.reader(lines, delimiter=delimiter)
        first = next((row for row in self._reader if any(cell.strip() for cell in row)), [])
        while first and not first[-1].strip():
            first.pop()
        if len(first) > _MOST_COLUMNS:
            raise IngestError(f"the table has {len(first)} columns, at most {_MOST_COLUMNS}")
        self.columns = cells.header(first)
        self._repeated = cells.repeated(first)

    def rows(self) -> Iterator[Row]:
        """Empty rows are not counted."""
        number, before = 0, self._reader.line_num
        for texts in self._reader:
            line, before = before + 1 + self._skipped, self._reader.line_num
            if not any(cell and not cell.isspace() for cell in texts):
                continue
            number += 1
            row = cells.row(str(number), self.columns, texts, line, self._repeated)
            lines = before + self._skipped - line
            if lines > _SUSPICIOUS_LINES:
                said = f"row {number} takes {lines} lines: is a quote not closed?"
                row = replace(row, notes=(*row.notes, Note(said, line=line)))
            yield row


def sniff(lines: Sequence[str]) -> str:
    """The delimiter that divides most lines into the same number of cells, at least two; the
    comma if none does.
    """
    best, best_score = ",", (0.0, 0)
    for delimiter in _DELIMITERS:
        try:
            rows = [row for row in csv.reader(lines, delimiter=delimiter) if row]
        except csv.Error:
            continue
        if not rows:
            continue
        width = len(rows[0])
        alike = Counter(len(row) for row in rows)[width] / len(rows)
        if width > 1 and (alike, width) > best_score:
            best, best_score = delimiter, (alike, width)
    return best
