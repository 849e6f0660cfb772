"""Columns of lists, and the questions that the engine answers on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from schemas.bounds import INT64_MIN
from schemas.collection import Column, ColumnKind, Encoding
from schemas.compile.dialects import Dialect
from schemas.compile.literals import is_plain, literal, literal_list
from schemas.compile.pieces import NEVER, Piece, every, some
from schemas.compile.places import Holds, Place
from schemas.compile.strings import Pattern

SEPARATOR = "\x1f"
"""Stands before, between and after the elements in a joined column."""

_MANY = 50
"""From so many alternatives on, one look into the array is cheaper than as many patterns."""


@dataclass(frozen=True)
class ListColumn:
    """An array and the joined text of its elements, or one of them."""

    array: Place | None
    joined: Place | None
    dialect: Dialect

    @classmethod
    def of(cls, column: Column, dialect: Dialect) -> ListColumn:
        return cls(
            Place.of(column, dialect, Holds.LIST), _joined(column, column.joined, dialect), dialect
        )

    @classmethod
    def as_written(cls, column: Column, name: str, dialect: Dialect) -> ListColumn:
        """The companion column `name`, which has the joined elements unfolded."""
        return cls(None, _joined(column, name, dialect), dialect)

    def present(self) -> Piece:
        if self.joined is not None:
            return self.joined.present()
        full = Piece(f"(array_length({self._array.path}) != 0)")
        return every((self._array.present(), full)) if self._array.nullable else full

    def missing(self) -> Piece:
        if self.joined is not None:
            return self.joined.missing()
        bare = Piece(f"(array_length({self._array.path}) == 0)")
        return some((self._array.missing(), bare)) if self._array.nullable else bare

    def without(self, found: Piece) -> Piece:
        """Present, and not found; all that is present where the positive cannot be said."""
        if found.gap is not None:
            return self.present().but(found.gap.why)
        if found.never:
            return self.present()
        return every((self.present(), Piece(f"(not {found.text})")))

    def has_any(self, elements: Sequence[str | int]) -> Piece:
        """Some element equals one of these."""
        if not elements:
            return NEVER
        if self.array is None:
            return some(self._in_text(element) for element in elements)
        if INT64_MIN in elements and self.dialect is not Dialect.LITE:
            others = [element for element in elements if element != INT64_MIN]
            return some((self.has_any(others), self._has_least()))
        if self.joined is None or self.dialect is not Dialect.LITE or len(elements) >= _MANY:
            return self._in_array(elements)
        return some(
            self._in_text(element) if is_plain(str(element)) else self._in_array([element])
            for element in elements
        )

    def starting(self, text: str) -> Piece | None:
        """Some element starts so; None if only the joined text could tell and there is none."""
        return None if self.joined is None else self._pattern(f"{SEPARATOR}{text}", text)

    def ending(self, text: str) -> Piece | None:
        return None if self.joined is None else self._pattern(f"{text}{SEPARATOR}", text)

    def _has_least(self) -> Piece:
        """The least 64-bit int is no literal of servers."""
        if self.joined is not None:
            return self._in_text(INT64_MIN)
        return self.present().but(f"{self.dialect} cannot read {INT64_MIN}")

    def _in_text(self, element: str | int) -> Piece:
        return self._pattern(f"{SEPARATOR}{element}{SEPARATOR}", str(element))

    def _pattern(self, pattern: str, text: str) -> Piece:
        """A text with a separator in it would be found across two elements."""
        if self.joined is None:
            return self.present()
        found = Pattern(pattern).piece(self.joined, self.dialect)
        return found.but(f"{text!r} holds the separator of lists") if SEPARATOR in text else found

    def _in_array(self, elements: Sequence[str | int]) -> Piece:
        """The single form takes no negative number on Lite."""
        literals = [literal(element) for element in elements]
        if len(literals) == 1 and not literals[0].startswith("-"):
            return Piece(f"(array_contains({self._array.path}, {literals[0]}))")
        return Piece(f"(array_contains_any({self._array.path}, {literal_list(literals)}))")

    @property
    def _array(self) -> Place:
        if self.array is None:
            raise AssertionError("a column of joined elements is asked as text only")
        return self.array


def _joined(column: Column, name: str | None, dialect: Dialect) -> Place | None:
    if name is None:
        return None
    update = {"name": name, "kind": ColumnKind.VARCHAR, "encoding": Encoding.FOLDED}
    return Place.of(column.model_copy(update=update), dialect, Holds.TEXT)
