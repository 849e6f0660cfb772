"""Comparisons of lists in Milvus's expressions."""

from __future__ import annotations

from collections.abc import Sequence

from schemas.collection import Column, ColumnKind, Encoding, Field, FieldType
from schemas.compile.dialects import Dialect
from schemas.compile.known import known_matches, positive_form
from schemas.compile.list_columns import ListColumn
from schemas.compile.pieces import Piece, some
from schemas.compile.places import Holds, Place
from schemas.errors import FilterError
from schemas.filters import Compare, Op
from schemas.folding import fold
from schemas.storage import column_of, is_enumerated


def list_piece(c: Compare, negated: bool, field: Field, dialect: Dialect, exact: bool) -> Piece:
    """A comparison (or the negation of one that has no opposite) on a list field."""
    column = column_of(field)
    if column.kind is ColumnKind.JSON:
        return _json(c, column, dialect)
    if column.kind is not ColumnKind.ARRAY:
        raise FilterError(f"field {field.name!r} is a list, its column holds {column.kind}")
    store = _store(field, column, dialect, exact=exact and c.op.takes_value)
    if c.op is Op.EMPTY:
        return store.missing()
    if c.op is Op.NOT_EMPTY:
        return store.present()
    found = _found(positive_form(c), field, store, exact)
    return store.without(found) if negated or c.op.is_negative else found


def _store(field: Field, column: Column, dialect: Dialect, *, exact: bool) -> ListColumn:
    is_folded = column.encoding is Encoding.FOLDED and field.type is FieldType.STRING_LIST
    if not (exact and is_folded):
        return ListColumn.of(column, dialect)
    if column.exact is None:
        raise FilterError(f"field {field.name!r} has no column with its elements as written")
    return ListColumn.as_written(column, column.exact, dialect)


def _json(c: Compare, column: Column, dialect: Dialect) -> Piece:
    """Engines differ on lists in JSON: they say what is there, the predicate does the rest."""
    place = Place.of(column, dialect, Holds.LIST)
    why = f"lists in JSON ({place.path}) are compared outside the engine"
    if c.op is Op.EMPTY:
        return some((place.present(), place.missing())).but(why)
    return place.present().but(why)


def _found(c: Compare, field: Field, store: ListColumn, exact: bool) -> Piece:
    items = c.value if isinstance(c.value, tuple) else (c.value,)
    values = [item if isinstance(item, int) else str(item) for item in items]
    folded = column_of(field).encoding is Encoding.FOLDED and not exact
    stored = [fold(v) if folded and isinstance(v, str) else v for v in values]
    known = field.type is FieldType.STRING_LIST and not exact and not folded
    if c.op in (Op.EQ, Op.IN, Op.CONTAINS):
        return store.has_any(_unique([*stored, *(known_matches(c, field) if known else ())]))
    if known and is_enumerated(field):
        return store.has_any(_unique(known_matches(c, field)))
    found: Piece | None = None
    if c.op is Op.STARTS_WITH:
        found = store.starting(str(stored[0]))
    elif c.op is Op.ENDS_WITH:
        found = store.ending(str(stored[0]))
    why = f"{c.op} on the elements of {field.name!r} is checked outside the engine"
    return store.present().but(why) if found is None else found


def _unique(values: Sequence[str | int]) -> list[str | int]:
    return list(dict.fromkeys(values))
