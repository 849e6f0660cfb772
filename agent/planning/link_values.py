"""Mentions of known values, of yes-or-no fields, and of fields being there or not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from agent.planning.facets import is_boolean
from agent.planning.presence import find_presence
from agent.planning.prose import is_prose
from agent.planning.roles import role_bonus
from agent.planning.scene import NUMBERS, Found, Scene, ranked
from agent.planning.use import NOT
from agent.planning.values import Entry, Match
from agent.planning.words import name_words, preceding
from schemas.mentions import Choice, MentionKind

_FEW_VALUES = 20
_ATTRIBUTE = re.compile(
    r"\s*(?:and\s+)?(?:what|when|where|how|which|is|are|does|do|may\s+i|can\s+you\s+tell)\b"
    r"(?!\s+(?:you|there|about|any|can\s+(?:i|we)|could\s+(?:i|we)))|.*(?:多少|几点|怎么样|是不是|吗)",
    re.IGNORECASE,
)
_NAMED = 0.3
_SURE_FLAG = 0.4
_OWN = 0.9
_VAGUE = re.compile(
    r"(?:options?|choices?|services?|alternatives?|facilit(?:y|ies))", re.IGNORECASE
)
"""Words of a field's name that say nothing alone: "other options", for `vegetarian_options`."""
_FREE = re.compile(r"\bfree\b", re.IGNORECASE)
_UNPAID = re.compile(
    r"\b(?:(?:without|no)\s+(?:an?\s+|any\s+|the\s+)?(?:entry|entrance|admission)\s+(?:fees?|charges?|costs?)"
    r"|(?:without|not?|(?:do|does)n['’]t)\s+(?:(?:have|need|want)\s+to\s+)?pay(?:ing)?(?:\s+(?:for\s+)?(?:an?\s+|the\s+)?"
    r"(?:entry|entrance|admission|anything|to\s+(?:enter|get\s+in)))?|free\s+of\s+charge)\b",
    re.IGNORECASE,
)


def link_values(scene: Scene) -> Iterable[Found]:
    """Known values, however they are written."""

    def holds(entry: Entry, start: int, end: int) -> bool:
        return is_prose(scene.catalogue.fields[entry.field]) or _fits(scene, entry, start, end)

    for match in scene.catalogue.values.find(scene.text, scene.question, holds):
        if _is_name_of_field(scene, match):
            continue
        near = scene.near(match.start, match.end)
        words = scene.text[match.start : match.end]
        choices = ranked(
            Choice(
                field=entry.field,
                value=entry.value if entry.upper is None else [entry.value, entry.upper],
                score=0.5 * match.score
                + 0.5 * near.get(entry.field, 0.0)
                + _role(scene, match, entry),
            )
            for entry in match.entries
            if entry.field in scene.allowed and _fits(scene, entry, match.start, match.end)
        )
        if choices and not (words.isdigit() and _is_plain_number(scene, choices)):
            rank = 2 + match.score
            yield Found(MentionKind.VALUE, match.start, match.end, choices, rank=rank)


def _role(scene: Scene, match: Match, entry: Entry) -> float:
    """What a preposition adds where one value belongs to several fields: from or to a city."""
    if len({other.field for other in match.entries}) < 2:
        return 0.0
    field = scene.catalogue.fields[entry.field]
    return 0.5 * role_bonus(scene.text, match.start, match.end, field)


def _fits(scene: Scene, entry: Entry, start: int, end: int) -> bool:
    """A title counts where it is written exactly, or where its field is named; other prose only
    where its field is named.
    """
    field = scene.catalogue.fields[entry.field]
    if entry.field not in scene.open or not field.values:
        return True
    if str(entry.value) == scene.text[start:end] and not is_prose(field):
        return True
    return scene.near(start, end).get(entry.field, 0.0) >= _NAMED


def _is_name_of_field(scene: Scene, match: Match) -> bool:
    """A part of a value inside a field's name, or a value inside a longer name."""
    return any(
        hit.start <= match.start
        and match.end <= hit.end
        and (
            match.score < 0.85
            or (hit.weight >= 0.9 and hit.end - hit.start > match.end - match.start)
        )
        for hit in scene.hits
    )


def _is_plain_number(scene: Scene, choices: Sequence[Choice]) -> bool:
    """Figures that link_numbers reads better, because it knows comparisons."""
    fields = [scene.catalogue.fields[choice.field] for choice in choices]
    return all(f.type in NUMBERS or len(f.values) <= _FEW_VALUES for f in fields)


def link_flags(scene: Scene, found: Sequence[Found]) -> Iterable[Found]:
    """Names of yes-or-no fields that no other mention covers: official, 官方, unofficial."""
    for hit in scene.hits:
        field = scene.catalogue.fields[hit.field]
        free = all(one.apart(hit.start, hit.end) for one in found) and not (
            scene.earlier and _asks_about_result(scene.text, hit.start)
        )
        vague = hit.weight < _OWN and _VAGUE.fullmatch(scene.text[hit.start : hit.end])
        if free and not vague and is_boolean(field) and hit.weight >= _SURE_FLAG:
            choice = Choice(field=hit.field, value=None, score=hit.weight)
            hint = NOT if hit.denied else ""
            yield Found(MentionKind.VALUE, hit.start, hit.end, (choice,), hint, hit.weight)


def link_unpaid(scene: Scene) -> Iterable[Found]:
    """What costs nothing, over a yes-or-no field that says so: "without an entry fee"."""
    names = [
        name
        for name in sorted(scene.allowed)
        if _FREE.search(name_words(name)) and is_boolean(scene.catalogue.fields[name])
    ]
    if len(names) != 1:
        return
    for match in _UNPAID.finditer(scene.text):
        choice = Choice(field=names[0], value=None, score=_OWN)
        yield Found(MentionKind.VALUE, *match.span(), (choice,), rank=_OWN)


def _asks_about_result(text: str, start: int) -> bool:
    """An earlier turn that asked what something found is like: "Is the entrance free?"."""
    sentence = re.split(r"[.!?。！？]", preceding(text, start))[-1]
    return _ATTRIBUTE.match(sentence) is not None


def link_presence(scene: Scene) -> Iterable[Found]:
    """Fields asked to be missing or present."""
    for presence in find_presence(scene.text, scene.hits, scene.catalogue.fields):
        choices = tuple(Choice(field=name) for name in presence.fields)
        hint = "missing" if presence.missing else "present"
        yield Found(MentionKind.PRESENCE, presence.start, presence.end, choices, hint, rank=1.5)
