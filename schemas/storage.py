"""What the columns of a foreign collection can say of a comparison, and what not."""

from __future__ import annotations

from collections.abc import Iterator

from schemas.collection import Column, ColumnKind, Encoding, Field, FieldType
from schemas.errors import FilterError
from schemas.filters import Compare, Op


def storage_notes(leaf: Compare, field: Field) -> Iterator[str]:
    """Sentences for the people who read an explanation; none for our own collections."""
    column = field.column
    if column is None or not leaf.op.takes_value:
        return
    if field.type.element is FieldType.STRING and column.encoding is not Encoding.FOLDED:
        yield _unfolded(field)
    if column.encoding is Encoding.YEAR:
        yield f"{field.name!r} is stored as a year, which stands for its first day"
    if column.kind is ColumnKind.JSON:
        yield _untyped(field, column)


def _unfolded(field: Field) -> str:
    if is_enumerated(field):
        return f"{field.name!r} is stored as written; compared through its known values"
    return f"{field.name!r} is stored as written; the engine compares it letter by letter"


def _untyped(field: Field, column: Column) -> str:
    where = ".".join((column.name, *column.path))
    return f"{field.name!r} is read from {where}; only values of type {field.type} are found"


_FOUND_ONLY_BY_VALUE = frozenset({Op.EQ, Op.IN, Op.CONTAINS, Op.STARTS_WITH, Op.ENDS_WITH})
_DATED = frozenset({Encoding.ISO_DAY, Encoding.ISO_TIME, Encoding.YYYYMMDD, Encoding.YEAR})


def strays(leaf: Compare, field: Field, *, negated: bool) -> str | None:
    """Why the engine may see a value where the filter language sees a missing one: other types
    in JSON, texts and numbers that are no dates, white space. None if that cannot be, or makes
    no difference to the comparison.
    """
    column = column_of(field)
    if column.kind is ColumnKind.JSON:
        return f"JSON holds values of any type, also where {field.name!r} is"
    if field.type in (FieldType.DATE, FieldType.DATETIME):
        is_dated = column.encoding in _DATED
        return f"{field.name!r} may hold what is no date" if is_dated else None
    is_text = field.type.element is FieldType.STRING and column.encoding is not Encoding.FOLDED
    if is_text and (negated or leaf.op not in _FOUND_ONLY_BY_VALUE):
        return f"{field.name!r} may hold white space only, which counts as missing"
    return None


def column_of(field: Field) -> Column:
    """Where the field is stored; raises FilterError on a field that is only described."""
    if field.column is None:
        raise FilterError(f"field {field.name!r} has no column to filter by")
    return field.column


def is_enumerated(field: Field) -> bool:
    """True if every value that occurs is known."""
    return field.profile is not None and field.profile.complete and bool(field.values)
