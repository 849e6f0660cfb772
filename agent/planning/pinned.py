"""The use of a mention under an operator that the caller pinned to its field.

A pinned operator never says the opposite of the question: where it cannot say what is asked,
the mention is no condition.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence

from pydantic import JsonValue

from agent.planning.cues import Direction
from agent.planning.facets import is_boolean
from agent.planning.readings import DATES, NUMBER_OPS, element, period_name, truth
from agent.planning.use import NOT, Use
from schemas.collection import Field, FieldType
from schemas.filters import Compare, Element, Op, all_of, any_of
from schemas.mentions import Choice, Mention, MentionKind
from schemas.operators import ORDERING

_UP, _DOWN = {Op.GT, Op.GE}, {Op.LT, Op.LE}
_DAY = dt.timedelta(days=1)


def pinned(mention: Mention, field: Field, choices: Sequence[Choice], op: Op) -> Iterable[Use]:
    """The uses that remain; `choices` are those of this field, `op` is allowed on its type."""
    hints = mention.hint.split()
    if mention.kind is MentionKind.PRESENCE or not op.takes_value:
        asked = Op.EMPTY if "missing" in hints else Op.NOT_EMPTY
        if mention.kind is MentionKind.PRESENCE and op is asked:
            yield _use(field, op, [None])
        return
    if is_boolean(field):
        yield from _boolean(field, op, denied=NOT in hints)
        return
    if NOT in hints and not op.is_negative:
        return
    values = list(dict.fromkeys(v for v in _values(mention, field, choices, op) if v is not None))
    if values:
        yield _use(field, op, values)


def _use(field: Field, op: Op, values: Sequence[Element | None]) -> Use:
    word = f"{field.name} {op.value.replace('_', ' ')}"
    held = tuple(value for value in values if value is not None)
    operands = (held,) if op.takes_list else values
    parts = tuple(Compare(op=op, field=field.name, value=operand) for operand in operands)
    if len(parts) == 1:
        return Use(word, field.name, parts, excluded=op.is_negative)
    group = all_of(*parts) if op.is_negative else any_of(*parts)
    return Use(word, field.name, parts, excluded=op.is_negative, group=group)


def _boolean(field: Field, op: Op, *, denied: bool) -> Iterable[Use]:
    for wanted in (False,) if denied else (True, False):
        value = truth(field, wanted is not op.is_negative)
        operand = (value,) if op.takes_list else value
        word = f"{field.name} is {'true' if wanted else 'false'}"
        part = Compare(op=op, field=field.name, value=operand)
        yield Use(word, field.name, (part,), excluded=not wanted, flag=True)


def _values(
    mention: Mention, field: Field, choices: Sequence[Choice], op: Op
) -> Iterable[Element | None]:
    value = choices[0].value
    direction = _direction(mention)
    if mention.kind is MentionKind.PERIOD and field.type in DATES and isinstance(value, list):
        start, end = (dt.date.fromisoformat(str(day)) for day in value)
        return [_day(start, end, direction, op)]
    if isinstance(value, list):
        return [_end(value, op)]
    if direction is not None and isinstance(value, int | float):
        return [_figure(value, field, direction, op)]
    return [element(choice.value) for choice in choices]


def _direction(mention: Mention) -> Direction | None:
    """The one direction that the question gives, IN being none."""
    said = [d for d in Direction if d.value in mention.hint.split() and d is not Direction.IN]
    return said[0] if len(said) == 1 else None


def _day(start: dt.date, end: dt.date, direction: Direction | None, op: Op) -> Element | None:
    """`le` and `gt` speak of the end of a day, `lt` and `ge` of its beginning."""
    if op not in ORDERING:
        return period_name(start, end) if direction is None else None
    if direction is not None and (NUMBER_OPS[direction] in _UP) is not (op in _UP):
        return None
    at_end = op in (Op.GT, Op.LE)
    if direction is not None:
        at_end = direction in (Direction.AFTER, Direction.UNTIL)
    edge = end if at_end else start
    return (edge - _DAY if op in (Op.GT, Op.LE) else edge).isoformat()


def _end(value: list[JsonValue], op: Op) -> Element | None:
    """The end of a range that an ordering speaks of; a whole range is no single value."""
    return element(value[0 if op in _UP else -1]) if op in ORDERING else None


def _figure(value: int | float, field: Field, direction: Direction, op: Op) -> Element | None:
    said = NUMBER_OPS[direction]
    if op is said:
        return value
    same_side = {op, said} <= _UP or {op, said} <= _DOWN
    if not same_side or field.type is not FieldType.INT or not isinstance(value, int):
        return None
    return value + (1 if op in (Op.GE, Op.LT) else -1)
