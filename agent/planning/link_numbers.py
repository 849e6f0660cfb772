"""Mentions of numbers, on the fields that they can be compared with."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from pydantic import JsonValue

from agent.planning.cues import Direction, may_compare, number_direction
from agent.planning.facets import is_boolean
from agent.planning.numbers import Number, find_numbers
from agent.planning.scene import NUMBERS, Found, Scene, ranked
from agent.planning.words import has_cjk, name_words
from schemas.collection import Field, FieldType
from schemas.mentions import Choice, MentionKind

NAMED = 0.3
_OWN = 0.9
_FEW_VALUES = 20
_IDENTIFIER = 4
"""Digits from which on a number is hardly a count."""
_UNIT_NAMED, _UNIT_TOLD = 0.3, 0.08
_SCALES = re.compile(r"[万亿千]|thousand|million|billion|\d\s?[kKmM]\b|\bbn\b", re.IGNORECASE)
_SCALED = (
    (re.compile(r"亿"), 100_000_000),
    (re.compile(r"百万|\bmillions?\b|\bmn\b", re.IGNORECASE), 1_000_000),
    (re.compile(r"万"), 10_000),
    (re.compile(r"千元|\bthousands?\b", re.IGNORECASE), 1_000),
)
_IDENTIFIES = re.compile(r"(?:^|\s)(?:id|code|no|key|zip|phone)$|编号|电话", re.IGNORECASE)
"""Figures that nothing counts or compares; only their own name brings them in."""
_NOUN_AFTER = re.compile(
    r"\s+(?!(?:and|or|but|yet|per|each|than|from|that|which|who|not|to|in|of|on|at|by|for|when|with|is|was|were|are|as|the|a)\b)[A-Za-z]{3,}"
)
_ORDINAL = re.compile(r"\d(?:st|nd|rd|th)$")
_UNIT = re.compile(r"(?:m|km|kg|cm|mm|mph|lb|ft|g|s|元|分|块)(?!\w)", re.IGNORECASE)
_FIRST_ONES = re.compile(r"\b(?:top|bottom|first)\s+$", re.IGNORECASE)
_GOES_ON = re.compile(
    r"\s*,?\s*(?:but|and|or|yet|但|且|并且|,|，)\s*(?:is|are|was|were|also|not)?\s*"
    r"(?:[a-z]+\s+){0,3}(?:than|most|least|below|under|above|over)?\s*"
    r"|\s*(?:但|且|并且|，)?\s*(?:低于|高于|小于|大于|不超过|不低于|少于|多于)\s*",
    re.IGNORECASE,
)


def link_numbers(scene: Scene) -> Iterable[Found]:
    """Every number that some field can hold. The second bound of a range goes with the field
    of the first: "more than 6000 but less than 10000".
    """
    previous: Number | None = None
    near: dict[str, float] = {}
    for number in (_compared(scene, found) for found in find_numbers(scene.text)):
        own = scene.near(number.start, number.end)
        named = max(own.values(), default=0.0) >= NAMED + 0.1
        if previous is None or named or not _goes_on(scene.text, previous, number):
            near = own
        previous = number
        choices = ranked(_choices(scene, number, near))
        if choices:
            hint, rank = _hint(scene.text, number), 0.5 if number.spelled else 2.0
            yield Found(MentionKind.NUMBER, number.start, number.end, choices, hint, rank)


def _choices(scene: Scene, number: Number, near: Mapping[str, float]) -> Iterable[Choice]:
    if _counts_something_else(scene.text, number, near) or _names_field(scene, number):
        return
    if _says_how_many(scene.text, number):
        return
    if scene.names_field(number.start, number.start + len(number.words.rstrip(" %"))):
        return
    if _ORDINAL.search(scene.text, number.start, number.end) and not near:
        return
    for name in sorted(scene.allowed):
        field, score = scene.catalogue.fields[name], near.get(name, 0.02)
        score += _unit_bonus(scene.text, number, field)
        if score < NAMED and _IDENTIFIES.search(name_words(name)):
            continue
        if number.spelled and score < NAMED:
            continue
        if field.type in NUMBERS:
            if field.type is FieldType.NUMBER or _is_whole(number):
                yield Choice(field=name, value=_bounds(number, field), score=score + 0.05)
        elif field.values and not is_boolean(field):
            if number.upper is None:
                yield from _known(scene, field, number, score)
        elif name in scene.open and score >= NAMED:
            yield Choice(field=name, value=_chunk(scene.text, number), score=score)


def _known(scene: Scene, field: Field, number: Number, score: float) -> Iterable[Choice]:
    """The known text that is this number: passengers "2", but chapter "001" and not "1"."""
    long = len(number.words) >= _IDENTIFIER
    if score < 0.2 and not long and len(field.values) <= _FEW_VALUES:
        return
    exact = scene.catalogue.values.exact
    value = exact(field.name, number.words)
    if value is None and (number.spelled or not number.words.startswith("0")):
        value = exact(field.name, str(number.value))
    if value is not None:
        yield Choice(field=field.name, value=value, score=score)


def _counts_something_else(text: str, number: Number, near: Mapping[str, float]) -> bool:
    """A number of things that no field is about: 500 GitHub stars."""
    best = max(near.values(), default=0.0)
    return best < NAMED and _NOUN_AFTER.match(text, number.end) is not None


def _says_how_many(text: str, number: Number) -> bool:
    """How many of an order are wanted: the top 5 documents by pages."""
    things = re.match(r"\s+[A-Za-z]{3,}", text[number.end :])
    return things is not None and _FIRST_ONES.search(text[: number.start]) is not None


def _names_field(scene: Scene, number: Number) -> bool:
    """A range that is a part of a field's name: "students aged 5-17" beside `Count (Ages 5-17)`."""
    words = number.words.casefold().replace(" ", "")
    return number.upper is not None and any(
        words in name.casefold().replace(" ", "") for name in scene.allowed
    )


def _goes_on(text: str, first: Number, second: Number) -> bool:
    both = first.direction is not None and second.direction is not None
    return both and _GOES_ON.fullmatch(text[first.end : second.start]) is not None


def _compared(scene: Scene, number: Number) -> Number:
    """With the comparison before a field's name, right before the number: "before game 5"."""
    if number.direction is not None or number.upper is not None:
        return number
    for hit in scene.hits:
        if hit.weight >= _OWN and scene.text[hit.end : number.start].strip(" #") == "":
            direction = number_direction(scene.text, hit.start, number.end)
            if direction is not None and hit.end <= number.start:
                return replace(number, direction=direction)
    return number


def _hint(text: str, number: Number) -> str:
    if number.direction is not None:
        return number.direction.value
    return "" if may_compare(text, number.start, number.end) else Direction.IN.value


def _unit_bonus(text: str, number: Number, field: Field) -> float:
    """A unit right behind the number that stands in the field's name (4.5分, for 评分) or in its
    description (in 元).
    """
    unit = text[number.end : number.end + 1]
    if not has_cjk(unit):
        return 0.0
    return _UNIT_NAMED if unit in field.name else _UNIT_TOLD if unit in field.description else 0.0


def _bounds(number: Number, field: Field) -> JsonValue:
    """In the unit of the field: 15万 is 15 where the field counts 万元."""
    size = next((n for unit, n in _SCALED if unit.search(f"{field.name} {field.description}")), 1)
    whole = size if _SCALES.search(number.words) else 1
    low = _divided(number.value, whole)
    return low if number.upper is None else [low, _divided(number.upper, whole)]


def _divided(value: int | float, size: int) -> int | float:
    if size == 1:
        return value
    small = value / size
    return int(small) if small.is_integer() else small


def _chunk(text: str, number: Number) -> str:
    """The number as it is written, with letters that are no unit: 3rd, 13.5x."""
    more = re.match(r"[A-Za-z]+|\s?\(\d+\)", text[number.end :])
    if more is None or _UNIT.match(text, number.end):
        return number.words
    return number.words + more.group()


def _is_whole(number: Number) -> bool:
    return "." not in number.words and isinstance(number.value, int)
