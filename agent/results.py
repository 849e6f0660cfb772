"""From a run's state to what goes back to whoever asked."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import JsonValue

from graph.answering import cited
from graph.context import Context
from graph.state import State
from schemas.answers import (
    Answer,
    Event,
    EventKind,
    FilterBlock,
    Reference,
    SearchResult,
)
from schemas.compile.text import to_text
from schemas.filters import EVERYTHING, Filter, all_of, any_of
from schemas.hits import HitRef
from schemas.language import language_of
from schemas.normalise import normalise
from schemas.plan import Condition, ResultOutcome

EXPLAINED = 20


def filter_block(state: State) -> FilterBlock:
    """How the filter came about and what became of it."""
    plan = state["plan"]
    caller = state.get("caller", EVERYTHING)
    effective = normalise(any_of(*(all_of(caller, branch.filter) for branch in state["branches"])))
    steps = state.get("steps", ())
    return FilterBlock(
        plan=plan.outcome,
        result=state.get("result") or ResultOutcome.NOTHING_MATCHED,
        filter=effective if state["branches"] else plan.filter,
        text=plan.text if not steps else _text(effective, state["question"]),
        conditions=_kept(plan.conditions, tuple(step.condition for step in steps)),
        dropped=plan.problems,
        loosened=steps,
        expression=state.get("expression", ""),
    )


def result_of(
    question: str, state: State, context: Context, *, explain: bool = False
) -> SearchResult:
    return SearchResult(
        question=question,
        plan=state["plan"],
        filter=filter_block(state),
        hits=references(state.get("hits", ()), context),
        timings_ms=state.get("timings", {}),
        explain=_explained(state, context) if explain else None,
    )


def answer_of(question: str, state: State, context: Context, thread: str | None) -> Answer:
    shown = references(state.get("hits", ()), context)
    text = state.get("answer", "")
    return Answer(
        question=question,
        text=text,
        references=shown,
        cited=cited(text, len(shown)),
        plan=state["plan"],
        filter=filter_block(state),
        thread=thread,
        model=context.writer.name if shown else None,
        timings_ms=state.get("timings", {}),
    )


def events_of(answer: Answer) -> Iterator[Event]:
    """What is sent after the text: the filter block, the references, the whole of the rest."""
    dumped = answer.model_dump(mode="json")
    yield Event(kind=EventKind.FILTER, data=dumped["filter"])
    yield Event(
        kind=EventKind.REFERENCES,
        data={"references": dumped["references"], "cited": dumped["cited"]},
    )
    yield Event(
        kind=EventKind.DONE,
        data={key: dumped[key] for key in ("text", "thread", "model", "timings_ms")},
    )


def references(refs: tuple[HitRef, ...], context: Context) -> tuple[Reference, ...]:
    """Numbered from 1 in the order of the hits, as the markers of the answer count them."""
    found = [(ref, context.passages[ref.id]) for ref in refs if ref.id in context.passages]
    return tuple(
        Reference(
            number=number,
            id=passage.id,
            doc_id=passage.doc_id,
            kb=passage.kb,
            title=passage.title,
            source=passage.source,
            heading=passage.heading,
            text=passage.text,
            score=ref.score,
            metadata=context.shown(passage).metadata,
        )
        for number, (ref, passage) in enumerate(found, start=1)
    )


def _explained(state: State, context: Context) -> dict[str, JsonValue]:
    found: list[JsonValue] = []
    for reference, ref in zip(
        references(state.get("found", ())[:EXPLAINED], context),
        state.get("found", ())[:EXPLAINED],
        strict=False,
    ):
        found.append(
            {
                "id": reference.id,
                "title": reference.title,
                "score": reference.score,
                "scores": dict(ref.scores),
                "metadata": dict(reference.metadata),
            }
        )
    return {
        "expression": state.get("expression", ""),
        "found": found,
        "removed": dict(state.get("removed", {})),
        "timings_ms": dict(state.get("timings", {})),
    }


def _text(filter_: Filter, question: str) -> str:
    return "" if filter_ == EVERYTHING else to_text(filter_, None, language_of(question))


def _kept(
    conditions: tuple[Condition, ...], dropped: tuple[Condition, ...]
) -> tuple[Condition, ...]:
    return tuple(condition for condition in conditions if condition not in dropped)
