"""Dates and periods in a question, with the direction that the words around them give.

Code resolves them; a model says at most how a period is used.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from dateutil.relativedelta import relativedelta

from agent.planning import dates_en, dates_zh
from agent.planning.cues import Direction, date_direction
from agent.planning.dated import Calendar, Dated
from agent.planning.periods import Period
from agent.planning.words import preceding

_JOIN = re.compile(
    r"\s*(?:-|–|—|~|～|to|through|thru|until|till|up\s+to|and|至|到|和|与|直到)\s*(?:the\s+)?",
    re.IGNORECASE,
)
_BETWEEN = re.compile(
    r"(?:between|in\s+the\s+(?:period|window)|介于|在)\s*(?:the\s+)?(?:years?\s+)?$", re.I
)
_FROM = re.compile(r"(?:\bfrom|\bsince|从|自从?)\s*(?:the\s+)?(?:years?\s+)?$", re.I)
_AFTER_RANGE = re.compile(r"\s*(?:之间|期间|间)")
_BEGINNING = re.compile(r"(?:the\s+)?(?P<edge>beginning|start|end|close)\s+of\s+(?:the\s+)?$", re.I)
_LATE = re.compile(r"(?:end|close)\s+of|[底末]$", re.I)
_EDGE_ZH = re.compile(r"(?P<edge>初|底|末)")


def find_dates(text: str, calendar: Calendar) -> tuple[Dated, ...]:
    """All dates and periods from left to right, none overlapping, ranges joined into one."""
    found = _longest([*dates_en.find(text, calendar), *dates_zh.find(text, calendar)])
    edged = [_edge(text, dated) for dated in found]
    return tuple(_directed(text, dated) for dated in _ranges(text, edged))


def _longest(found: Iterable[Dated]) -> list[Dated]:
    kept: list[Dated] = []
    for dated in sorted(found, key=lambda d: (d.start - d.end, d.guessed, d.start)):
        if all(dated.end <= other.start or dated.start >= other.end for other in kept):
            kept.append(dated)
    return sorted(kept, key=lambda d: d.start)


def _edge(text: str, dated: Dated) -> Dated:
    """Narrow "the beginning of 2024" and 2024年底 to the month at that edge."""
    if before := _BEGINNING.search(preceding(text, dated.start)):
        start, end, late = before.start(), dated.end, before["edge"].lower() in ("end", "close")
    elif (after := _EDGE_ZH.match(text, dated.end)) and dated.words.endswith("年"):
        start, end, late = dated.start, after.end(), after["edge"] != "初"
    else:
        return dated
    period = dated.period
    month = relativedelta(months=1)
    edge = (
        Period(max(period.start, period.end - month), period.end)
        if late
        else Period(period.start, min(period.end, period.start + month))
    )
    return replace(dated, start=start, end=end, words=text[start:end], period=edge, bare_year=False)


def _ranges(text: str, found: list[Dated]) -> list[Dated]:
    joined: list[Dated] = []
    for dated in found:
        previous = joined[-1] if joined else None
        if previous is not None and (whole := _range(text, previous, dated)):
            joined[-1] = whole
        else:
            joined.append(dated)
    return joined


def _range(text: str, first: Dated, last: Dated) -> Dated | None:
    """One period from two: "from A to B", "between A and B", "A-B", 从A到B, A至B."""
    middle = text[first.end : last.start]
    if first.direction is not None or not _JOIN.fullmatch(middle):
        return None
    before = preceding(text, first.start)
    opened = _BETWEEN.search(before) or _FROM.search(before)
    listed = middle.strip().lower() in ("and", "和", "与")
    if listed and not (opened or _AFTER_RANGE.match(text, last.end)):
        return None
    if first.guessed and not last.guessed:
        first = _same_year(first, last)
    if first.period.start >= last.period.end:
        return None
    start = opened.start() if opened else first.start
    return replace(
        first,
        start=start,
        end=last.end,
        words=text[start : last.end],
        period=Period(first.period.start, last.period.end),
        bare_year=first.bare_year and last.bare_year,
        direction=Direction.IN,
        note=first.note or last.note,
    )


def _same_year(first: Dated, last: Dated) -> Dated:
    """August in "from August to October 2008" takes its year from the other end."""
    years = last.period.start.year - first.period.start.year
    moved = first.period.start + relativedelta(years=years)
    if moved > last.period.start:
        years -= 1
    shift = relativedelta(years=years)
    period = Period(first.period.start + shift, first.period.end + shift)
    return replace(first, period=period, guessed=False)


def _directed(text: str, dated: Dated) -> Dated:
    if dated.direction is not None:
        return dated
    direction = date_direction(text, dated.start, dated.end)
    if direction is Direction.BEFORE and _LATE.search(dated.words):
        direction = Direction.UNTIL
    return replace(dated, direction=direction)
