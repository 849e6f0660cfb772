"""What goes back to whoever asked: answer, references, the filter block, events of a run."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from pydantic import Field as Attribute
from pydantic import JsonValue

from schemas.filters import EVERYTHING, Filter
from schemas.model import Shape
from schemas.plan import Condition, Plan, PlanOutcome, Problem, ResultOutcome


class Step(Shape):
    """One change made to the filter because too little was found."""

    action: str
    condition: Condition
    found: int
    words: str


class FilterBlock(Shape):
    """How a filter came about and what became of it; part of every answer and search result."""

    plan: PlanOutcome
    result: ResultOutcome
    filter: Filter = EVERYTHING
    text: str = ""
    conditions: tuple[Condition, ...] = ()
    dropped: tuple[Problem, ...] = ()
    loosened: tuple[Step, ...] = ()
    expression: str = ""


class Reference(Shape):
    """A cited passage; `number` is the n of the marker [n]."""

    number: int
    id: str
    doc_id: str
    kb: str
    title: str
    source: str
    heading: tuple[str, ...] = ()
    text: str
    score: float
    metadata: Mapping[str, JsonValue] = Attribute(default_factory=dict)


class SearchResult(Shape):
    """Ranked passages with the filter that led to them."""

    question: str
    plan: Plan
    filter: FilterBlock
    hits: tuple[Reference, ...] = ()
    timings_ms: Mapping[str, float] = Attribute(default_factory=dict)
    explain: Mapping[str, JsonValue] | None = None


class Answer(Shape):
    """A finished answer; `cited` are the numbers of the references that its text uses."""

    question: str
    text: str
    references: tuple[Reference, ...] = ()
    cited: tuple[int, ...] = ()
    plan: Plan
    filter: FilterBlock
    thread: str | None = None
    model: str | None = None
    timings_ms: Mapping[str, float] = Attribute(default_factory=dict)


class EventKind(StrEnum):
    STAGE = "stage"
    PLAN = "plan"
    TEXT = "text"
    FILTER = "filter"
    REFERENCES = "references"
    DONE = "done"
    ERROR = "error"


class Event(Shape):
    """One event of a streamed run, in the order in which it happened."""

    kind: EventKind
    data: JsonValue
