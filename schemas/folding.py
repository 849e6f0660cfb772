"""The form in which strings are compared."""

from __future__ import annotations

from unicodedata import normalize


def is_blank(text: str) -> bool:
    """Whether a text folds to nothing."""
    return not text or text.isspace()


def fold(text: str) -> str:
    """NFKC, casefold, NFKC, runs of white space to one space, trimmed.

    A text that folds to nothing counts as missing. The result never holds the control
    characters U+001C to U+001F, which are white space to `str.split`.
    """
    if text.isascii():
        return " ".join(text.lower().split())
    return " ".join(normalize("NFKC", normalize("NFKC", text).casefold()).split())
