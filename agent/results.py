"""From a run's state to what goes back to whoever asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import JsonValue

from graph.answering import cited
from graph.context import Context
from graph.state import State
from schemas.answers import (
    Answer,
    Event,
    EventKind,
    FilterBlock,
    FoundDocument,
    Reference,
    SearchResult,
)
from schemas.compile.text import to_text
from schemas.filters import EVERYTHING, Filter, all_of, any_of
from schemas.hits import HitRef
from schemas.language import language_of
from schemas.normalise import normalise
from schemas.plan import Condition, Problem, ResultOutcome


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
    question: str,
    state: State,
    context: Context,
    explain: Mapping[str, JsonValue] | None = None,
) -> SearchResult:
    tally = state.get("tally")
    return SearchResult(
        question=question,
        plan=state["plan"],
        filter=filter_block(state),
        hits=references(state.get("hits", ()), context),
        total=tally.total if tally else None,
        groups=tally.groups if tally else (),
        text=tally.text if tally else "",
        nearest=references(state.get("nearest", ()), context),
        documents=found_documents(state.get("found", ()), context),
        timings_ms=state.get("timings", {}),
        explain=explain,
        problems=_problems(state),
    )


def answer_of(question: str, state: State, context: Context, thread: str | None) -> Answer:
    shown = references(state.get("hits", ()), context)
    text, tally = state.get("answer", ""), state.get("tally")
    written = shown and state.get("result") is not ResultOutcome.FALLBACK
    return Answer(
        question=question,
        text=text,
        references=shown,
        cited=cited(text, len(shown)),
        nearest=references(state.get("nearest", ()), context),
        plan=state["plan"],
        filter=filter_block(state),
        thread=thread,
        model=context.writer.name if written and tally is None else None,
        timings_ms=state.get("timings", {}),
        total=tally.total if tally else None,
        groups=tally.groups if tally else (),
        problems=_problems(state),
    )


def events_of(answer: Answer) -> Iterator[Event]:
    """What is sent after the text: the filter block, the references, the whole of the rest."""
    dumped = answer.model_dump(mode="json")
    yield Event(kind=EventKind.FILTER, data=dumped["filter"])
    yield Event(
        kind=EventKind.REFERENCES,
        data={name: dumped[name] for name in ("references", "cited", "nearest")},
    )
    yield Event(
        kind=EventKind.DONE,
        data={
            key: dumped[key]
            for key in ("text", "thread", "model", "timings_ms", "total", "groups", "problems")
        },
    )


def references(refs: tuple[HitRef, ...], context: Context) -> tuple[Reference, ...]:
    """Numbered from 1 in the order of the hits, as the markers of the answer count them."""
    found = [(ref, passage) for ref in refs if (passage := context.passage(ref)) is not None]
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


def found_documents(refs: tuple[HitRef, ...], context: Context) -> tuple[FoundDocument, ...]:
    """The hits by document, best first; of equal ones the first found."""
    by_document: dict[tuple[str, str], list[HitRef]] = {}
    for ref in refs:
        by_document.setdefault((ref.kb, ref.doc_id), []).append(ref)
    made = []
    for (kb, doc_id), found in by_document.items():
        passage = context.passage(found[0])
        made.append(
            FoundDocument(
                doc_id=doc_id,
                kb=kb,
                title=doc_id if passage is None else passage.title,
                hits=len(found),
                score=max(ref.score for ref in found),
            )
        )
    return tuple(sorted(made, key=lambda document: -document.score))


def _problems(state: State) -> tuple[Problem, ...]:
    """What failed between planning and answer."""
    enhanced = state.get("enhanced")
    return (*(enhanced.problems if enhanced else ()), *state.get("ranking_problems", ()))


def _text(filter_: Filter, question: str) -> str:
    return "" if filter_ == EVERYTHING else to_text(filter_, None, language_of(question))


def _kept(
    conditions: tuple[Condition, ...], dropped: tuple[Condition, ...]
) -> tuple[Condition, ...]:
    return tuple(condition for condition in conditions if condition not in dropped)
