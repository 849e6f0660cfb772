"""How many people something is for: "a flight for 2", "one economy ticket"."""

from __future__ import annotations

import re
from collections.abc import Iterable

from agent.planning.numbers import find_numbers
from agent.planning.scene import NUMBERS, Found, Scene
from agent.planning.words import name_words, preceding
from schemas.collection import Field, FieldType
from schemas.mentions import Choice, MentionKind

_PARTY = re.compile(
    r"\b(?:passengers?|travell?ers?|guests?|riders?|people|persons?|adults?|party|seats?|tickets?)\b"
    r"|人数",
    re.IGNORECASE,
)
_FOR = re.compile(r"\bfor\s+$", re.IGNORECASE)
_ENDS = re.compile(r"\s*(?:[.,!?]|$|(?:please|of\s+us|at|on|in|tonight|tomorrow)\b)", re.IGNORECASE)
_TICKETS = re.compile(r"\s+(?:[\w-]+\s+){0,2}?(?:tickets?|seats?)\b", re.IGNORECASE)
_COUNTED = re.compile(rf"^(?:number|count|no\.?)\s+of\b|数$|{_PARTY.pattern}", re.IGNORECASE)
_NOTHING_ELSE = re.compile(
    r"\W*(?:(?:just|only|please|thanks|thank\s+you|yes|ok(?:ay)?|maybe|about)\W*)*", re.IGNORECASE
)
_ONE_WORD = re.compile(r"\s+(?!stars?\b)[a-z]{3,}\s+")
_NAMED = 0.6
_FEW_WORDS = 4
_SCORE, _BARE_SCORE = 0.75, 0.4
_MOST = 20


def link_parties(scene: Scene) -> Iterable[Found]:
    """Small whole numbers of people, tickets or seats, where exactly one field counts them."""
    yield from _bare(scene)
    yield from _counted(scene)
    names = [name for name in sorted(scene.allowed) if _PARTY.search(name_words(name))]
    if len(names) != 1:
        return
    field = scene.catalogue.fields[names[0]]
    for number in find_numbers(scene.text):
        whole = isinstance(number.value, int) and 0 < number.value <= _MOST
        if not whole or number.upper is not None or number.direction is not None:
            continue
        after = scene.text[number.end :]
        counted = _FOR.search(preceding(scene.text, number.start)) and _ENDS.match(after)
        if counted or _TICKETS.match(after):
            value = _value(scene, field, number.value)
            if value is not None:
                choice = Choice(field=field.name, value=value, score=_SCORE)
                yield Found(MentionKind.NUMBER, number.start, number.end, (choice,), "in", 3.0)


def _counted(scene: Scene) -> Iterable[Found]:
    """Numbers of what a field counts, with a word between: "3 hotel rooms"."""
    for number in find_numbers(scene.text):
        for hit in scene.hits:
            gap = scene.text[number.end : max(hit.start, number.end)]
            field = scene.catalogue.fields[hit.field]
            counts = _COUNTED.search(name_words(field.name)) and hit.weight >= _NAMED
            if not counts or number.upper is not None or not _ONE_WORD.fullmatch(gap):
                continue
            value = _value(scene, field, number.value)
            if value is not None and number.direction is None:
                choice = Choice(field=field.name, value=value, score=_SCORE)
                yield Found(MentionKind.NUMBER, number.start, number.end, (choice,), "in", 3.0)


def _bare(scene: Scene) -> Iterable[Found]:
    """A turn that is nothing but a number answers how many of something: "2", "three please"."""
    if len(scene.question) > _FEW_WORDS:
        return
    for number in find_numbers(scene.text):
        rest = f"{scene.text[: number.start]} {scene.text[number.end :]}"
        if not _NOTHING_ELSE.fullmatch(rest) or number.upper is not None:
            continue
        choices = tuple(
            Choice(field=field.name, value=value, score=_BARE_SCORE)
            for field in scene.catalogue.fields.values()
            if field.name in scene.allowed and _COUNTED.search(name_words(field.name))
            if (value := _value(scene, field, number.value)) is not None
        )
        if choices:
            yield Found(MentionKind.NUMBER, number.start, number.end, choices, "in", 3.0)


def _value(scene: Scene, field: Field, number: int | float) -> str | int | float | None:
    if field.type in NUMBERS:
        return None if field.type is FieldType.INT_LIST else number
    value = scene.catalogue.values.exact(field.name, str(number))
    return value if isinstance(value, str) else None
