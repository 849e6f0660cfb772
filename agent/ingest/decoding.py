"""Bytes of a text file become text."""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO

from charset_normalizer import from_bytes

from schemas.errors import IngestError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark begins the same
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_NEWLINE = re.compile(r"\r\n?")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f]")
_FOREIGN_LINE = re.compile(rb"[^\n]*[\x80-\xff][^\n]*\n?")
_SAMPLE_BYTES = 4096
_GUESS_BYTES = 65_536
_BLOCK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text with `\\n` as its only line end and no control characters (each became a space).
    `guessed`: nothing in the file says that this is its encoding.
    """

    text: str
    encoding: str
    guessed: bool = False


@dataclass(frozen=True, slots=True)
class Encoding:
    """How a file is to be read as text; `mark` are the bytes of a byte-order mark at its start."""

    name: str
    guessed: bool = False
    mark: int = 0


def decode(raw: bytes, encoding: str | None = None) -> Decoded:
    """IngestError if this is not text, or text in an encoding that cannot be told."""
    found = encoding_of(io.BytesIO(raw), encoding)
    return Decoded(_strict(raw[found.mark :], found.name), found.name, found.guessed)


def encoding_of(file: BinaryIO, told: str | None = None) -> Encoding:
    """The encoding of a file, found without holding it in memory; the file is read to its end
    and left at its start. `told` counts unless a byte-order mark says otherwise.
    """
    head = file.read(_SAMPLE_BYTES)
    file.seek(0)
    for mark, name in _MARKS:
        if head.startswith(mark):
            return Encoding(name, mark=len(mark))
    if told is not None:
        return Encoding(_known(told))
    if b"\0" in head:
        return Encoding(_unmarked_utf16(head), guessed=True)
    if _is_utf8(file):
        return Encoding("utf-8")
    return Encoding(_guess(_telling(file)), guessed=True)


def clean(text: str) -> str:
    """One kind of line end, no control characters."""
    if text.isprintable():
        return text
    return _CONTROL.sub(" ", _NEWLINE.sub("\n", text.removeprefix("\ufeff")))


def guess_note(encoding: str) -> str:
    return f"is not UTF-8 and does not say its encoding; read as {encoding}"


def _known(name: str) -> str:
    try:
        "".encode(name)
    except (LookupError, ValueError) as error:
        raise IngestError(
            f"there is no encoding {name!r}", remedy="correct `encoding` in the type map"
        ) from error
    return name


def _is_utf8(file: BinaryIO) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        while block := file.read(_BLOCK_BYTES):
            decoder.decode(block)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    finally:
        file.seek(0)
    return True


def _telling(file: BinaryIO) -> bytes:
    """A sample to guess by; of a large file, its lines that are not plain ASCII."""
    raw = file.read(_GUESS_BYTES)
    if len(raw) < _GUESS_BYTES:
        file.seek(0)
        return raw
    sample, block = b"", raw
    while block and len(sample) < _GUESS_BYTES:
        block += file.readline()
        sample += b"".join(_FOREIGN_LINE.findall(block))[: _GUESS_BYTES - len(sample)]
        block = file.read(_BLOCK_BYTES)
    file.seek(0)
    return sample


def _guess(sample: bytes) -> str:
    best = from_bytes(sample).best()
    if best is None:
        raise IngestError(
            "its encoding cannot be told, it is not UTF-8", remedy="save the file as UTF-8"
        )
    return best.encoding


def _unmarked_utf16(sample: bytes) -> str:
    """UTF-16 of Latin text has its zero bytes all at even or all at odd places."""
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if max(even, odd) > len(sample) // 8 and min(even, odd) == 0:
        return "utf-16-be" if even else "utf-16-le"
    raise IngestError("it is not a text file: it contains zero bytes")


def _strict(raw: bytes, encoding: str) -> str:
    try:
        return clean(raw.decode(encoding))
    except UnicodeError as error:
        raise invalid(encoding, error) from error
    except LookupError as error:
        raise IngestError(f"{encoding!r} is no encoding of text") from error


def invalid(encoding: str, error: UnicodeError) -> IngestError:
    where = ""
    if isinstance(error, UnicodeDecodeError):
        where = f": {error.reason} at byte {error.start}"
    return IngestError(f"it is not valid {encoding}{where}", remedy="save the file as UTF-8")


@contextmanager
def as_text(
    file: BinaryIO, told: str | None, *, newline: str | None = None
) -> Iterator[tuple[io.TextIOWrapper, Encoding]]:
    """A seekable file read as text from behind its mark, in the encoding that is told or found;
    the file stays open. IngestError where it does not hold to that encoding.
    """
    encoding = encoding_of(file, told)
    file.seek(encoding.mark)
    wrapper = io.TextIOWrapper(file, encoding=encoding.name, newline=newline)
    try:
        yield wrapper, encoding
    except UnicodeError as error:
        raise invalid(encoding.name, error) from error
    finally:
        if not wrapper.closed:
            wrapper.detach()
