"""Which field a name belongs to that no field's word stands beside: kinds, people, places.

"With Ada Byron" speaks of the cast, "visit Rome" of a place, and "3 hotel rooms" of how many
rooms, whatever else could hold the same words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from agent.planning.kinds import is_all
from agent.planning.link_spans import NAME_RANK
from agent.planning.roles import is_kind
from agent.planning.scene import Found, Scene, ranked
from agent.planning.tables import listed
from agent.planning.topics import kind_of
from agent.planning.words import ENTITY_NOUNS, FUNCTION_WORDS, key, name_words, preceding
from schemas.mentions import Choice, MentionKind

_MUCH, _LITTLE = 0.35, 0.1
_GRAMMAR = FUNCTION_WORDS | ENTITY_NOUNS | frozenset(listed("food cuisine dish style genre"))
_CAST = re.compile(r"\b(?:actors?|cast|starring|performers?|players?)\b|主演|演员", re.IGNORECASE)
_MAKER = re.compile(
    r"\b(?:directors?|authors?|writers?|artists?|composers?|creators?|producers?)\b|导演|作者",
    re.IGNORECASE,
)
_PEOPLE = re.compile(rf"{_CAST.pattern}|{_MAKER.pattern}", re.IGNORECASE)
_PLACE = re.compile(
    r"\b(?:city|town|destination|location|place|area|region|country)\b|城市|目的地", re.IGNORECASE
)
_TITLE = re.compile(r"\b(?:name|title)\b|名", re.IGNORECASE)
_DAY = re.compile(r"\b(?:date|day|time)\b|日期|时间", re.IGNORECASE)
_WITH = re.compile(r"\b(?:with|starring|featuring|stars)\s+$", re.IGNORECASE)
_BY = re.compile(r"(?<!starred\s)(?<!played\s)(?<!performed\s)\bby\s+$", re.IGNORECASE)
_FOND = re.compile(r"\b(?:like|love|fan\s+of|enjoy)\s+$", re.IGNORECASE)
_IN = re.compile(r"\b(?:in|near|around)\s+$", re.IGNORECASE)
_FONDLY = re.compile(r"(?:love|enjoy|prefer|adore)\s+")
_OF_ONE = re.compile(r"\b(?:I|we)\s+(?:(?:really|just|always)\s+)?$")
_VISITED = re.compile(
    r"\b(?:visit(?:ing)?|explor(?:e|ing)|tour(?:ing)?|check\s+out)\s+$", re.IGNORECASE
)
_ITS_NOUN = re.compile(r"(?:\s+[a-z]+)?\s+(?P<noun>[a-z]+)")
_GOES_ON = re.compile(r"\s+(?P<noun>[a-z]{3,})(?=\s*(?:[.,!?]|$))")
_PERSON = re.compile(r"[A-Z][\w.'’-]+(?:\s+[A-Z][\w.'’-]+)+")


def preferring(scene: Scene, found: Found, others: Sequence[Found], own: int | None) -> Found:
    """The same mention with the fields first that the words around it speak for. `own` is the
    kind of thing that the collection is about.
    """
    match found.kind:
        case MentionKind.SPAN if found.rank <= NAME_RANK:
            found = _whole(scene, found, others)
            bonus = _name_bonus(scene, found, own)
        case MentionKind.NUMBER:
            bonus = _count_bonus(scene, found)
        case _:
            return found
    choices = ranked(
        choice.model_copy(update={"score": choice.score + bonus(name_words(choice.field))})
        for choice in found.choices
    )
    return replace(found, choices=choices)


def _name_bonus(scene: Scene, found: Found, own: int | None) -> Callable[[str], float]:
    before, words = preceding(scene.text, found.start), scene.text[found.start : found.end]
    fields = [name_words(choice.field) for choice in found.choices]
    person = _PERSON.fullmatch(words) is not None and any(_PEOPLE.search(f) for f in fields)
    wanted: list[tuple[re.Pattern[str] | None, float]] = []
    if words.islower() and (_FOND.search(before) or is_all(scene.text, words)):
        wanted.append((None, _MUCH))
    if words[:1].isdigit():
        wanted.append((_PLACE, -_MUCH))
    if _WITH.search(before):
        wanted.append((_CAST, _LITTLE))
    if _BY.search(before):
        wanted += [(_MAKER, _LITTLE), (_CAST, -_MUCH)]
    if person and (_FOND.search(before) or _is_before_noun(scene, found, own)):
        wanted.append((_PEOPLE, _MUCH))
    kinds = any(map(is_kind, fields))
    if words[:1].isupper() and not person and not kinds and _is_before_noun(scene, found, own):
        wanted += [(_PLACE, _MUCH), (_TITLE, -_LITTLE)]
    if not words.islower() and _IN.search(before) and any(map(_PLACE.search, fields)):
        wanted.append((_TITLE, -_MUCH))
    if not words.islower() and _VISITED.search(before):
        wanted += [(_PLACE, _MUCH), (_TITLE, -_MUCH)]

    def bonus(field: str) -> float:
        more = sum(
            much
            for pattern, much in wanted
            if (is_kind(field) if pattern is None else pattern.search(field))
        )
        nothing = words[:1].isupper() and not any(c.isdigit() for c in words)
        return more - (_MUCH if nothing and _DAY.search(field) else 0.0)

    return bonus


def _is_before_noun(scene: Scene, found: Found, own: int | None) -> bool:
    """Before what the collection is about, or its kind: "a Bob Hastings adventure movie"."""
    after = _ITS_NOUN.match(scene.text, found.end)
    return own is not None and after is not None and kind_of(after["noun"]) == own


def _whole(scene: Scene, found: Found, others: Sequence[Found]) -> Found:
    """A kind that someone is fond of with the noun that ends it, "I love American football", and
    without the fondness itself: "I love science fiction".
    """
    fond = _FONDLY.match(scene.text, found.start, found.end)
    if fond is not None and _OF_ONE.search(preceding(scene.text, found.start)):
        choices = _worded(found, scene.text[fond.end() : found.end])
        found = replace(found, start=fond.end(), choices=choices)
    after = _GOES_ON.match(scene.text, found.end)
    words = scene.text[found.start : found.end]
    if after is None or not _FOND.search(preceding(scene.text, found.start)) or words.islower():
        return found
    start, end = after.span("noun")
    grammar = key(after["noun"]) in _GRAMMAR
    named = any(hit.start < end and start < hit.end for hit in scene.hits)
    taken = not all(one.apart(start, end) for one in others)
    if grammar or named or taken or not any(is_kind(name_words(c.field)) for c in found.choices):
        return found
    return replace(found, end=end, choices=_worded(found, scene.text[found.start : end]))


def _worded(found: Found, words: str) -> tuple[Choice, ...]:
    return tuple(choice.model_copy(update={"value": words}) for choice in found.choices)


def _count_bonus(scene: Scene, found: Found) -> Callable[[str], float]:
    """Figures are no names where something else can be counted: "3 hotel rooms"."""
    words = scene.text[found.start : found.end]
    spelled = {
        name_words(choice.field)
        for choice in found.choices
        if choice.value == words and words.isalpha()
    }
    names = {f for f in (name_words(c.field) for c in found.choices) if _TITLE.search(f)}
    able = any(name_words(choice.field) not in names | spelled for choice in found.choices)

    def bonus(field: str) -> float:
        return -_MUCH if able and field in names | spelled else 0.0

    return bonus
