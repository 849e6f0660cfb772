"""Comparisons of strings in Milvus's expressions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from schemas.collection import Column, ColumnKind, Encoding, Field, FieldType
from schemas.compile.dialects import Dialect
from schemas.compile.known import known_matches, positive_form
from schemas.compile.literals import after_prefix, is_plain, like_text, plain_runs, quote
from schemas.compile.pieces import ALWAYS, Piece, every, some
from schemas.compile.places import Holds, Place
from schemas.errors import FilterError
from schemas.filters import Compare, Op
from schemas.folding import fold
from schemas.storage import column_of, is_enumerated

ORDERINGS = {Op.GT: ">", Op.GE: ">=", Op.LT: "<", Op.LE: "<="}


@dataclass(frozen=True)
class Pattern:
    """A text to be found inside, with what it must begin or end with."""

    text: str
    before: str = "%"
    after: str = "%"

    def piece(self, place: Place, dialect: Dialect) -> Piece:
        """`like`, or a weaker one with a gap where the dialect cannot say the text."""
        if not dialect.has_infix:
            return place.present().but(f"{dialect} has no search inside a text")
        if is_plain(self.text):
            return self._like(place, self.text)
        if dialect.has_escapes:
            return self._like(place, like_text(self.text))
        runs = [place.compare("like", quote(f"%{run}%")) for run in plain_runs(self.text)]
        weaker = every(runs) if runs else place.present()
        return weaker.but(f"{dialect} cannot look for {self.text!r}: it holds %, _ or \\")

    def _like(self, place: Place, pattern: str) -> Piece:
        return place.compare("like", quote(f"{self.before}{pattern}{self.after}"))


def prefix_range(place: Place, prefix: str) -> Piece:
    """What starts with the prefix, as a range: no pattern, no escapes."""
    end = after_prefix(prefix)
    first = place.compare(">=", quote(prefix))
    return first if end is None else every((first, place.compare("<", quote(end))))


def string_piece(c: Compare, negated: bool, field: Field, dialect: Dialect, exact: bool) -> Piece:
    """A comparison (or the negation of one that has no opposite) on a string field."""
    column = _column(field, exact=exact)
    place = Place.of(column, dialect, Holds.TEXT)
    if c.op is Op.EMPTY:
        return place.missing()
    if c.op is Op.NOT_EMPTY:
        return place.present()
    values = [str(item) for item in (c.value if isinstance(c.value, tuple) else (c.value,))]
    if exact:
        return _compare(c.op, values, negated, place, dialect)
    if column.encoding is Encoding.FOLDED:
        return _compare(c.op, [fold(value) for value in values], negated, place, dialect)
    if is_enumerated(field):
        return _known(c, negated, field, place)
    if positive_form(c).op not in (Op.EQ, Op.IN):
        return _compare(c.op, values, negated, place, dialect)
    spelt = [*values, *known_matches(positive_form(c), field)]
    return _compare(Op.NOT_IN if c.op.is_negative else Op.IN, spelt, negated, place, dialect)


_WHITE = ("\x85", "\xa0", "\u1680", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000")


def or_blank(missing: Piece, field: Field, dialect: Dialect) -> Piece:
    """What is missing, or may be because it is white space; all if only the predicate can tell."""
    column = column_of(field)
    if column.kind is not ColumnKind.VARCHAR or field.type is not FieldType.STRING:
        return ALWAYS
    place = Place.of(column, dialect, Holds.TEXT)
    spaces = every((place.compare(">=", quote("\u2000")), place.compare("<", quote("\u200b"))))
    others = [prefix_range(place, sign) for sign in _WHITE]
    return some((missing, place.compare("<", quote("!")), spaces, *others))


def _column(field: Field, *, exact: bool) -> Column:
    column = column_of(field)
    if column.kind not in (ColumnKind.VARCHAR, ColumnKind.JSON):
        raise FilterError(f"field {field.name!r} is a string, its column holds {column.kind}")
    if not exact or column.encoding is Encoding.EXACT:
        return column
    if column.exact is None:
        raise FilterError(f"field {field.name!r} has no column with its values as written")
    return column.model_copy(update={"name": column.exact, "encoding": Encoding.EXACT})


def _known(c: Compare, negated: bool, field: Field, place: Place) -> Piece:
    """Through the values that occur: the engine is asked for those that match. A value that
    has come up since is found by negative comparisons and by equality as written.
    """
    positive = positive_form(c)
    spelt = list(c.value) if isinstance(c.value, tuple) else [c.value]
    extra = [str(v) for v in spelt if positive.op in (Op.EQ, Op.IN)]
    quoted = list(dict.fromkeys(map(quote, [*extra, *known_matches(positive, field)])))
    return place.none_of(quoted) if negated or c.op.is_negative else place.any_of(quoted)


def _compare(op: Op, values: Sequence[str], negated: bool, place: Place, dialect: Dialect) -> Piece:
    quoted = list(dict.fromkeys(map(quote, values)))
    match op:
        case Op.EQ | Op.IN:
            return place.any_of(quoted)
        case Op.NE | Op.NOT_IN:
            return place.none_of(quoted)
        case Op.GT | Op.GE | Op.LT | Op.LE:
            return place.ordered(ORDERINGS[op], quoted[0])
        case Op.CONTAINS:
            return Pattern(values[0]).piece(place, dialect)
        case Op.NOT_CONTAINS:
            return _without(Pattern(values[0]), place, dialect)
        case Op.STARTS_WITH:
            return _prefix(values[0], negated, place)
        case Op.ENDS_WITH:
            pattern = Pattern(values[0], after="")
            return _without(pattern, place, dialect) if negated else pattern.piece(place, dialect)
        case Op.EMPTY | Op.NOT_EMPTY:
            raise AssertionError(f"{op} compares nothing")
        case _ as never:
            assert_never(never)


def _prefix(prefix: str, negated: bool, place: Place) -> Piece:
    if not negated:
        return prefix_range(place, prefix)
    end = after_prefix(prefix)
    outside = [place.ordered("<", quote(prefix))]
    if end is not None:
        outside.append(place.compare(">=", quote(end)))
    return some(outside)


def _without(pattern: Pattern, place: Place, dialect: Dialect) -> Piece:
    """Present, and not found by the pattern; all that is present where it cannot be said."""
    found = pattern.piece(place, dialect)
    if found.gap is not None:
        return place.present().but(found.gap.why)
    return place.negated(found)
