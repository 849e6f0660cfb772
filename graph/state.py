"""What a run remembers between nodes, and a thread between runs: ids, plans and turns, never
the text of a passage.
"""

from __future__ import annotations

import operator
from typing import Annotated, Literal, TypedDict

from pydantic import JsonValue

from schemas.answers import Step
from schemas.enhanced import Enhanced, Enhancements
from schemas.filters import EVERYTHING, Filter
from schemas.hits import HitRef
from schemas.listing import Tally
from schemas.mentions import Mention, Proposal
from schemas.model import Shape
from schemas.plan import Branch, Condition, Key, Mode, Plan, Problem, ResultOutcome
from schemas.policy import Overrides

Goal = Literal["plan", "search", "answer"]


class Turn(Shape):
    """A finished turn of a thread: what was asked, the model's conditions and how they were
    joined, what was answered.
    """

    question: str
    answer: str
    kb: str
    conditions: tuple[Condition, ...] = ()
    filter: Filter = EVERYTHING
    doc_ids: tuple[str, ...] = ()


class Input(TypedDict, total=False):
    question: str
    kb: str
    kbs: tuple[str, ...]
    mode: Mode
    keys: tuple[Key, ...]
    caller: Filter
    history: tuple[str, ...]
    goal: Goal
    top: int | None
    policy: Overrides | None
    explain: bool
    enhance: Enhancements | None


class State(Input, total=False):
    """Each run starts its keys anew (FRESH); only `turns` lives as long as the thread. `boosts`
    are the wishes of the plan: no hit is removed for want of them. `nearest` are passages outside
    the model's conditions, where nothing meets them; no answer rests on them.
    """

    mentions: tuple[Mention, ...]
    proposal: Proposal | None
    plan: Plan
    branches: tuple[Branch, ...]
    boosts: tuple[Condition, ...]
    model_calls: int
    cached: bool
    model_problems: tuple[Problem, ...]
    enhanced: Enhanced
    found: tuple[HitRef, ...]
    hits: tuple[HitRef, ...]
    nearest: tuple[HitRef, ...]
    removed: dict[str, int]
    ranking_problems: tuple[Problem, ...]
    statistics: dict[str, JsonValue]
    expression: str
    steps: tuple[Step, ...]
    result: ResultOutcome | None
    tally: Tally | None
    answer: str
    timings: dict[str, float]
    turns: Annotated[list[Turn], operator.add]


class Output(State, total=False):
    """What a finished run hands out: its whole state, which holds no passage text."""


FRESH: State = {
    "mentions": (),
    "proposal": None,
    "branches": (),
    "boosts": (),
    "model_calls": 0,
    "cached": False,
    "model_problems": (),
    "enhanced": Enhanced(),
    "found": (),
    "hits": (),
    "nearest": (),
    "removed": {},
    "ranking_problems": (),
    "statistics": {},
    "expression": "",
    "steps": (),
    "result": None,
    "tally": None,
    "answer": "",
}
