"""The planner: mentions, one form for the model, and what its reply means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agent.planning.assemble import make_proposal
from agent.planning.clearing import clears, since_cleared
from agent.planning.dated import Calendar
from agent.planning.dismissed import without
from agent.planning.echoes import echoed
from agent.planning.force import in_force
from agent.planning.form import MOST_TURNS, make_form
from agent.planning.linking import Linker
from agent.planning.set_aside import set_aside
from agent.planning.smalltalk import is_small_talk
from agent.planning.topics import still_meant
from graph.ports import Ask
from schemas.collection import Collection, Field
from schemas.mentions import Form, Mention, Proposal
from schemas.plan import Mode

_KEPT = 16


class Planner:
    """Implements graph.ports.Planning; safe to share between threads and collections.

    The index over a collection's values is built at the first question and kept under the
    collection's name and version, so the version has to change with the values that may be
    seen. `fiscal_start` is the month (1..12) in which a fiscal year begins; `day_first` decides
    how 03/04/2025 is read (None: month first, noted).
    """

    def __init__(self, *, fiscal_start: int = 1, day_first: bool | None = None) -> None:
        self._fiscal_start = fiscal_start
        self._day_first = day_first
        self._linkers: dict[tuple[object, ...], Linker] = {}

    def warm(self, collection: Collection) -> None:
        """Build the index of a collection before its first question."""
        self._linker(collection)

    def link(self, ask: Ask, collection: Collection) -> tuple[Mention, ...]:
        """The mentions of earlier turns, then those of the question, each from left to right."""
        allowed = frozenset(field.name for field in _usable(ask, collection))
        if not allowed or is_small_talk(ask.question):
            return ()
        linker = self._linker(collection)
        calendar = self._calendar(ask)
        earlier = () if clears(ask.question) else _earlier(ask, linker, calendar, allowed)
        now = linker.link(ask.question, calendar, allowed)
        return (*earlier, *echoed(ask.question, now, earlier))

    def form(self, ask: Ask, collection: Collection, mentions: Sequence[Mention]) -> Form | None:
        return make_form(ask, collection, mentions, _usable(ask, collection))

    def assemble(
        self,
        ask: Ask,
        collection: Collection,
        mentions: Sequence[Mention],
        reply: Mapping[str, Any] | None,
    ) -> Proposal:
        made = make_proposal(ask, collection, mentions, reply)
        aside = set_aside(ask.question, self._calendar(ask), _usable(ask, collection), mentions)
        return made.model_copy(update={"problems": (*made.problems, *aside)})

    def _calendar(self, ask: Ask) -> Calendar:
        return Calendar(ask.today, self._fiscal_start, self._day_first)

    def _linker(self, collection: Collection) -> Linker:
        shape = tuple((field.name, field.type, len(field.values)) for field in collection.fields)
        key = (collection.name, collection.version, shape)
        linker = self._linkers.get(key)
        if linker is None:
            linker = Linker(collection)
            while len(self._linkers) >= _KEPT:
                self._linkers.pop(next(iter(self._linkers)))
            self._linkers[key] = linker
        return linker


def _usable(ask: Ask, collection: Collection) -> tuple[Field, ...]:
    """The fields that the mode lets the model use."""
    match ask.mode:
        case Mode.AUTO:
            return collection.fields
        case Mode.SEMI_AUTO:
            named = {key.name for key in ask.keys}
            return tuple(field for field in collection.fields if field.name in named)
        case Mode.MANUAL | Mode.OFF:
            return ()


def _earlier(
    ask: Ask, linker: Linker, calendar: Calendar, allowed: frozenset[str]
) -> tuple[Mention, ...]:
    """What may still hold of the turns before the question."""
    history = since_cleared(ask.history)
    meant = still_meant(history, ask.question, linker.is_value, linker.kind)
    if ask.previous:
        stays = not meant or (meant[-1] if linker.kind is None else any(meant))
        held = in_force(ask.previous, ask.filter, allowed) if stays else ()
        return without(linker.waived(ask.question, calendar, allowed), held)
    recent = [*zip(history, meant, strict=True)][-MOST_TURNS:]
    found: tuple[Mention, ...] = ()
    for back, (text, still) in zip(range(len(recent), 0, -1), recent, strict=True):
        if still:
            found = without(linker.waived(text, calendar, allowed), found)
            found += echoed(text, linker.link(text, calendar, allowed, turn=-back), found)
    return without(linker.waived(ask.question, calendar, allowed), found)
