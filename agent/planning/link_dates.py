"""Mentions of dates and periods, on the fields that can hold them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pydantic import JsonValue

from agent.planning.affinity import STRONG
from agent.planning.cues import Direction, may_direct, number_direction
from agent.planning.dated import Calendar, Dated
from agent.planning.dates import find_dates
from agent.planning.roles import paired, period_bonus
from agent.planning.scene import DATES, NUMBERS, TEXTS, Found, Scene, ranked
from agent.planning.use import AMBIGUOUS
from schemas.collection import Field
from schemas.mentions import Choice, MentionKind

_YEARLY = re.compile(r"year|yr|年", re.IGNORECASE)
_AGES = re.compile(r"years?\s+old|\bage\b|年龄", re.IGNORECASE)
_DAILY = re.compile(r"date|day|birth|when|日|时间|airdate|aired", re.IGNORECASE)
_NAMED = 0.25
_NEAR = 0.3
_TELLING = 0.5
_CLEARLY = 0.25
_FIRST_YEAR, _LAST_YEAR = 1500, 2200


def link_dates(scene: Scene, calendar: Calendar) -> Iterable[Found]:
    """Every date that some field can hold; the others stay open to other readings."""
    for dated in find_dates(scene.text, calendar):
        if dated.bare_year and scene.names_field(dated.start, dated.end):
            continue
        choices = paired(scene.text, dated.start, ranked(_choices(scene, dated)))
        if choices:
            hint = _hint(scene.text, dated)
            yield Found(MentionKind.PERIOD, dated.start, dated.end, choices, hint, rank=3)


def _choices(scene: Scene, dated: Dated) -> Iterable[Choice]:
    near = scene.near(dated.start, dated.end)
    period: list[JsonValue] = [dated.period.start.isoformat(), dated.period.end.isoformat()]
    year = _years(dated)
    named = _named(scene)
    lone = not dated.bare_year and not any(
        _is_dated(scene.catalogue.fields[name]) for name in scene.allowed
    )
    for name in sorted(scene.allowed):
        field, score = scene.catalogue.fields[name], near.get(name, 0.02)
        if name == named:
            score += _NAMED
        score += period_bonus(scene.text, dated.start, field)
        if field.type in DATES:
            yield Choice(field=name, value=period, score=score + 0.4)
        elif field.type in NUMBERS:
            if dated.bare_year and _is_yearly(field):
                yield Choice(field=name, value=year, score=score + 0.4)
        elif field.type in TEXTS and scene.catalogue.values.exact(name, str(year)) is not None:
            yield Choice(field=name, value=str(year), score=score + 0.3)
        elif name in scene.open and (bonus := _text_bonus(field, dated, score, lone)):
            yield Choice(field=name, value=dated.words, score=score + bonus)


def _named(scene: Scene) -> str | None:
    """The field of days that the text speaks of clearly more than of any other, however far from
    the day: by its name, or by words that describe it.
    """
    sums: dict[str, dict[str, float]] = {}
    for hit in scene.hits:
        if scene.catalogue.fields[hit.field].type in DATES:
            words = sums.setdefault(hit.field, {})
            word = scene.text[hit.start : hit.end].casefold()
            words[word] = max(hit.weight, words.get(word, 0.0))
    ranking = sorted(((sum(words.values()), name) for name, words in sums.items()), reverse=True)
    if not ranking or ranking[0][0] < _TELLING:
        return None
    second = ranking[1][0] if len(ranking) > 1 else 0.0
    return ranking[0][1] if ranking[0][0] - second >= _CLEARLY else None


def _text_bonus(field: Field, dated: Dated, score: float, lone: bool) -> float:
    """How far a text field speaks of dates; 0 where it does not. `lone`: no other field does."""
    yearly = dated.bare_year and _YEARLY.search(field.name)
    if yearly or _is_dated(field):
        return 0.3
    return 0.1 if score >= (_NEAR if lone else STRONG) else 0.0


def _is_dated(field: Field) -> bool:
    return field.type in DATES or bool(_DAILY.search(f"{field.name} {field.description}"))


def _is_yearly(field: Field) -> bool:
    if _YEARLY.search(f"{field.name} {field.description}"):
        return not _AGES.search(field.description)
    low, high = (field.profile.minimum, field.profile.maximum) if field.profile else (None, None)
    if not isinstance(low, int | float) or not isinstance(high, int | float):
        return False
    return low >= _FIRST_YEAR and high <= _LAST_YEAR


def _years(dated: Dated) -> JsonValue:
    first, last = dated.period.start.year, dated.period.end.year - 1
    return first if first >= last else [first, last]


def _hint(text: str, dated: Dated) -> str:
    words = [AMBIGUOUS] if dated.note else []
    compared = number_direction(text, dated.start, dated.end) if dated.bare_year else None
    if dated.direction is None and compared is not None:
        words.insert(0, compared.value)
    elif dated.direction is not None:
        words.insert(0, dated.direction.value)
    elif dated.rolling or not may_direct(text, dated.start, dated.end):
        words.insert(0, Direction.IN.value)
    return " ".join(words)
