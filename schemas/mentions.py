"""What was found in a question, the form put to the model about it, and what came back."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from pydantic import Field as Attribute
from pydantic import JsonValue

from schemas.filters import Filter
from schemas.listing import Listing
from schemas.model import Shape
from schemas.plan import Branch, Condition, PlanOutcome, Problem


class MentionKind(StrEnum):
    VALUE = "value"  # a known value of a field
    PERIOD = "period"  # a date or period, as half-open ISO days
    NUMBER = "number"
    SPAN = "span"  # quoted or named text whose field is not known
    PRESENCE = "presence"  # words that ask for a field to be missing or present
    EARLIER = "earlier"  # a condition in force in the thread


class Choice(Shape):
    """One way to read a mention: a field with the value as the collection writes it."""

    field: str
    value: JsonValue = None
    score: float = 1.0


class Mention(Shape):
    """Words of the question that may carry a condition. `start`/`end` are character offsets
    into the turn; `turn` is 0 for the question, -1 for the turn before it, and so on. `filter`
    is the group that conditions in force stand in, where they do not simply all hold.
    """

    id: str
    kind: MentionKind
    words: str
    start: int
    end: int
    turn: int = 0
    choices: tuple[Choice, ...] = ()
    hint: str = ""
    filter: Filter | None = None


class FormMessage(Shape):
    role: str
    content: str


class Form(Shape):
    """One schema-constrained call: messages (static prefix first) and the reply's JSON Schema."""

    messages: tuple[FormMessage, ...]
    reply_schema: Mapping[str, JsonValue] = Attribute(default_factory=dict)
    prompt_version: str = ""


class Proposal(Shape):
    """What planning makes of a reply: one or more branches, before the check against the
    collection. `problems` name what in the reply was wrong or not accepted.
    """

    outcome: PlanOutcome
    query: str
    branches: tuple[Branch, ...] = ()
    conditions: tuple[Condition, ...] = ()
    problems: tuple[Problem, ...] = ()
    listing: Listing | None = None
