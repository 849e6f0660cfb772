"""Parts of an expression, and how much of the filter they say."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Gap:
    """Why an expression finds more than it should. `untyped` gaps close by themselves where a
    JSON path holds values of one type only.
    """

    why: str
    untyped: bool = False


@dataclass(frozen=True)
class Piece:
    """An expression in parentheses, or a constant where `text` is empty."""

    text: str = ""
    always: bool = False
    gap: Gap | None = None

    @property
    def never(self) -> bool:
        return not self.text and not self.always

    def but(self, why: str, *, untyped: bool = False) -> Piece:
        """The same expression, known to find more than it should."""
        return replace(self, gap=_worse(self.gap, Gap(why, untyped)))


NEVER = Piece()
ALWAYS = Piece(always=True)


def _worse(one: Gap | None, other: Gap | None) -> Gap | None:
    if one is None or other is None:
        return one or other
    return other if one.untyped else one


def _gap(pieces: Iterable[Piece]) -> Gap | None:
    gap: Gap | None = None
    for piece in pieces:
        gap = _worse(gap, piece.gap)
    return gap


def every(pieces: Iterable[Piece]) -> Piece:
    """The conjunction; parts that are always true only leave their gaps."""
    parts = list(pieces)
    if any(part.never for part in parts):
        return NEVER
    return _joined("and", [p for p in parts if p.text], _gap(parts), ALWAYS)


def some(pieces: Iterable[Piece]) -> Piece:
    """The disjunction; one exact part that is always true decides it."""
    parts = [part for part in pieces if not part.never]
    if ALWAYS in parts:
        return ALWAYS
    gap = _gap(parts)
    if any(part.always for part in parts):
        return replace(ALWAYS, gap=gap)
    return _joined("or", parts, gap, NEVER)


def _joined(word: str, parts: list[Piece], gap: Gap | None, nothing: Piece) -> Piece:
    texts = list(dict.fromkeys(part.text for part in parts))
    if not texts:
        return replace(nothing, gap=gap)
    text = texts[0] if len(texts) == 1 else f"({f' {word} '.join(texts)})"
    return Piece(text, gap=gap)
