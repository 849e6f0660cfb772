"""Bytes of a text file become text."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

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
_SAMPLE_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text with `\\n` as its only line end and no control characters (each became a space).
    `guessed`: nothing in the file says that this is its encoding.
    """

    text: str
    encoding: str
    guessed: bool = False


def decode(raw: bytes) -> Decoded:
    """IngestError if this is not text, or text in an encoding that cannot be told."""
    for mark, encoding in _MARKS:
        if raw.startswith(mark):
            return Decoded(_strict(raw[len(mark) :], encoding), encoding)
    if b"\0" in raw[:_SAMPLE_BYTES]:
        encoding = _unmarked_utf16(raw[:_SAMPLE_BYTES])
        return Decoded(_strict(raw, encoding), encoding, guessed=True)
    try:
        return Decoded(_clean(raw.decode("utf-8")), "utf-8")
    except UnicodeDecodeError:
        return _guess(raw)


def _guess(raw: bytes) -> Decoded:
    best = from_bytes(raw).best()
    if best is None:
        raise IngestError(
            "its encoding cannot be told, it is not UTF-8", remedy="save the file as UTF-8"
        )
    return Decoded(_strict(raw, best.encoding), best.encoding, guessed=True)


def _unmarked_utf16(sample: bytes) -> str:
    """UTF-16 of Latin text has its zero bytes all at even or all at odd places."""
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if max(even, odd) > len(sample) // 8 and min(even, odd) == 0:
        return "utf-16-be" if even else "utf-16-le"
    raise IngestError("it is not a text file: it contains zero bytes")


def _strict(raw: bytes, encoding: str) -> str:
    try:
        return _clean(raw.decode(encoding))
    except UnicodeDecodeError as error:
        raise IngestError(
            f"it is not valid {encoding}: {error.reason} at byte {error.start}",
            remedy="save the file as UTF-8",
        ) from error


def _clean(text: str) -> str:
    return _CONTROL.sub(" ", _NEWLINE.sub("\n", text.removeprefix("\ufeff")))
