"""What linking works with: a collection's indexes, one text, and mentions in the making."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from agent.planning.affinity import STRONG, affinity
from agent.planning.cues import Direction
from agent.planning.facets import FacetHit, FacetIndex, is_boolean
from agent.planning.meanings import listed_values
from agent.planning.values import ValueIndex, is_free_text
from agent.planning.words import Token, tokens
from schemas.collection import Collection, FieldType
from schemas.mentions import Choice, MentionKind

MOST_CHOICES = 8
DATES = (FieldType.DATE, FieldType.DATETIME)
NUMBERS = (FieldType.INT, FieldType.NUMBER, FieldType.INT_LIST)
TEXTS = (FieldType.STRING, FieldType.STRING_LIST)
SURE = 9.0
NAME = 0.95
"""Weight from which on words are the name of a field."""


class Catalogue:
    """The fields of one collection with the indexes over their names and values. `open` are
    the text fields that may hold values nobody listed.
    """

    def __init__(self, collection: Collection) -> None:
        collection = _with_listed(collection)
        self.fields = {field.name: field for field in collection.fields}
        self.facets = FacetIndex(collection)
        self.values = ValueIndex(collection)
        self.open = frozenset(
            field.name
            for field in collection.fields
            if field.type in TEXTS
            and not is_boolean(field)
            and (not field.values or is_free_text(field))
        )


def _with_listed(collection: Collection) -> Collection:
    """With the values that descriptions list for fields that have none."""
    fields = tuple(
        field.model_copy(update={"values": listed}) if (listed := listed_values(field)) else field
        for field in collection.fields
    )
    return collection.model_copy(update={"fields": fields})


@dataclass(frozen=True)
class Scene:
    """One text with its tokens, the fields that it names, and those that may be used. `earlier`:
    it is a turn before the question.
    """

    text: str
    question: tuple[Token, ...]
    hits: tuple[FacetHit, ...]
    allowed: frozenset[str]
    catalogue: Catalogue
    earlier: bool = False

    @classmethod
    def of(
        cls, text: str, catalogue: Catalogue, allowed: frozenset[str], *, earlier: bool = False
    ) -> Scene:
        question = tokens(text)
        hits = tuple(h for h in catalogue.facets.find(text, question) if h.field in allowed)
        return cls(text, question, hits, allowed, catalogue, earlier)

    @property
    def open(self) -> frozenset[str]:
        return self.catalogue.open & self.allowed

    def names_field(self, start: int, end: int) -> bool:
        """Whether a figure is a part of a field's name: the 25 in "a Top-25 of 1"."""
        return any(
            hit.start <= start and end <= hit.end and hit.weight >= NAME for hit in self.hits
        )

    def near(self, start: int, end: int) -> dict[str, float]:
        """How closely the words between the offsets stand to each field's name."""
        return affinity(self.text, start, end, self.hits)


@dataclass(frozen=True)
class Found:
    """A mention in the making; `rank` orders what competes for the same words, and from 9 on
    wins over anything longer.
    """

    kind: MentionKind
    start: int
    end: int
    choices: tuple[Choice, ...]
    hint: str = ""
    rank: float = 0.0

    def apart(self, start: int, end: int) -> bool:
        """Whether it shares no character with the words between the offsets."""
        return end <= self.start or start >= self.end


def ranked(choices: Iterable[Choice]) -> tuple[Choice, ...]:
    """Best first; what stands next to a field's name leaves out fields that nothing names."""
    ordered = sorted(choices, key=lambda choice: -choice.score)
    if ordered and ordered[0].score >= STRONG:
        floor = 0.55 * ordered[0].score
        ordered = [choice for choice in ordered if choice.score >= floor]
    return tuple(ordered[:MOST_CHOICES])


def settled(found: Iterable[Found]) -> list[Found]:
    """Each word belongs to one mention: the longest and surest; the same words are merged."""
    kept: list[Found] = []
    for one in sorted(found, key=lambda f: (f.rank < SURE, f.start - f.end, -f.rank)):
        if not one.choices:
            continue
        same = next((k for k in kept if (k.start, k.end) == (one.start, one.end)), None)
        if same is not None:
            kept[kept.index(same)] = _merged(same, one)
        elif all(k.apart(one.start, one.end) for k in kept):
            kept.append(one)
    return kept


def _merged(first: Found, second: Found) -> Found:
    """Two readings of the same words. A comparison leaves the reading as a number; a date that
    some field can hold leaves the reading as a date.
    """
    for one, other in ((first, second), (second, first)):
        compares = one.kind is MentionKind.NUMBER and one.hint not in ("", Direction.IN.value)
        if compares and other.kind is MentionKind.VALUE:
            return replace(one, hint=f"{one.hint} {other.hint}".strip())
        if one.kind is MentionKind.PERIOD and other.kind is MentionKind.NUMBER:
            return one
    fields = {choice.field for choice in first.choices}
    added = [choice for choice in second.choices if choice.field not in fields]
    return replace(first, choices=ranked([*first.choices, *added]), hint=first.hint or second.hint)
