"""What goes back to whoever asked: answer, references, the filter block, events of a run."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from pydantic import Field as Attribute
from pydantic import JsonValue

from schemas.filters import EVERYTHING, Filter
from schemas.listing import Group
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


class FoundDocument(Shape):
    """A document that the search found passages of: how many, and the score of the best."""

    doc_id: str
    kb: str
    title: str
    hits: int
    score: float


class SearchResult(Shape):
    """Ranked passages with the filter that led to them. For a listing (`plan.listing`), `total`
    counts all matching documents, of which `hits` are the first, and `text` is the answer.
    `nearest` lie outside the model's conditions, shown where nothing meets them. `documents` are
    all that were found before ranking, best first. `problems` tell what failed or had to be left
    out after planning, such as a reranker that did not answer.
    """

    question: str
    plan: Plan
    filter: FilterBlock
    hits: tuple[Reference, ...] = ()
    nearest: tuple[Reference, ...] = ()
    documents: tuple[FoundDocument, ...] = ()
    timings_ms: Mapping[str, float] = Attribute(default_factory=dict)
    explain: Mapping[str, JsonValue] | None = None
    total: int | None = None
    groups: tuple[Group, ...] = ()
    text: str = ""
    problems: tuple[Problem, ...] = ()


class Answer(Shape):
    """A finished answer; `cited` are the numbers of the references that its text uses. `total`
    and `groups` are those of a listing. The text rests on none of `nearest`, see SearchResult;
    nor on the references where `filter.result` is fallback.
    """

    question: str
    text: str
    references: tuple[Reference, ...] = ()
    cited: tuple[int, ...] = ()
    nearest: tuple[Reference, ...] = ()
    plan: Plan
    filter: FilterBlock
    thread: str | None = None
    model: str | None = None
    timings_ms: Mapping[str, float] = Attribute(default_factory=dict)
    total: int | None = None
    groups: tuple[Group, ...] = ()
    problems: tuple[Problem, ...] = ()


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
