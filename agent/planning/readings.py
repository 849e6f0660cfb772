"""The uses of a mention on one field, by kind of mention and type of field."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from typing import assert_never

from pydantic import JsonValue

from agent.planning.cues import Direction
from agent.planning.facets import is_boolean
from agent.planning.use import Use
from schemas.collection import Field, FieldType
from schemas.filters import Compare, Element, Op
from schemas.mentions import Choice, Mention, MentionKind

DATES = (FieldType.DATE, FieldType.DATETIME)
_ORDERED = (FieldType.INT, FieldType.NUMBER)
_DATE_WORDS = {
    Direction.IN: "in",
    Direction.BEFORE: "before",
    Direction.UNTIL: "up to",
    Direction.SINCE: "since",
    Direction.AFTER: "after",
}
_NUMBER_WORDS = {
    Direction.IN: "is",
    Direction.BEFORE: "below",
    Direction.UNTIL: "at most",
    Direction.SINCE: "at least",
    Direction.AFTER: "above",
}
NUMBER_OPS = {
    Direction.IN: Op.EQ,
    Direction.BEFORE: Op.LT,
    Direction.UNTIL: Op.LE,
    Direction.SINCE: Op.GE,
    Direction.AFTER: Op.GT,
}


def readings(mention: Mention, field: Field, choices: list[Choice]) -> Iterable[Use]:
    """The uses of a mention on one field; `choices` are those of this field."""
    match mention.kind:
        case MentionKind.PRESENCE:
            return _presence(mention, field)
        case MentionKind.PERIOD if field.type in DATES:
            return _period(mention, field, choices[0])
        case _ if is_boolean(field):
            return _boolean(mention, field)
        case MentionKind.PERIOD | MentionKind.NUMBER if field.type in _ORDERED:
            return _number(mention, field, choices[0])
        case MentionKind.VALUE if isinstance(choices[0].value, list):
            return _number(mention, field, choices[0])
        case MentionKind.SPAN if field.type is FieldType.STRING:
            return _text(mention, field, choices[0])
        case (
            MentionKind.VALUE
            | MentionKind.SPAN
            | MentionKind.NUMBER
            | MentionKind.PERIOD
            | MentionKind.EARLIER
        ):
            return _value(mention, field, choices)
        case _:
            assert_never(mention.kind)


def _presence(mention: Mention, field: Field) -> Iterable[Use]:
    missing = "missing" in mention.hint.split()
    op, word = (Op.EMPTY, "is missing") if missing else (Op.NOT_EMPTY, "is present")
    yield Use(f"{field.name} {word}", field.name, (Compare(op=op, field=field.name),))


def _boolean(mention: Mention, field: Field) -> Iterable[Use]:
    for wanted in (True, False):
        value = truth(field, wanted)
        word = "true" if wanted else "false"
        part = Compare(op=Op.EQ, field=field.name, value=value)
        yield Use(f"{field.name} is {word}", field.name, (part,), excluded=not wanted, flag=True)


def truth(field: Field, wanted: bool) -> Element:
    if field.type is FieldType.BOOL:
        return wanted
    positive = {"true", "yes", "是", "y", "1"}
    return next(value for value in field.values if (str(value).casefold() in positive) is wanted)


def _value(mention: Mention, field: Field, choices: list[Choice]) -> Iterable[Use]:
    values = tuple(dict.fromkeys(v for c in choices if (v := element(c.value)) is not None))
    if not values:
        return
    listed = field.type.is_list
    if len(values) > 1:
        yes, no, value = Op.IN, Op.NOT_IN, values
        yield from _both(
            field,
            "has" if listed else "is",
            Compare(op=yes, field=field.name, value=value),
            Compare(op=no, field=field.name, value=value),
        )
        return
    yes, no = (Op.CONTAINS, Op.NOT_CONTAINS) if listed else (Op.EQ, Op.NE)
    yield from _both(
        field,
        "has" if listed else "is",
        Compare(op=yes, field=field.name, value=values[0]),
        Compare(op=no, field=field.name, value=values[0]),
    )


def _both(field: Field, verb: str, wanted: Compare, unwanted: Compare) -> Iterable[Use]:
    yield Use(f"{field.name} {verb}", field.name, (wanted,))
    yield Use(f"{field.name} {verb} not", field.name, (unwanted,), excluded=True)


def _text(mention: Mention, field: Field, choice: Choice) -> Iterable[Use]:
    value = element(choice.value)
    if value is None:
        return
    hints = mention.hint.split()
    for op in (Op.STARTS_WITH, Op.ENDS_WITH):
        if op.value in hints:
            word = f"{field.name} {op.value.replace('_', ' ')}"
            yield Use(word, field.name, (Compare(op=op, field=field.name, value=value),))
            return
    if Op.CONTAINS.value in hints:
        wanted, unwanted, verb = Op.CONTAINS, Op.NOT_CONTAINS, "contains"
    else:
        wanted, unwanted, verb = Op.EQ, Op.NE, "is"
    yield from _both(
        field,
        verb,
        Compare(op=wanted, field=field.name, value=value),
        Compare(op=unwanted, field=field.name, value=value),
    )


def _period(mention: Mention, field: Field, choice: Choice) -> Iterable[Use]:
    if not (isinstance(choice.value, list | tuple) and len(choice.value) == 2):
        return
    start, end = str(choice.value[0]), str(choice.value[1])
    for direction in _directions(mention):
        parts = _period_parts(field.name, direction, start, end)
        yield Use(f"{field.name} {_DATE_WORDS[direction]}", field.name, parts)
    if _may_be_excluded(mention):
        yield _outside(field.name, start, end)


def _outside(field: str, start: str, end: str) -> Use:
    """Not in a period: one comparison where the period has a name, else before or after it."""
    name = period_name(dt.date.fromisoformat(start), dt.date.fromisoformat(end))
    if name is not None:
        part = Compare(op=Op.NE, field=field, value=name)
        return Use(f"{field} not in", field, (part,), excluded=True)
    parts = (
        Compare(op=Op.LT, field=field, value=start),
        Compare(op=Op.GE, field=field, value=end),
    )
    return Use(f"{field} not in", field, parts, excluded=True, loose=True)


def period_name(start: dt.date, end: dt.date) -> str | None:
    """2024, 2024-Q3, 2024-05 or 2024-05-31; None for a period without a name."""
    months = (end.year - start.year) * 12 + end.month - start.month
    if start.day == end.day == 1:
        if months == 12 and start.month == 1:
            return f"{start.year:04}"
        if months == 3 and start.month % 3 == 1:
            return f"{start.year:04}-Q{(start.month + 2) // 3}"
        if months == 1:
            return f"{start.year:04}-{start.month:02}"
    return start.isoformat() if end - start == dt.timedelta(days=1) else None


def _period_parts(field: str, direction: Direction, start: str, end: str) -> tuple[Compare, ...]:
    since = Compare(op=Op.GE, field=field, value=start)
    before = Compare(op=Op.LT, field=field, value=end)
    match direction:
        case Direction.IN:
            return since, before
        case Direction.BEFORE:
            return (Compare(op=Op.LT, field=field, value=start),)
        case Direction.UNTIL:
            return (before,)
        case Direction.SINCE:
            return (since,)
        case Direction.AFTER:
            return (Compare(op=Op.GE, field=field, value=end),)
        case _:
            assert_never(direction)


def _number(mention: Mention, field: Field, choice: Choice) -> Iterable[Use]:
    if isinstance(choice.value, list | tuple):
        low, high = choice.value
        parts = (
            Compare(op=Op.GE, field=field.name, value=_figure(low)),
            Compare(op=Op.LE, field=field.name, value=_figure(high)),
        )
        yield Use(f"{field.name} is between", field.name, parts)
        outside = (
            Compare(op=Op.LT, field=field.name, value=_figure(low)),
            Compare(op=Op.GT, field=field.name, value=_figure(high)),
        )
        word = f"{field.name} is not between"
        yield Use(word, field.name, outside, excluded=True, loose=True)
        return
    value = _figure(choice.value)
    for direction in _directions(mention):
        part = Compare(op=NUMBER_OPS[direction], field=field.name, value=value)
        yield Use(f"{field.name} {_NUMBER_WORDS[direction]}", field.name, (part,))
    if _may_be_excluded(mention):
        part = Compare(op=Op.NE, field=field.name, value=value)
        yield Use(f"{field.name} is not", field.name, (part,), excluded=True)


def _directions(mention: Mention) -> tuple[Direction, ...]:
    """The direction that a clear cue gives, else all of them."""
    hints = mention.hint.split()
    said = [direction for direction in Direction if direction.value in hints]
    return tuple(said) if said else tuple(Direction)


def _may_be_excluded(mention: Mention) -> bool:
    hints = mention.hint.split()
    return not any(d.value in hints for d in Direction if d is not Direction.IN)


def _figure(value: JsonValue) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"a number was linked as {value!r}")
    return value


def element(value: JsonValue) -> Element | None:
    """A value that a comparison can hold; None for lists and null."""
    return value if isinstance(value, str | int | float | bool) else None
