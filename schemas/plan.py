"""A plan: what to search for, under which conditions, and how that came about."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from pydantic import Field as Attribute
from pydantic import JsonValue

from schemas.filters import EVERYTHING, Filter, Op
from schemas.listing import Listing
from schemas.model import Shape


class Mode(StrEnum):
    """Who may set conditions: the model sees all fields, the given keys, or nothing."""

    AUTO = "auto"
    SEMI_AUTO = "semi_auto"
    MANUAL = "manual"
    OFF = "off"


class PlanOutcome(StrEnum):
    PLANNED = "planned"
    NO_FILTER = "no_filter"
    FAILED = "failed"
    NOT_A_QUESTION = "not_a_question"


class ResultOutcome(StrEnum):
    MATCHED = "matched"
    LOOSENED = "loosened"
    NOTHING_MATCHED = "nothing_matched"
    FALLBACK = "fallback"


class Origin(StrEnum):
    SCOPE = "scope"
    CALLER = "caller"
    MODEL = "model"


class Problem(Shape):
    """Something wrong with a filter or a model's reply: data, so that it can be repaired.
    `words` are those of the question, where it is about some of them.
    """

    code: str
    message: str
    field: str | None = None
    value: JsonValue = None
    words: str = ""
    allowed: tuple[str, ...] = ()


class Key(Shape):
    """A field the model may use in semi_auto, with an operator that the caller pins."""

    name: str
    op: Op | None = None


class Condition(Shape):
    """One condition of a plan with its evidence. `words` are the words of the question."""

    field: str
    op: Op
    value: JsonValue = None
    words: str = ""
    origin: Origin = Origin.MODEL
    hard: bool = True


class Branch(Shape):
    """One search: its text, its filter (caller AND model, never the scope), its knowledge base."""

    query: str
    filter: Filter = EVERYTHING
    kb: str | None = None


class Plan(Shape):
    """The shape of `plan --json`; `query` and `filter` repeat those of the first branch.
    `cached`: the same question was planned before, and the model was not asked again.
    `listing`: the filter answers the question alone, and nothing is searched for.
    """

    outcome: PlanOutcome
    mode: Mode
    query: str
    filter: Filter = EVERYTHING
    branches: tuple[Branch, ...] = ()
    conditions: tuple[Condition, ...] = ()
    problems: tuple[Problem, ...] = ()
    text: str = ""
    expression: str = ""
    model: str | None = None
    model_calls: int = 0
    cached: bool = False
    timings_ms: Mapping[str, float] = Attribute(default_factory=dict)
    listing: Listing | None = None
