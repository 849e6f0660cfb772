"""The ways to use a mention: the closed list of words that the model chooses from.

Each word stands for conditions that code has already worked out, so that nothing but a choice
can come back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import assert_never

from pydantic import JsonValue

from agent.planning.cues import Direction
from agent.planning.facets import is_boolean
from schemas.collection import Collection, Field, FieldType
from schemas.filters import Compare, Element, Filter, Not, Op, all_of
from schemas.mentions import Choice, Mention, MentionKind

IGNORE = "ignore"
"""A topic, not a condition; always among the choices."""
KEEP = "keep"
NOT = "not"
MAYBE_NOT = "maybe_not"
SOFT = "soft"
CERTAIN = "certain"
"""Hint of a mention that needs no judgement: it holds without being asked about."""

_DATES = (FieldType.DATE, FieldType.DATETIME)
_ORDERED = (FieldType.INT, FieldType.NUMBER)
_DIRECTIONS = frozenset(Direction)
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
_NUMBER_OPS = {
    Direction.IN: Op.EQ,
    Direction.BEFORE: Op.LT,
    Direction.UNTIL: Op.LE,
    Direction.SINCE: Op.GE,
    Direction.AFTER: Op.GT,
}


@dataclass(frozen=True)
class Use:
    """One way to use a mention. `parts` hold together (both ends of a period); `excluded` says
    that they are denied.
    """

    word: str
    field: str
    parts: tuple[Compare, ...]
    excluded: bool = False
    flag: bool = False

    @property
    def filter(self) -> Filter:
        if len(self.parts) == 1:
            return self.parts[0]
        whole = all_of(*self.parts)
        return Not(of=whole) if self.excluded else whole


def uses(
    mention: Mention, collection: Collection, pinned: Mapping[str, Op] | None = None
) -> Mapping[str, Use]:
    """Word → use, in the order of the choices; `ignore` is not among them.

    A word of exclusion is offered only where the turn excludes something at all, and alone
    where words right beside the mention do. `pinned` operators leave no choice but the field.
    """
    if mention.kind is MentionKind.EARLIER:
        return _earlier(mention)
    found: dict[str, Use] = {}
    for field_name in dict.fromkeys(choice.field for choice in mention.choices):
        field = collection.by_name.get(field_name)
        if field is None:
            continue
        same = [choice for choice in mention.choices if choice.field == field_name]
        op = (pinned or {}).get(field_name)
        every = _of_field(mention, field, same) if op is None else _pinned(field, same, op)
        for use in every:
            found.setdefault(use.word, use)
    return _matching(mention, found)


def _matching(mention: Mention, found: dict[str, Use]) -> dict[str, Use]:
    hints = mention.hint.split()
    if NOT in hints:
        return _denied(found)
    if MAYBE_NOT in hints:
        return found
    return {word: use for word, use in found.items() if not use.excluded or use.flag}


def _denied(found: dict[str, Use]) -> dict[str, Use]:
    """What is denied right beside the mention can only be excluded; fields that cannot be
    excluded on stay as they are.
    """
    able = {use.field for use in found.values() if use.excluded}
    return {word: use for word, use in found.items() if use.excluded or use.field not in able}


def _earlier(mention: Mention) -> dict[str, Use]:
    """Conditions in force: kept as they are, or dropped; the hint holds their operators."""
    parts = tuple(
        Compare(op=Op(op), field=choice.field, value=_frozen(choice.value))
        for op, choice in zip(mention.hint.split(), mention.choices, strict=True)
    )
    return {KEEP: Use(KEEP, parts[0].field, parts, parts[0].op.is_negative)}


def _frozen(value: JsonValue) -> Element | tuple[Element, ...] | None:
    if isinstance(value, list | tuple):
        return tuple(item for item in map(_element, value) if item is not None)
    return _element(value)


def _pinned(field: Field, choices: list[Choice], op: Op) -> Iterable[Use]:
    """The one operator that the caller allows on a field."""
    value = choices[0].value
    if isinstance(value, list | tuple):
        value = value[1] if op in (Op.LT, Op.LE) and field.type not in _DATES else value[0]
    element = _element(value)
    if not op.takes_value:
        yield Use(f"{field.name} {op}", field.name, (Compare(op=op, field=field.name),))
    elif element is not None:
        held = (element,) if op.takes_list else element
        yield Use(f"{field.name} {op}", field.name, (Compare(op=op, field=field.name, value=held),))


def _of_field(mention: Mention, field: Field, choices: list[Choice]) -> Iterable[Use]:
    match mention.kind:
        case MentionKind.PRESENCE:
            return _presence(mention, field)
        case MentionKind.PERIOD if field.type in _DATES:
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
        value = _truth(field, wanted)
        word = "true" if wanted else "false"
        part = Compare(op=Op.EQ, field=field.name, value=value)
        yield Use(f"{field.name} is {word}", field.name, (part,), excluded=not wanted, flag=True)


def _truth(field: Field, wanted: bool) -> Element:
    if field.type is FieldType.BOOL:
        return wanted
    positive = {"true", "yes", "是", "y", "1"}
    return next(value for value in field.values if (str(value).casefold() in positive) is wanted)


def _value(mention: Mention, field: Field, choices: list[Choice]) -> Iterable[Use]:
    values = tuple(dict.fromkeys(v for c in choices if (v := _element(c.value)) is not None))
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
    value = _element(choice.value)
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
        parts = _period_parts(field.name, Direction.IN, start, end)
        yield Use(f"{field.name} not in", field.name, parts, excluded=True)


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
        yield Use(f"{field.name} is not between", field.name, parts, excluded=True)
        return
    value = _figure(choice.value)
    for direction in _directions(mention):
        part = Compare(op=_NUMBER_OPS[direction], field=field.name, value=value)
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


def _element(value: JsonValue) -> Element | None:
    return value if isinstance(value, str | int | float | bool) else None
