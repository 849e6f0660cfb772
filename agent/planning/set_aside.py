"""What is said about days and figures that a question only retells, and that filter nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from agent.planning.dated import Calendar
from agent.planning.dates import find_dates
from agent.planning.numbers import find_numbers
from agent.planning.stories import retells
from schemas.collection import Field, FieldType
from schemas.mentions import Mention
from schemas.plan import Problem

_MOST = 6
_DAYS = frozenset({FieldType.DATE, FieldType.DATETIME})
_FIGURES = frozenset({FieldType.INT, FieldType.NUMBER, FieldType.INT_LIST})


def set_aside(
    question: str, calendar: Calendar, fields: Sequence[Field], mentions: Sequence[Mention]
) -> tuple[Problem, ...]:
    """One problem that names the days and figures of a retelling that became no mention, where
    the fields could have held them.
    """
    if not retells(question):
        return ()
    types = {field.type for field in fields}
    taken = [(m.start, m.end) for m in mentions if m.turn == 0]
    known = {m.words.casefold() for m in mentions if m.turn == 0}
    read = _read(question, calendar, types)
    free = [text for start, end, text in read if _free(start, end, taken)]
    words = [text for text in dict.fromkeys(free) if text.casefold() not in known]
    if not words:
        return ()
    shown = ", ".join(repr(word) for word in words[:_MOST])
    more = f" and {len(words) - _MOST} more" if len(words) > _MOST else ""
    return (
        Problem(
            code="set_aside",
            message=f"{shown}{more} set no condition: the question retells what documents say; "
            "ask in a short question for documents of a day or figure",
            value=words[:_MOST],
        ),
    )


def _read(
    question: str, calendar: Calendar, types: Collection[FieldType]
) -> Iterator[tuple[int, int, str]]:
    """Days and figures in the order of the text, as far as some field has their type."""
    dates = find_dates(question, calendar)
    taken = [(one.start, one.end) for one in dates]
    numbers = [one for one in find_numbers(question) if _free(one.start, one.end, taken)]
    found = [
        *((one.start, one.end, one.words) for one in dates if _DAYS.intersection(types)),
        *((one.start, one.end, one.words) for one in numbers if _FIGURES.intersection(types)),
    ]
    yield from sorted(found)


def _free(start: int, end: int, taken: Sequence[tuple[int, int]]) -> bool:
    return all(end <= first or start >= last for first, last in taken)
