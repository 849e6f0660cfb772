"""Comparisons of lists in Milvus's expressions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from schemas.collection import Column, ColumnKind, Encoding, Field, FieldType
from schemas.compile.dialects import Dialect
from schemas.compile.known import known_matches, positive_form
from schemas.compile.literals import is_plain, literal, literal_list, quote
from schemas.compile.pieces import NEVER, Piece, every, some
from schemas.compile.places import Place
from schemas.compile.strings import Pattern
from schemas.errors import FilterError
from schemas.filters import Compare, Op
from schemas.folding import fold
from schemas.storage import is_enumerated

SEPARATOR = "\x1f"
"""Stands before, between and after the elements in a joined column."""

_MANY = 50
"""From so many alternatives on, one look into the array is cheaper than as many patterns."""


def list_piece(c: Compare, negated: bool, field: Field, dialect: Dialect, exact: bool) -> Piece:
    """A comparison (or the negation of one that has no opposite) on a list field."""
    column = field.column
    assert column is not None
    if exact and c.op.takes_value and not _has_exact(field, column):
        raise FilterError(f"field {field.name!r} has no column with its elements as written")
    if column.kind is ColumnKind.JSON:
        return _json(c, column, dialect)
    if column.kind is not ColumnKind.ARRAY:
        raise FilterError(f"field {field.name!r} is a list, its column holds {column.kind}")
    store = ListColumn.of(column, dialect)
    if c.op is Op.EMPTY:
        return store.missing()
    if c.op is Op.NOT_EMPTY:
        return store.present()
    found = _positive(c, field, store, exact)
    if found.gap is not None and (negated or c.op.is_negative):
        return store.present().but(found.gap.why)
    return store.negated(found) if negated or c.op.is_negative else found


def _has_exact(field: Field, column: Column) -> bool:
    return field.type is FieldType.INT_LIST or column.encoding is Encoding.EXACT


def _json(c: Compare, column: Column, dialect: Dialect) -> Piece:
    """Engines differ on lists in JSON: what is there, and the rest is left to the predicate."""
    place = Place.of(column, dialect)
    why = f"lists in JSON ({place.path}) are compared outside the engine"
    if c.op is Op.EMPTY:
        return some((place.present(), place.missing())).but(why)
    return place.present().but(why)


class ListColumn:
    """An array, and the joined text of its elements where there is one."""

    def __init__(self, array: Place, joined: Place | None, dialect: Dialect) -> None:
        self.array = array
        self.joined = joined
        self.dialect = dialect

    @classmethod
    def of(cls, column: Column, dialect: Dialect) -> ListColumn:
        joined = None
        if column.joined is not None:
            update = {"name": column.joined, "kind": ColumnKind.VARCHAR}
            folded = column.model_copy(update={**update, "encoding": Encoding.FOLDED})
            joined = Place.of(folded, dialect, text=True)
        return cls(Place.of(column, dialect), joined, dialect)

    def present(self) -> Piece:
        if self.joined is not None:
            return self.joined.present()
        full = Piece(f"(array_length({self.array.path}) > 0)")
        return every((self.array.present(), full)) if self.array.nullable else full

    def missing(self) -> Piece:
        if self.joined is not None:
            return self.joined.missing()
        bare = Piece(f"(array_length({self.array.path}) == 0)")
        return some((self.array.missing(), bare)) if self.array.nullable else bare

    def negated(self, found: Piece) -> Piece:
        if found.never:
            return self.present()
        return every((self.present(), Piece(f"(not {found.text})")))

    def has_any(self, elements: Sequence[str | int]) -> Piece:
        """Some element equals one of these."""
        if not elements:
            return NEVER
        if self.joined is not None and self.dialect is Dialect.LITE and len(elements) < _MANY:
            return some(self._one(element) for element in elements)
        return self._look(elements)

    def _one(self, element: str | int) -> Piece:
        text = str(element)
        if self.joined is None or not is_plain(text):
            return self._look([element])
        return self.inside(f"{SEPARATOR}{text}{SEPARATOR}")

    def _look(self, elements: Sequence[str | int]) -> Piece:
        """The single form takes no negative number on Lite."""
        literals = [literal(element) for element in elements]
        if len(literals) == 1 and not literals[0].startswith("-"):
            return Piece(f"(array_contains({self.array.path}, {literals[0]}))")
        return Piece(f"(array_contains_any({self.array.path}, {literal_list(literals)}))")

    def inside(self, text: str) -> Piece:
        """The joined text holds this text."""
        assert self.joined is not None
        return Pattern(text).piece(self.joined, self.dialect)


def _positive(c: Compare, field: Field, store: ListColumn, exact: bool) -> Piece:
    op = positive_form(c).op
    items = c.value if isinstance(c.value, tuple) else (c.value,)
    values = [item if isinstance(item, int) else str(item) for item in items]
    if op in (Op.EQ, Op.IN, Op.CONTAINS):
        return store.has_any(_elements(positive_form(c), values, field, exact))
    column = field.column
    assert column is not None
    if field.type is FieldType.STRING_LIST and is_enumerated(field) and not exact:
        known = [_stored(value, column) for value in known_matches(c, field)]
        return store.has_any(list(dict.fromkeys(known)))
    why = f"{op} on the elements of {field.name!r} is checked outside the engine"
    match op:
        case Op.STARTS_WITH | Op.ENDS_WITH if store.joined is not None and not exact:
            text = fold(str(values[0]))
            starts = op is Op.STARTS_WITH
            return store.inside(f"{SEPARATOR}{text}" if starts else f"{text}{SEPARATOR}")
        case _:
            return store.present().but(why)


def _elements(
    c: Compare, values: Sequence[str | int], field: Field, exact: bool
) -> Sequence[str | int]:
    """The elements to look for as they stand in the column."""
    column = field.column
    assert column is not None
    if field.type is FieldType.INT_LIST or exact:
        return list(dict.fromkeys(values))
    spelt = [_stored(str(value), column) for value in values]
    if column.encoding is not Encoding.FOLDED:
        spelt += known_matches(c, field)
    return list(dict.fromkeys(spelt))


def _stored(text: str, column: Column) -> str:
    return fold(text) if column.encoding is Encoding.FOLDED else text


__all__ = ["SEPARATOR", "ListColumn", "list_piece", "quote"]
_ = assert_never
