"""JSON: an object is a document, an array holds one a element."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from json import JSONDecodeError
from pathlib import PurePosixPath
from typing import BinaryIO

from agent.ingest.decoding import as_text, guess_note
from agent.ingest.loaded import Loaded, Unreadable
from agent.ingest.loaders.gathering import gathered, with_note
from agent.ingest.loaders.records import DECODER, TooMuch, as_row, is_object
from agent.ingest.loaders.rows import Row, documents
from agent.ingest.reading import Reading
from schemas.errors import IngestError

_BLOCK = 1 << 20
_SPACE = re.compile(r"[ \t\r\n]*")
_SHOWN = 60


class JsonLoader:
    """Elements of an array are keyed by their number. One object, whatever it holds, is one
    document. An array is read element by element.
    """

    name = "json"
    suffixes = frozenset({".json"})

    def claims(self, head: bytes) -> bool:
        return False

    def divides(self, path: PurePosixPath, reading: Reading) -> bool:
        """By the name alone an array is expected; an object has no key."""
        return reading.documents == "row"

    def load(self, file: BinaryIO, reading: Reading) -> Iterator[Loaded | Unreadable]:
        with as_text(file, reading.encoding, newline="") as (wrapper, encoding):
            stream = _Stream(wrapper)
            note = guess_note(encoding.name) if encoding.guessed else None
            if stream.peek() == "[" and reading.documents == "row":
                yield from with_note(documents(_elements(stream), reading), note)
            else:
                rows = _elements(stream) if stream.peek() == "[" else _single(stream)
                yield from with_note(gathered(rows, reading), note)


class _Stream:
    """Text that is read as far as the next value needs it."""

    def __init__(self, wrapper: io.TextIOWrapper) -> None:
        self._wrapper = wrapper
        self._text = ""
        self._at = 0
        self._ended = False
        self._line = 1

    def peek(self) -> str:
        """The next character that is no space; empty at the end."""
        while True:
            self._skip_to(_end(_SPACE, self._text, self._at))
            if self._at < len(self._text) or not self._more(_BLOCK):
                return self._text[self._at : self._at + 1]

    def skip(self) -> None:
        self._skip_to(self._at + 1)

    def value(self) -> tuple[object, int]:
        """The next value and its line. IngestError with the line where it breaks."""
        self.peek()
        line, wanted = self._line, _BLOCK
        while True:
            try:
                value, end = DECODER.raw_decode(self._text, self._at)
            except JSONDecodeError as error:
                if self._more(wanted):
                    wanted = len(self._text)  # doubled, so that long values are read few times
                    continue
                raise self.broken(error.msg, error.pos) from error
            except RecursionError as error:
                raise IngestError(f"line {line}: it is nested too deep") from error
            if end < len(self._text) or not self._more(_BLOCK):
                self._skip_to(end)
                return value, line

    def broken(self, reason: str, at: int | None = None) -> IngestError:
        at = self._at if at is None else at
        line = self._line + self._text.count("\n", self._at, at)
        shown = self._text[at : at + _SHOWN].split("\n")[0].strip()
        return IngestError(f"line {line}: it is not valid JSON: {reason}: {shown!r}")

    def _skip_to(self, at: int) -> None:
        self._line += self._text.count("\n", self._at, at)
        self._at = at

    def _more(self, wanted: int) -> bool:
        block = "" if self._ended else self._wrapper.read(wanted)
        self._ended = not block
        if block:
            self._text, self._at = self._text[self._at :] + block, 0
        return bool(block)


def _elements(stream: _Stream) -> Iterator[Row | Unreadable]:
    stream.skip()
    number = 0
    while stream.peek() != "]":
        number += 1
        value, line = stream.value()
        if value is not None:
            yield record(value, number, line)
        match stream.peek():
            case ",":
                stream.skip()
            case "]":
                break
            case _:
                raise stream.broken("expected ',' or ']'")
    stream.skip()
    if stream.peek():
        raise stream.broken("something follows the array")


def _single(stream: _Stream) -> Iterator[Row | Unreadable]:
    if not stream.peek():
        raise IngestError("it is empty")
    value, line = stream.value()
    if stream.peek():
        raise IngestError(
            stream.broken("something follows the first value").args[0],
            remedy="a file with a value on every line is called .jsonl",
        )
    if not is_object(value):
        raise IngestError("it holds one value, neither an object nor an array")
    yield record(value, 1, line)


def record(value: object, number: int, line: int) -> Row | Unreadable:
    try:
        return as_row(value, str(number), line)
    except TooMuch as error:
        return Unreadable(f"record {number} holds too much: {error}", str(number), line)


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at
