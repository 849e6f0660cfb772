"""Comparisons of numbers, booleans, days and times in Milvus's expressions."""

from __future__ import annotations

import datetime as dt
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace

from schemas.bounds import INT64_MIN
from schemas.collection import Column, ColumnKind, Encoding, Field, FieldType
from schemas.compile.dialects import Dialect
from schemas.compile.literals import literal, quote
from schemas.compile.pieces import NEVER, Piece, every, some
from schemas.compile.places import Holds, Place
from schemas.compile.strings import ORDERINGS
from schemas.errors import FilterError
from schemas.filters import Compare, Op
from schemas.periods import EPOCH, FIRST_DAY, LAST_DAY, MS_PER_DAY, day_number, iso_day, iso_time
from schemas.storage import column_of
from schemas.values import Key, bound_keys, domain

_NUMERIC = frozenset({ColumnKind.INT, ColumnKind.FLOAT, ColumnKind.DOUBLE, ColumnKind.JSON})
_TEXT = frozenset({ColumnKind.VARCHAR, ColumnKind.JSON})
_EXACT = 2**53
_LARGEST = sys.float_info.max
_GRIDS = frozenset({FieldType.DATE, FieldType.DATETIME})
_ANY_ZONE = 2 * 86_400
"""Seconds by which a text of a time sorts off its instant at most, whatever its zone and form."""


def scalar_piece(c: Compare, field: Field, dialect: Dialect, *, trusting: bool) -> Piece:
    """A comparison on a field of numbers, booleans, days or times. `trusting` takes times in
    text columns for UTC in one form.
    """
    column = column_of(field)
    _check_kind(field, column)
    place = Place.of(column, dialect, _held(field, column))
    if c.op is Op.EMPTY:
        return place.missing()
    if c.op is Op.NOT_EMPTY:
        return place.present()
    items = c.value if isinstance(c.value, tuple) else () if c.value is None else (c.value,)
    keys = bound_keys(items, field)
    grid = None if domain(field) not in _GRIDS else _grid(column, field, trusting=trusting)
    if place.is_json and not trusting and domain(field) is FieldType.NUMBER:
        keys_are_exact = all(abs(float(key)) < _EXACT for key in keys)
        return _floats(c.op, keys, place) if keys_are_exact else _nearly(c.op, keys, place)
    return _compare(c.op, keys, field, grid, place)


def _held(field: Field, column: Column) -> Holds:
    if column.encoding in (Encoding.ISO_DAY, Encoding.ISO_TIME):
        return Holds.TEXT
    return Holds.BOOL if field.type is FieldType.BOOL else Holds.NUMBER


def _check_kind(field: Field, column: Column) -> None:
    if column.encoding in (Encoding.ISO_DAY, Encoding.ISO_TIME):
        allowed = _TEXT
    elif field.type is FieldType.BOOL:
        allowed = frozenset({ColumnKind.BOOL, ColumnKind.JSON})
    else:
        allowed = _NUMERIC
    if column.kind not in allowed:
        raise FilterError(f"field {field.name!r} is a {field.type}, its column holds {column.kind}")


def _compare(op: Op, keys: list[Key], field: Field, grid: Grid | None, place: Place) -> Piece:
    if grid is not None:
        return _on_grid(op, [int(key) for key in keys], grid, place)
    match domain(field):
        case FieldType.BOOL:
            return _bool(op, keys, place)
        case FieldType.INT:
            return _ints(op, [int(key) for key in keys], place)
        case _:
            return _floats(op, keys, place)


def _bool(op: Op, keys: list[Key], place: Place) -> Piece:
    wanted = {bool(key) for key in keys}
    if op.is_negative:
        wanted = {True, False} - wanted
    return some(place.equal(literal(value)) for value in sorted(wanted))


def _floats(op: Op, keys: list[Key], place: Place) -> Piece:
    """Zero stands apart from lists, in which Lite does not take it for -0.0."""
    literals = list(dict.fromkeys(literal(float(key)) for key in keys))
    if op in ORDERINGS:
        return place.ordered(ORDERINGS[op], literals[0])
    zero = [text for text in literals if text == "0.0"]
    others = [text for text in literals if text != "0.0"]
    if op.is_negative:
        return every(place.none_of(part) for part in (others, zero) if part or not literals)
    return some((place.any_of(others), place.any_of(zero)))


def _nearly(op: Op, keys: list[Key], place: Place) -> Piece:
    """A superset: to the filter language an int beyond 2**53 is its nearest double, engines may
    compare it as it is.
    """
    if op in (Op.LT, Op.GT):
        return _floats(op, keys, place)
    if op.is_negative:
        return place.present()
    low = [literal(max(math.nextafter(float(key), -math.inf), -_LARGEST)) for key in keys]
    high = [literal(min(math.nextafter(float(key), math.inf), _LARGEST)) for key in keys]
    if op is Op.LE:
        return place.ordered("<=", high[0])
    if op is Op.GE:
        return place.ordered(">=", low[0])
    pairs = zip(low, high, strict=True)
    return some(every((place.compare(">=", a), place.compare("<=", b))) for a, b in pairs)


def _ints(op: Op, numbers: list[int], place: Place) -> Piece:
    if op in ORDERINGS:
        return _int_ordering(op, numbers[0], place)
    unique = dict.fromkeys(numbers)
    least = INT64_MIN in unique
    literals = [str(number) for number in unique if number != INT64_MIN]
    if op.is_negative:
        others = [place.none_of(literals)] if literals or not least else []
        return every([*others, *([_int_ordering(Op.GT, INT64_MIN, place)] if least else [])])
    lowest = [_int_ordering(Op.LE, INT64_MIN, place)] if least else []
    return some([place.any_of(literals), *lowest])


def _int_ordering(op: Op, number: int, place: Place) -> Piece:
    """The least 64-bit int is no literal of every engine; its neighbour serves."""
    if number == INT64_MIN:
        match op:
            case Op.GE:
                return place.present()
            case Op.LT:
                return NEVER
            case Op.GT:
                return place.compare(">=", literal(number + 1))
            case _:
                return place.compare("<", literal(number + 1))
    return place.compare(ORDERINGS[op], literal(number))


@dataclass(frozen=True)
class Grid:
    """How instants stand in a column. `below` and `above` bring a key of the field to the
    nearest position at or below, at or above it; `write` gives the literal of a position, None
    beyond the calendar. `span` is the number of positions that make one key, `single` whether
    a position has one literal only, so that it can be compared for equality. `blur` is by how
    many positions a value may stand off.
    """

    below: Callable[[int], int]
    above: Callable[[int], int]
    write: Callable[[int], str | None]
    span: int = 1
    single: bool = True
    blur: int = 0


def _grid(column: Column, field: Field, *, trusting: bool) -> Grid:
    per_key = MS_PER_DAY if field.type is FieldType.DATETIME else 1
    match column.encoding:
        case Encoding.DAY_NUMBER:
            return _coarse(per_key, literal)
        case Encoding.ISO_DAY:
            return _coarse(per_key, _calendar(lambda day: quote(iso_day(day))))
        case Encoding.YYYYMMDD:
            return _coarse(
                per_key, _calendar(lambda day: iso_day(day).replace("-", "").lstrip("0"))
            )
        case Encoding.YEAR:
            return _years(per_key)
        case Encoding.EPOCH_MS:
            return _instants(field, 1, literal)
        case Encoding.EPOCH_S:
            return _instants(field, 1000, literal)
        case Encoding.ISO_TIME if field.type is FieldType.DATE:
            day = _coarse(1, _calendar(lambda day: quote(iso_day(day))))
            return replace(day, single=False)
        case Encoding.ISO_TIME:
            blur = 0 if trusting else _ANY_ZONE
            return replace(_coarse(1000, _calendar_second), single=False, blur=blur)
        case Encoding.FOLDED | Encoding.EXACT:
            raise FilterError(
                f"field {field.name!r} is a {field.type}, "
                f"its column's encoding {column.encoding} holds none"
            )


def _coarse(unit: int, write: Callable[[int], str | None]) -> Grid:
    return Grid(lambda key: key // unit, lambda key: -(-key // unit), write)


def _instants(field: Field, unit: int, write: Callable[[int], str | None]) -> Grid:
    """Positions are `unit` milliseconds apart; of days, each makes many positions."""
    if field.type is FieldType.DATETIME:
        return _coarse(unit, write)
    span = MS_PER_DAY // unit
    return Grid(lambda day: day * span, lambda day: day * span, write, span)


def _calendar(write: Callable[[int], str]) -> Callable[[int], str | None]:
    return lambda day: write(day) if FIRST_DAY <= day <= LAST_DAY else None


def _calendar_second(second: int) -> str | None:
    """A time without fraction and zone, below all texts of that second."""
    day = second * 1000 // MS_PER_DAY
    if day > LAST_DAY:
        return None
    ms = second * 1000 if day >= FIRST_DAY else FIRST_DAY * MS_PER_DAY
    return quote(iso_time(ms).removesuffix("Z"))


def _years(unit: int) -> Grid:
    def year(key: int) -> int:
        day = min(max(key // unit, FIRST_DAY), LAST_DAY)
        return (EPOCH + dt.timedelta(days=day)).year

    def above(key: int) -> int:
        found = year(key)
        return found if day_number(dt.date(found, 1, 1)) * unit >= key else found + 1

    return Grid(year, above, literal)


def _on_grid(op: Op, keys: list[int], grid: Grid, place: Place) -> Piece:
    if op in ORDERINGS:
        return _grid_ordering(op, keys[0], grid, place)
    if grid.blur and op.is_negative:
        return place.present()
    first = grid.above if grid.single else grid.below
    spans = [(first(key), grid.below(key) + grid.span) for key in dict.fromkeys(keys)]
    spans = [(s - grid.blur, after + grid.blur) for s, after in spans if s < after]
    if grid.single and grid.span == 1:
        literals = [text for start, _ in spans if (text := grid.write(start)) is not None]
        return place.none_of(literals) if op.is_negative else place.any_of(literals)
    if not op.is_negative:
        return some(
            every((_more(grid.write(start), place), _less(grid.write(after), place)))
            for start, after in spans
        )
    outside = [
        some((_less(grid.write(start), place), _more(grid.write(after), place)))
        for start, after in spans
    ]
    return every(outside) if outside else place.present()


def _grid_ordering(op: Op, key: int, grid: Grid, place: Place) -> Piece:
    start, after = grid.above(key), grid.below(key) + grid.span
    match op:
        case Op.LT:
            return _less(grid.write(start + grid.blur), place)
        case Op.LE:
            return _less(grid.write(after + grid.blur), place)
        case Op.GE:
            return _more(grid.write(start - grid.blur), place)
        case _:
            return _more(grid.write(after - grid.blur), place)


def _less(text: str | None, place: Place) -> Piece:
    return place.present() if text is None else place.ordered("<", text)


def _more(text: str | None, place: Place) -> Piece:
    return NEVER if text is None else place.compare(">=", text)
