"""Filters as Milvus expressions.

Negations stand at the comparisons only, guarded against missing values; every node is in
parentheses; only columns that the collection names and literals that were quoted here appear.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from schemas.check import Bound
from schemas.collection import Collection, ColumnKind, Field, FieldType
from schemas.compile.dialects import Dialect
from schemas.compile.lists import list_piece
from schemas.compile.literals import is_identifier, is_plain_path
from schemas.compile.ordered import scalar_piece
from schemas.compile.pieces import ALWAYS, Piece, every, some
from schemas.compile.places import Holds, Place
from schemas.compile.strings import or_blank, string_piece
from schemas.errors import FilterError
from schemas.filters import AllOf, Filter, Op, all_of
from schemas.negation import Every, Literal, Normal, Some, negation_normal
from schemas.storage import column_of, strays

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


@dataclass(frozen=True)
class Target:
    """What is compiled for. `trusting` takes foreign columns to hold values of the field's type
    only; without it the expression finds those that may match for want of one.
    """

    collection: Collection
    dialect: Dialect
    exact: bool
    trusting: bool = False


def to_milvus(b: Bound, dialect: Dialect, *, exact: bool = False) -> str:
    """The expression of a filter. It is empty for a filter without conditions only.

    `exact` is for scope: strings are compared as written. Foreign columns and JSON paths are
    taken to hold nothing but values of the field's type in one form. Raises FilterError on what
    the dialect cannot say; `split` can.
    """
    piece = _compile(b.root, Target(b.collection, dialect, exact, trusting=True))
    if piece.gap is not None and not piece.gap.untyped:
        raise FilterError(f"the filter cannot be said to Milvus as a whole: {piece.gap.why}")
    return _text(piece, b.collection)


def split(b: Bound, dialect: Dialect, *, exact: bool = False) -> Split:
    """The part of a filter that the engine can say, and the rest.

    `exact` is for scope, as in `to_milvus`; the rest then goes to the exact predicate. Raises
    FilterError only where the collection cannot answer at all: no column, or for scope none
    with the values as written.
    """
    target = Target(b.collection, dialect, exact)
    pieces = [(part, _compile(part, target)) for part in _conjuncts(b.root)]
    open_parts = [part for part, piece in pieces if piece.gap is not None]
    rest = Bound(all_of(*open_parts), b.collection, notes=b.notes) if open_parts else None
    return Split(_text(every(piece for _, piece in pieces), b.collection), rest)


def _conjuncts(f: Filter) -> list[Filter]:
    if isinstance(f, AllOf):
        return [inner for part in f.of for inner in _conjuncts(part)]
    return [f]


def _compile(f: Filter, target: Target) -> Piece:
    return _piece(negation_normal(f, target.collection), target)


def _piece(n: Normal, target: Target) -> Piece:
    match n:
        case Every(of=parts):
            return every(_piece(part, target) for part in parts)
        case Some(of=parts):
            return some(_piece(part, target) for part in parts)
        case Literal():
            return _leaf(n, target)
        case _:
            assert_never(n)


def _leaf(n: Literal, target: Target) -> Piece:
    field = target.collection.field(n.compare.field)
    path = column_of(field).path
    if path and target.dialect is not Dialect.LITE and not is_plain_path(path):
        return ALWAYS.but(f"{target.dialect} misreads the key {path[-1]!r} of {field.name!r}")
    piece = _typed_leaf(n, field, target)
    why = strays(n.compare, field, negated=n.negated)
    if why is None:
        return piece
    if n.compare.op is Op.EMPTY and not target.trusting:
        piece = or_blank(piece, field, target.dialect)
    return piece.but(why, untyped=True)


def _typed_leaf(n: Literal, field: Field, target: Target) -> Piece:
    """The comparison on values of the field's type."""
    if field.type.is_list:
        return list_piece(n.compare, n.negated, field, target.dialect, target.exact)
    if field.type is FieldType.STRING:
        return string_piece(n.compare, n.negated, field, target.dialect, target.exact)
    return scalar_piece(n.compare, field, target.dialect, trusting=target.trusting)


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
