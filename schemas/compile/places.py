"""A place where values stand in the engine, and the comparisons that the engine makes there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from schemas.collection import Column, ColumnKind, Encoding
from schemas.compile.dialects import Dialect
from schemas.compile.literals import identifier, json_path, literal_list
from schemas.compile.pieces import NEVER, Piece, every, some


@dataclass(frozen=True)
class Place:
    """A column or JSON path. Literals are handed in as they are written in an expression.

    Negative comparisons are guarded against missing values. `blank` says that an empty string
    may stand where nothing is meant.
    """

    path: str
    kind: ColumnKind
    nullable: bool
    blank: bool

    @classmethod
    def of(cls, column: Column, dialect: Dialect, *, text: bool = False) -> Place:
        """`text` where the values are strings, of which our own columns hold none that is blank."""
        is_json = column.kind is ColumnKind.JSON
        nullable = column.nullable and dialect.has_nulls
        return cls(
            path=json_path(column.name, column.path) if is_json else identifier(column.name),
            kind=column.kind,
            nullable=nullable,
            blank=text and not (column.encoding is Encoding.FOLDED and nullable and not is_json),
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
        """Equal to one of the literals; `in` takes no JSON path."""
        if not literals:
            return NEVER
        if len(literals) == 1 or self.is_json or self.kind is ColumnKind.FLOAT:
            return some(self.equal(literal) for literal in literals)
        return self.compare("in", literal_list(list(literals)))

    def none_of(self, literals: Sequence[str]) -> Piece:
        if not literals:
            return self.present()
        if len(literals) == 1 or self.is_json or self.kind is ColumnKind.FLOAT:
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
        null = Piece(f"(not (exists {self.path}))" if self.is_json else f"({self.path} is null)")
        parts = [null] if self.nullable or self.is_json else []
        if self.blank:
            parts.append(self.compare("==", '""'))
        return some(parts)

    def _not_null(self) -> Piece | None:
        if self.is_json:
            return Piece(f"(exists {self.path})")
        if self.nullable:
            return Piece(f"({self.path} is not null)")
        return None if self.blank else self._anything()

    def _anything(self) -> Piece:
        """True of every value of a column that cannot be null."""
        match self.kind:
            case ColumnKind.BOOL:
                return Piece(f"({self.path} == true or {self.path} == false)")
            case ColumnKind.VARCHAR | ColumnKind.JSON:
                return self.compare(">=", '""')
            case ColumnKind.ARRAY:
                return Piece(f"(array_length({self.path}) >= 0)")
            case ColumnKind.FLOAT | ColumnKind.DOUBLE:
                return Piece(f"({self.path} <= 0.0 or {self.path} > 0.0)")
            case ColumnKind.INT:
                return Piece(f"({self.path} <= 0 or {self.path} > 0)")

    def _guarded(self, piece: Piece) -> Piece:
        return every((self.present(), piece)) if self.nullable or self.blank else piece

    def contradiction(self) -> Piece:
        """False of every row."""
        if self.kind is ColumnKind.ARRAY:
            return Piece(f"(array_length({self.path}) < 0)")
        if self.kind is ColumnKind.BOOL:
            return Piece(f"({self.path} == true and {self.path} == false)")
        bound = '"0"' if self.kind is ColumnKind.VARCHAR else "0"
        return Piece(f"({self.path} > {bound} and {self.path} < {bound})")
