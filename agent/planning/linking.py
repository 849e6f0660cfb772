"""From the text of one turn to mentions: what may carry a condition, and on which fields."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, zip_longest

from agent.planning.cues import Direction, negated, negations, preferred, wished
from agent.planning.dated import Calendar
from agent.planning.dismissed import dismisses, undismissed, waived
from agent.planning.facets import is_boolean
from agent.planning.kinds import link_kinds
from agent.planning.labelled import link_contained, link_labelled
from agent.planning.leanings import preferring
from agent.planning.link_dates import link_dates
from agent.planning.link_numbers import link_numbers
from agent.planning.link_parties import link_parties
from agent.planning.link_spans import (
    NAME_RANK,
    link_names,
    link_quoted,
    link_symbolic,
    link_times,
)
from agent.planning.link_values import link_flags, link_presence, link_unpaid, link_values
from agent.planning.lists import is_listed
from agent.planning.scene import SURE, Catalogue, Found, Scene, settled
from agent.planning.stories import is_story, told
from agent.planning.topics import only_kind
from agent.planning.use import CERTAIN, MAYBE_NOT, NOT, SOFT
from agent.planning.words import has_cjk, key, keys, name_words, stem
from schemas.collection import Collection
from schemas.mentions import Mention, MentionKind

MOST_MENTIONS = 12
MOST_NAMES = 3
_ANCHORED = 0.3
_EXCEPT = re.compile(
    r"\b(?:except|exclud\w+|other\s+than|apart\s+from|besides|without)\b|除|排除|以外|之外",
    re.IGNORECASE,
)
"""What excludes documents in a story, whose other negations are part of what is told."""
_CERTAIN_SCORE = 0.9
_NAMED_SCORE = 0.97


class Linker:
    """Finds the mentions of one collection in texts; built once per version of it."""

    def __init__(self, collection: Collection) -> None:
        self._catalogue = Catalogue(collection)
        self.kind = only_kind(collection.fields)

    def is_value(self, word: str) -> bool:
        """Whether some field has this word as a value."""
        return bool(self._catalogue.values.entries(word))

    def waived(self, text: str, calendar: Calendar, allowed: frozenset[str]) -> frozenset[str]:
        """The fields of which a turn says that any value will do."""
        if not dismisses(text):
            return frozenset()
        scene = Scene.of(text, self._catalogue, allowed)
        return waived(scene, _find(scene, calendar, self.kind))

    def link(
        self, text: str, calendar: Calendar, allowed: frozenset[str], turn: int = 0
    ) -> tuple[Mention, ...]:
        """Mentions from left to right; `allowed` are the fields that may carry conditions."""
        scene = Scene.of(text, self._catalogue, allowed, earlier=turn < 0)
        found = _distinct(text, undismissed(scene, _find(scene, calendar, self.kind)))
        found = [preferring(scene, one, found, self.kind) for one in found]
        story = is_story(scene)
        if story:
            found = told(scene, found)
        ordered = _unverbed(scene, sorted(found, key=lambda f: f.start))
        kept = _listed_alike(text, _sparse(ordered))[:MOST_MENTIONS]
        denied = [False] * len(kept) if story and not _EXCEPT.search(text) else _denied(text, kept)
        loose = not story and negations(text) > sum(denied)
        prefix = "m" if turn == 0 else f"t{-turn}m"
        return tuple(
            _mention(text, f, f"{prefix}{number}", turn, _hints(scene, f, no, loose))
            for number, (f, no) in enumerate(zip(kept, denied, strict=True), start=1)
        )


def _listed_alike(text: str, found: Sequence[Found]) -> list[Found]:
    """What stands in one list has one field: of "both Engadget and Polygon", the first is a
    source if the second can be nothing else.
    """
    alike = list(found)
    for at, (one, after) in enumerate(pairwise(found)):
        common = {c.field for c in one.choices} & {c.field for c in after.choices}
        known = one.kind is MentionKind.VALUE and after.kind is MentionKind.VALUE
        if known and common and is_listed(text[one.end : after.start]):
            alike[at] = _of_fields(alike[at], common)
            alike[at + 1] = _of_fields(alike[at + 1], common)
    return alike


def _of_fields(found: Found, fields: set[str]) -> Found:
    kept = tuple(choice for choice in found.choices if choice.field in fields)
    return replace(found, choices=kept) if kept else found


def _denied(text: str, found: Sequence[Found]) -> list[bool]:
    """What is excluded; an exclusion holds for the rest of its list: "except A and B"."""
    denied: list[bool] = []
    for number, one in enumerate(found):
        before = found[number - 1] if number else None
        goes_on = (
            before is not None
            and denied[-1]
            and before.kind is one.kind
            and bool({c.field for c in before.choices} & {c.field for c in one.choices})
            and is_listed(text[before.end : one.start])
        )
        denied.append(goes_on or NOT in one.hint.split() or negated(text, one.start, one.end))
    return denied


def _find(scene: Scene, calendar: Calendar, own: int | None) -> list[Found]:
    """Sure readings first, then what they leave over."""
    found = settled(
        [
            *link_quoted(scene),
            *link_contained(scene),
            *link_dates(scene, calendar),
            *link_numbers(scene),
            *link_parties(scene),
            *link_values(scene),
            *link_presence(scene),
        ]
    )
    found = settled([*found, *link_labelled(scene, found)])
    found = settled([*found, *link_symbolic(scene, found), *link_times(scene)])
    found = settled([*found, *link_flags(scene, found), *link_unpaid(scene)])
    found = _surnamed(scene, found)
    return settled([*found, *link_kinds(scene, found, own), *link_names(scene, found)])


def _surnamed(scene: Scene, found: list[Found]) -> list[Found]:
    """Without first names that belong to somebody else than the surname behind them: "Nick
    Coghlan" is no Nick Humrich.
    """
    firsts = {
        first.start
        for first, last in pairwise(sorted(found, key=lambda f: f.start))
        if _is_part_of_name(scene, first)
        and _is_part_of_name(scene, last)
        and scene.text[first.end : last.start] == " "
        and {c.field for c in first.choices} == {c.field for c in last.choices}
        and not {c.value for c in first.choices} & {c.value for c in last.choices}
    }
    return [one for one in found if one.start not in firsts]


def _is_part_of_name(scene: Scene, one: Found) -> bool:
    """One capitalised word that is only a part of each value it may mean."""
    words = scene.text[one.start : one.end]
    whole = any(len(str(choice.value)) <= len(words) for choice in one.choices)
    single = words.isalpha() and words[0].isupper() and not has_cjk(words)
    return one.kind is MentionKind.VALUE and single and not whole


def _distinct(text: str, found: list[Found]) -> list[Found]:
    """Words that are repeated count once, where they stand closest to their field."""
    best: dict[tuple[str, str, frozenset[str]], Found] = {}
    for one in sorted(found, key=lambda f: -f.choices[0].score):
        fields = frozenset(choice.field for choice in one.choices)
        best.setdefault((text[one.start : one.end].casefold(), one.hint, fields), one)
    return list(best.values())


def _unverbed(scene: Scene, found: list[Found]) -> list[Found]:
    """Without values that are the verb of the day behind them: "closed before 2000" is about
    `ClosedDate`, not about the status.
    """
    return [
        one
        for one, after in zip_longest(found, found[1:])
        if one.kind is not MentionKind.VALUE
        or after is None
        or after.kind is not MentionKind.PERIOD
        or not _is_verb_of(scene, one, after)
    ]


def _is_verb_of(scene: Scene, value: Found, period: Found) -> bool:
    word = stem(key(scene.text[value.start : value.end]))
    between = scene.text[value.end : period.start].split()
    return len(between) <= 2 and any(
        word in map(stem, keys(name_words(choice.field))) for choice in period.choices
    )


def _sparse(found: list[Found]) -> list[Found]:
    """A text full of names that no field's word goes with is talk, not conditions."""
    names = [f for f in found if f.rank <= NAME_RANK and f.choices[0].score < _ANCHORED]
    return found if len(names) <= MOST_NAMES else [f for f in found if f not in names]


def _hints(scene: Scene, found: Found, denied: bool, loose: bool) -> list[str]:
    """`loose`: some word of the text excludes something, and it is not clear what."""
    text = scene.text
    flag = found.kind is MentionKind.PERIOD or is_boolean(
        scene.catalogue.fields[found.choices[0].field]
    )
    hints = [word for word in found.hint.split() if word != NOT]
    if denied:
        hints.append(NOT)
    elif loose:
        hints.append(MAYBE_NOT)
    if _is_certain(found, hints):
        hints.append(CERTAIN)
    if preferred(text, found.start) or (wished(text, found.start) and (flag or denied)):
        hints.append(SOFT)
    return hints


def _is_certain(found: Found, hints: Sequence[str]) -> bool:
    """A comparison in so many words, a quoted text, or a value, right beside the name of the one
    field that can have it: "the venue is …", "status Final".
    """
    compared = found.kind is MentionKind.NUMBER and (
        any(d.value in hints for d in Direction if d is not Direction.IN)
        or isinstance(found.choices[0].value, list)
    )
    if len(found.choices) != 1 or found.choices[0].score < _CERTAIN_SCORE:
        return False
    if compared:
        return True
    named = found.rank >= SURE or found.choices[0].score >= _NAMED_SCORE
    value = found.choices[0].value
    if found.kind is MentionKind.SPAN:
        named = named and isinstance(value, str) and (found.rank >= SURE or not value.islower())
    worded = found.kind in (MentionKind.SPAN, MentionKind.VALUE)
    return worded and named and value is not None and MAYBE_NOT not in hints


def _mention(text: str, found: Found, name: str, turn: int, hints: Sequence[str]) -> Mention:
    return Mention(
        id=name,
        kind=found.kind,
        words=text[found.start : found.end],
        start=found.start,
        end=found.end,
        turn=turn,
        choices=found.choices,
        hint=" ".join(hints),
    )
