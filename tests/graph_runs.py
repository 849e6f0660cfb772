"""Runs of the graph for tests."""

from __future__ import annotations

from typing import Any

from graph.build import build_graph
from graph.context import Context
from graph.state import State
from schemas.filters import EVERYTHING
from schemas.plan import Mode


async def run(context: Context, question: str = "q", **given: Any) -> State:
    """The state at the end, of a question to `company` unless `given` says otherwise."""
    defaults: dict[str, Any] = {
        "question": question,
        "kb": "company",
        "mode": Mode.AUTO,
        "keys": (),
        "caller": EVERYTHING,
        "history": (),
        "goal": "answer",
        "top": None,
    }
    graph: Any = build_graph().compile()
    state: State = await graph.ainvoke(defaults | given, context=context)
    return state
