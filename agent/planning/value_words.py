"""When words of a question can be meant as a known value, or as a part of one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agent.planning.words import FUNCTION_WORDS, Token, key
from schemas.collection import Scalar

LONG_NAME = 4
"""Tokens up to which any single word of a value may stand for it; of longer ones, the first."""


@dataclass(frozen=True)
class Entry:
    """A known value of a field with the tokens of its text."""

    field: str
    value: Scalar
    keys: tuple[str, ...]
    upper: Scalar | None = None


def stands_alone(text: str, part: Sequence[Token]) -> bool:
    """Whether figures are not cut out of a longer number or identifier."""
    start, end = part[0].start, part[-1].end
    if part[0].text[0].isdigit():
        glued = re.search(r"(?:\d[.,_:/-]|[A-Za-z]{4,}|[_@#/.-])$", text[:start])
        if glued and glued.group() not in "#@":
            return False
    if part[-1].text[-1].isdigit() and re.match(r"[.,_:/]\d|_|\d", text[end:]):
        return False
    return not (start and text[start - 1] in "@_")


def in_name(text: str, part: Sequence[Token], known: Sequence[tuple[Entry, float]]) -> bool:
    """Whether a word that is a value in lower case is a piece of a name in capitals here."""
    if len(part) > 1 or not part[0].is_name_like or part[0].is_cjk:
        return False
    if any(not str(entry.value).islower() for entry, _ in known):
        return False
    before = re.search(r"(\w+)\s+$", text[: part[0].start])
    after = re.match(r"\s+(\w+)", text[part[0].end :])
    inner = before is not None and before.start() > 0 and before.group(1)[0].isupper()
    return inner or (before is not None and after is not None and after.group(1)[0].isupper())


def plausible(part: Sequence[Token], known: Sequence[tuple[Entry, float]]) -> bool:
    """Whether words can be meant as a value: no grammar, no single letters in passing."""
    if len(part) > 1:
        return not all(token.key in FUNCTION_WORDS for token in part)
    token = part[0]
    if token.is_cjk or token.text.isdigit():
        return not token.is_cjk or any(len(entry.keys) == 1 for entry, _ in known)
    short = len(token.text) == 1 or token.key in FUNCTION_WORDS
    if not short:
        return True
    if token.text in ("A", "I", "a", "i") or not token.text.isupper():
        return False
    return any(str(entry.value) == token.text for entry, _ in known)


def names_value(part: Sequence[Token], entries: Sequence[Entry]) -> bool:
    """Whether part of a value is enough: capitals, or a long word that few values have."""
    if part[0].is_cjk:
        return True
    if all(token.text.isdigit() or key(token.text) in FUNCTION_WORDS for token in part):
        return False
    if len(part) > 1:
        return True
    token = part[0]
    if token.text.isdigit() or len(token.text) < 3:
        return False
    if any(len(entry.keys) > LONG_NAME and _head(entry) != token.key for entry in entries):
        return False
    return token.is_name_like or (len(token.text) >= 5 and len(entries) == 1)


def _head(entry: Entry) -> str:
    """The first word of a value that is not grammar: Independent of The Independent - Life."""
    return next((word for word in entry.keys if word not in FUNCTION_WORDS), "")
