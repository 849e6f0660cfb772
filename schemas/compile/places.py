"""A place where values stand in the engine, and the comparisons that the engine makes there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from schemas.collection import Column, ColumnKind, Encoding
from schemas.compile.dialects import Dialect
from schemas.compile.literals import identifier, json_path, literal_list
from schemas.compile.pieces import NEVER, Piece, every, some


class Holds(StrEnum):
    """What the values of a place are."""

    TEXT = "text"
    NUMBER = "number"
    BOOL = "bool"
    LIST = "list"


@dataclass(frozen=True)
class Place:
    """A column or JSON path. Literals are handed in as they are written in an expression.

    Negative comparisons are guarded against missing values. `blank` says that an empty string
    may stand where nothing is meant, `on_server` that this is a JSON path on a server, where
    null counts as there and `in` takes the path.
    """

    path: str
    kind: ColumnKind
    holds: Holds
    nullable: bool
    blank: bool
    on_server: bool = False

    @classmethod
    def of(cls, column: Column, dialect: Dialect, holds: Holds) -> Place:
        """Texts in our own columns are never blank, but null."""
        is_json = column.kind is ColumnKind.JSON
        nullable = column.nullable and dialect.has_nulls
        return cls(
            path=json_path(column.name, column.path) if is_json else identifier(column.name),
            kind=column.kind,
            holds=holds,
            nullable=nullable,
            blank=holds is Holds.TEXT
            and not (column.encoding is Encoding.FOLDED and nullable and not is_json),
            on_server=is_json and dialect is not Dialect.LITE,
        )

    @property
    def is_json(self) -> bool:
        return self.kind is ColumnKind.JSON

    def compare(self, operator: str, literal: str) -> Piece:
        return Piece(f"({self.path} {operator} {literal})")

    def ordered(self, operator: str, literal: str) -> Piece:
        """An ordering; a blank is less than everything, but it is no value."""
        found = self.compare(operator, literal)
        return every((self.present(), found)) if self.blank and operator[0] == "<" else found

    def equal(self, literal: str) -> Piece:
        """Single-precision columns are compared as a range: `==` on them finds nothing."""
        if self.kind is ColumnKind.FLOAT:
            return every((self.compare(">=", literal), self.compare("<=", literal)))
        return self.compare("==", literal)

    def unequal(self, literal: str) -> Piece:
        """On JSON `!=` would find rows without the key on some servers, the orderings do not."""
        if self.is_json or self.kind is ColumnKind.FLOAT:
            return some((self.ordered("<", literal), self.compare(">", literal)))
        return self._guarded(self.compare("!=", literal))

    def any_of(self, literals: Sequence[str]) -> Piece:
        """Equal to one of the literals."""
        if not literals:
            return NEVER
        if len(literals) == 1 or not self._takes_lists:
            return some(self.equal(literal) for literal in literals)
        return self.compare("in", literal_list(list(literals)))

    def none_of(self, literals: Sequence[str]) -> Piece:
        if not literals:
            return self.present()
        if len(literals) == 1 or not self._takes_lists:
            return every(self.unequal(literal) for literal in literals)
        return self._guarded(self.compare("not in", literal_list(list(literals))))

    def negated(self, piece: Piece) -> Piece:
        """Not what a positive comparison finds here, and not missing either."""
        if piece.never:
            return self.present()
        return every((self.present(), Piece(f"(not {piece.text})", gap=piece.gap)))

    def present(self) -> Piece:
        """Neither null nor blank; an expression even where that is always so."""
        parts = [self._not_null()]
        if self.blank:
            parts.append(self.compare(">" if self.is_json else "!=", '""'))
        return every(part for part in parts if part is not None)

    def missing(self) -> Piece:
        if self.is_json:
            parts = [Piece(f"(not (exists {self.path}))")]
            if self.on_server and self.holds is not Holds.LIST:
                parts.append(Piece(f"(not {self._anything().text})"))
        else:
            parts = [Piece(f"({self.path} is null)")] if self.nullable else []
        if self.blank:
            parts.append(self.compare("==", '""'))
        return some(parts)

    def _not_null(self) -> Piece | None:
        if self.is_json:
            typed = self.on_server and self.holds in (Holds.NUMBER, Holds.BOOL)
            return self._anything() if typed else Piece(f"(exists {self.path})")
        if self.nullable:
            return Piece(f"({self.path} is not null)")
        return None if self.blank else self._anything()

    def _anything(self) -> Piece:
        """True of every value of the type, false of a JSON null."""
        match self.holds:
            case Holds.BOOL:
                return Piece(f"({self.path} == true or {self.path} == false)")
            case Holds.TEXT:
                return self.compare(">=", '""')
            case Holds.LIST:
                return Piece(f"(array_length({self.path}) != -1)")
            case Holds.NUMBER:
                return Piece(f"({self.path} <= 0 or {self.path} > 0)")
            case _ as never:
                assert_never(never)

    @property
    def _takes_lists(self) -> bool:
        """Whether `in` may be said here."""
        return self.kind is not ColumnKind.FLOAT and (self.on_server or not self.is_json)

    def _guarded(self, piece: Piece) -> Piece:
        return (
            every((self.present(), piece)) if self.nullable or self.blank or self.is_json else piece
        )

    def contradiction(self) -> Piece:
        """False of every row."""
        match self.holds:
            case Holds.BOOL:
                return Piece(f"({self.path} == true and {self.path} == false)")
            case Holds.TEXT:
                return Piece(f'({self.path} > "0" and {self.path} < "0")')
            case Holds.LIST:
                return Piece(f"(array_length({self.path}) == -1)")
            case Holds.NUMBER:
                return Piece(f"({self.path} > 0 and {self.path} < 0)")
            case _ as never:
                assert_never(never)
