"""What a form leaves out where the model's window is too short for all of it."""

from __future__ import annotations

import re
from collections.abc import Collection as Names
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from schemas.collection import Field

_CLAUSE = re.compile(r"^(?:[^.;:,(\n。；：，（]|\.(?!\s|$))+")


class Told(IntEnum):
    """How much of their descriptions fields are shown with."""

    NOTHING = 0
    CLAUSE_IF_NAMED = 1  # the first clause, for fields that a mention names
    CLAUSE = 2
    ALL = 3


@dataclass(frozen=True)
class Cut:
    """How much is kept: `turns` of those before the question that a form would quote, and the
    last `examples`; `every_field`, or only those that a mention names.
    """

    turns: int
    examples: int
    told: Told = Told.ALL
    every_field: bool = True

    def description(self, field: Field, *, named: bool) -> str:
        match self.told:
            case Told.ALL:
                return field.description
            case Told.CLAUSE:
                return first_clause(field.description)
            case Told.CLAUSE_IF_NAMED:
                return first_clause(field.description) if named else ""
            case Told.NOTHING:
                return ""

    def fields(self, fields: Sequence[Field], named: Names[str]) -> Sequence[Field]:
        return [field for field in fields if self.every_field or field.name in named]


def cuts(turns: int, examples: int) -> Iterator[Cut]:
    """From nothing left out to all that may be: descriptions first, then earlier turns, fields
    that no mention names, and examples, the oldest first.
    """
    cut = Cut(turns, examples)
    yield cut
    for told in (Told.CLAUSE, Told.CLAUSE_IF_NAMED):
        cut = replace(cut, told=told)
        yield cut
    for kept in reversed(range(turns)):
        cut = replace(cut, turns=kept)
        yield cut
    cut = replace(cut, every_field=False)
    yield cut
    for kept in reversed(range(examples)):
        cut = replace(cut, examples=kept)
        yield cut
    yield replace(cut, told=Told.NOTHING)


def first_clause(text: str) -> str:
    found = _CLAUSE.match(text.strip())
    return found.group().strip() if found else ""
