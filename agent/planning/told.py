"""What is said about readings that could have been others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agent.planning.dated import Calendar
from agent.planning.dates import find_dates
from agent.planning.joins import Accepted
from graph.ports import Ask
from schemas.operators import MEMBERSHIP
from schemas.plan import Problem

_MOST_RIVALS = 3


def told(ask: Ask, accepted: Sequence[Accepted]) -> tuple[Problem, ...]:
    """Ties between values and between fields, unclear dates, and years that nobody said."""
    now = [one for one in accepted if one.turn == 0]
    return (*_values(now), *_fields(now), *_dates(now), *_years(ask, now))


def _values(accepted: Sequence[Accepted]) -> Iterator[Problem]:
    """Words that name several values equally well: all of them were taken."""
    for one in accepted:
        (part, *others) = one.use.parts
        if others or part.op not in MEMBERSHIP or not isinstance(part.value, tuple):
            continue
        if len(part.value) > 1:
            yield Problem(
                code="ambiguous_value",
                message=f"{one.words!r} can mean several values; any of them is accepted",
                field=one.use.field,
                value=list(part.value),
                words=one.words,
            )


def _fields(accepted: Sequence[Accepted]) -> Iterator[Problem]:
    """Words that fit several fields equally well: the model chose one."""
    for one in accepted:
        if one.rivals:
            others = one.rivals[:_MOST_RIVALS]
            yield Problem(
                code="ambiguous_field",
                message=f"{one.words!r} was read as {one.use.field}; "
                f"it could also be {' or '.join(others)}",
                field=one.use.field,
                words=one.words,
                allowed=others,
            )


def _dates(accepted: Sequence[Accepted]) -> Iterator[Problem]:
    """Dates such as 03/04/2025 that could be read with the day or with the month first."""
    for one in accepted:
        if one.ambiguous:
            yield Problem(
                code="ambiguous_date",
                message=f"{one.words!r} was read with the month first",
                field=one.use.field,
                value=one.words,
                words=one.words,
            )


def _years(ask: Ask, accepted: Sequence[Accepted]) -> Iterator[Problem]:
    """Days and months without a year: the latest that has begun was taken."""
    guessed = {
        (dated.start, dated.end): dated.period.start.year
        for dated in find_dates(ask.question, Calendar(ask.today))
        if dated.guessed
    }
    for one in accepted:
        year = guessed.get((one.start, one.end))
        if year is not None:
            yield Problem(
                code="assumed_year",
                message=f"{one.words!r} was read as of {year}",
                field=one.use.field,
                value=year,
                words=one.words,
            )
