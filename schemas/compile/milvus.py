"""Filters as Milvus expressions.

Negations stand at the comparisons only, guarded against missing values; every node is in
parentheses; only columns that the collection names and literals that were quoted here appear.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from schemas.check import Bound
from schemas.collection import Collection, ColumnKind, FieldType
from schemas.compile.dialects import Dialect
from schemas.compile.lists import list_piece
from schemas.compile.literals import is_identifier
from schemas.compile.ordered import scalar_piece
from schemas.compile.pieces import Piece, every, some
from schemas.compile.places import Holds, Place
from schemas.compile.strings import string_piece
from schemas.errors import FilterError
from schemas.filters import AllOf, Filter, all_of
from schemas.negation import Every, Literal, Normal, Some, negation_normal

__all__ = ["Dialect", "Split", "split", "to_milvus"]

_HELD = {
    ColumnKind.VARCHAR: Holds.TEXT,
    ColumnKind.INT: Holds.NUMBER,
    ColumnKind.FLOAT: Holds.NUMBER,
    ColumnKind.DOUBLE: Holds.NUMBER,
    ColumnKind.BOOL: Holds.BOOL,
    ColumnKind.ARRAY: Holds.LIST,
}


@dataclass(frozen=True)
class Split:
    """An expression that finds all matching rows and perhaps more, and what it leaves open:
    `rest` has to be checked by the predicate on what is found.
    """

    pushed: str
    rest: Bound | None


def to_milvus(b: Bound, dialect: Dialect, *, exact: bool = False) -> str:
    """The expression of a filter. It is empty for a filter without conditions only.

    `exact` is for scope: strings are compared as written. Values of a JSON path are taken to
    have the field's type. Raises FilterError on what the dialect cannot say; `split` can.
    """
    piece = _compile(b.root, b.collection, dialect, exact)
    if piece.gap is not None and not piece.gap.untyped:
        raise FilterError(f"the filter cannot be said to Milvus as a whole: {piece.gap.why}")
    return _text(piece, b.collection)


def split(b: Bound, dialect: Dialect, *, exact: bool = False) -> Split:
    """The part of a filter that the engine can say, and the rest.

    `exact` is for scope, as in `to_milvus`; the rest then goes to the exact predicate. Raises
    FilterError only where the collection cannot answer at all: no column, or for scope none
    with the values as written.
    """
    pieces = [(part, _compile(part, b.collection, dialect, exact)) for part in _conjuncts(b.root)]
    open_parts = [part for part, piece in pieces if piece.gap is not None]
    rest = Bound(all_of(*open_parts), b.collection, notes=b.notes) if open_parts else None
    return Split(_text(every(piece for _, piece in pieces), b.collection), rest)


def _conjuncts(f: Filter) -> list[Filter]:
    if isinstance(f, AllOf):
        return [inner for part in f.of for inner in _conjuncts(part)]
    return [f]


def _compile(f: Filter, c: Collection, dialect: Dialect, exact: bool) -> Piece:
    return _piece(negation_normal(f, c), c, dialect, exact)


def _piece(n: Normal, c: Collection, dialect: Dialect, exact: bool) -> Piece:
    match n:
        case Every(of=parts):
            return every(_piece(part, c, dialect, exact) for part in parts)
        case Some(of=parts):
            return some(_piece(part, c, dialect, exact) for part in parts)
        case Literal():
            return _leaf(n, c, dialect, exact)
        case _:
            assert_never(n)


def _leaf(n: Literal, c: Collection, dialect: Dialect, exact: bool) -> Piece:
    field = c.field(n.compare.field)
    if field.type.is_list:
        return list_piece(n.compare, n.negated, field, dialect, exact)
    if field.type is FieldType.STRING:
        return string_piece(n.compare, n.negated, field, dialect, exact)
    return scalar_piece(n.compare, field, dialect)


def _text(piece: Piece, c: Collection) -> str:
    if piece.never:
        return _contradiction(c)
    return piece.text


def _contradiction(c: Collection) -> str:
    """An expression that no row satisfies, in terms of some column."""
    for field in c.fields:
        column = field.column
        if column is not None and column.kind is not ColumnKind.JSON and is_identifier(column.name):
            return Place.of(column, Dialect.LITE, _HELD[column.kind]).contradiction().text
    return "(1 == 2)"
