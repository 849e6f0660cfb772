"""JSON Lines: a document a line."""

from __future__ import annotations

import io
from collections.abc import Iterator
from json import JSONDecodeError
from pathlib import PurePosixPath
from typing import BinaryIO

from agent.ingest.decoding import as_text, guess_note
from agent.ingest.loaded import Loaded, Unreadable
from agent.ingest.loaders.gathering import gathered, with_note
from agent.ingest.loaders.json_files import record
from agent.ingest.loaders.records import DECODER
from agent.ingest.loaders.rows import Row, documents
from agent.ingest.reading import Reading

_LONGEST_LINE = 32 << 20


class JsonLinesLoader:
    """A line is keyed by its number. One that is broken is unreadable alone."""

    name = "jsonl"
    suffixes = frozenset({".jsonl", ".ndjson"})

    def claims(self, head: bytes) -> bool:
        return False

    def divides(self, path: PurePosixPath, reading: Reading) -> bool:
        return reading.documents == "row"

    def load(self, file: BinaryIO, reading: Reading) -> Iterator[Loaded | Unreadable]:
        with as_text(file, reading.encoding) as (wrapper, encoding):
            note = guess_note(encoding.name) if encoding.guessed else None
            if reading.documents == "row":
                yield from with_note(documents(_records(wrapper), reading), note)
            else:
                yield from with_note(gathered(_records(wrapper), reading), note)


def _records(wrapper: io.TextIOWrapper) -> Iterator[Row | Unreadable]:
    number = 0
    while line := wrapper.readline(_LONGEST_LINE):
        number += 1
        text = line.strip()
        if not text:
            continue
        try:
            value, end = DECODER.raw_decode(text)
        except JSONDecodeError as error:
            reason = f"it is not valid JSON: {error.msg} at character {error.pos + 1}"
            yield Unreadable(reason, str(number), number)
            continue
        except RecursionError:
            yield Unreadable("it is nested too deep", str(number), number)
            continue
        if end < len(text):
            reason = f"something follows the value at character {end + 1}"
            yield Unreadable(reason, str(number), number)
        elif value is not None:
            yield record(value, number, number)
