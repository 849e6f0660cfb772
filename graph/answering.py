"""The last node: a streamed answer whose markers name passages that were really sent."""

from __future__ import annotations

import re
from collections.abc import Sequence

from langgraph.runtime import Runtime

from graph.context import Context
from graph.loosening import THRESHOLD
from graph.nearest import nearest_titles
from graph.planning import described
from graph.searching import recalled
from graph.shelves import kbs_of
from graph.stages import stage, tell
from graph.state import State, Turn
from schemas.answers import Step
from schemas.filters import EVERYTHING, any_of
from schemas.hits import Hit
from schemas.language import Language, language_of
from schemas.plan import Origin, PlanOutcome, ResultOutcome

_MARKER = re.compile(r"\[(\d{1,3})\]")


async def answer(state: State, runtime: Runtime[Context]) -> State:
    """Write the answer from the ranked passages, or say in words why there is none."""
    context = runtime.context
    with stage("answer", state) as watch:
        hits = await recalled(state, context) if state.get("hits") else []
        language = language_of(state["question"])
        unsaid = await _without_passages(state, runtime, language, hits)
        if unsaid:
            tell("text", unsaid)
            text = unsaid
        else:
            text = ""
            passages = [context.shown(hit.passage) for hit in hits]
            for note in _preface(state, language):
                text += note
                tell("text", note)
            notes = [step.words for step in state.get("steps", ())]
            async for piece in context.writer.write(state["question"], passages, notes):
                text += piece
                tell("text", piece)
    return {
        "answer": text,
        "hits": state.get("hits", ()),
        "timings": watch.timings,
        "turns": [_turn(state, text)],
    }


def cited(text: str, passages: int) -> tuple[int, ...]:
    """The numbers of the markers in a text that name one of its passages, in order, once each."""
    numbers = (int(number) for number in _MARKER.findall(text))
    return tuple(dict.fromkeys(number for number in numbers if 1 <= number <= passages))


async def _without_passages(
    state: State, runtime: Runtime[Context], language: Language, hits: Sequence[Hit]
) -> str:
    """What is said where no passage is read for an answer: to a listing, and where none may
    carry one. Empty if one may.
    """
    zh = language == "zh"
    plan, tally = state["plan"], state.get("tally")
    if tally is not None:
        return tally.text
    if plan.outcome is PlanOutcome.NOT_A_QUESTION:
        return "不客气，请继续提问。" if zh else "You are welcome. What would you like to know?"
    if plan.outcome is PlanOutcome.FAILED and not runtime.context.search_after_failure:
        return (
            "没有能为这个问题制定可靠的筛选条件，因此没有检索。请换一种说法，或手动给出筛选条件。"
            if zh
            else "No reliable filter could be planned for this question, so nothing was searched. "
            "Put it in other words, or give the filter yourself."
        )
    fell_back = bool(hits) and state.get("result") is ResultOutcome.FALLBACK
    if hits and not fell_back:
        return ""
    kb = (await described(state, runtime)).name
    if fell_back:
        return _only_far(kb, plan.text, [hit.passage.title for hit in hits], language)
    if plan.text:
        nearest = _nearest_words(await nearest_titles(state, runtime.context), language)
        return (
            f"在“{kb}”中没有找到符合条件的内容（{plan.text}）。{nearest}"
            if zh
            else f"Nothing in {kb!r} matches ({plan.text}).{nearest}"
        )
    return f"在“{kb}”中没有找到相关内容。" if zh else f"Nothing relevant was found in {kb!r}."


def _only_far(kb: str, conditions: str, titles: Sequence[str], language: Language) -> str:
    """What was found meets the conditions, but is too far from the question to answer it."""
    if language == "zh":
        under = f"（{conditions}）" if conditions else ""
        named = "、".join(f"《{title}》" for title in dict.fromkeys(titles))
        return f"在“{kb}”中没有找到相关内容{under}。最接近的文档：{named}。"
    under = f" ({conditions})" if conditions else ""
    named = "; ".join(dict.fromkeys(titles))
    return f"Nothing relevant was found in {kb!r}{under}. The nearest: {named}."


def _nearest_words(titles: Sequence[str], language: Language) -> str:
    if not titles:
        return ""
    if language == "zh":
        return f"这些条件之外最接近的文档：{'、'.join(f'《{title}》' for title in titles)}。"
    return f" The nearest outside these conditions: {'; '.join(titles)}."


def _preface(state: State, language: Language) -> list[str]:
    """Said before an answer that rests on less, or on more, than was asked for."""
    zh = language == "zh"
    notes: list[str] = []
    steps: tuple[Step, ...] = state.get("steps", ())
    if steps:
        told = "；".join(step.words for step in steps) if zh else "; ".join(s.words for s in steps)
        if all(step.action == THRESHOLD for step in steps):
            why = "没有足够接近问题的内容" if zh else "Nothing is close enough to the question"
        else:
            why = "没有完全符合条件的文档" if zh else "No document meets all conditions"
        notes.append(
            f"{why}（{told}）。最接近的结果：\n" if zh else f"{why} ({told}). The nearest:\n"
        )
    if state["plan"].outcome is PlanOutcome.FAILED:
        notes.append(
            "未能制定筛选条件，以下结果未经筛选：\n"
            if zh
            else "No filter could be planned; these results are not filtered:\n"
        )
    return notes


def _turn(state: State, text: str) -> Turn:
    """What the thread keeps. A turn that was no question keeps the conditions before it."""
    plan = state["plan"]
    kb = ", ".join(kbs_of(state))
    before = [turn for turn in state.get("turns", []) if turn.kb == kb]
    conditions = tuple(c for c in plan.conditions if c.origin is Origin.MODEL)
    proposal = state.get("proposal")
    filter_ = any_of(*(branch.filter for branch in proposal.branches)) if proposal else EVERYTHING
    if plan.outcome in (PlanOutcome.NOT_A_QUESTION, PlanOutcome.FAILED) and before:
        conditions, filter_ = before[-1].conditions, before[-1].filter
    return Turn(
        question=state["question"],
        answer=text,
        kb=kb,
        conditions=conditions,
        filter=filter_,
        doc_ids=tuple(dict.fromkeys(ref.doc_id for ref in state.get("hits", ()))),
    )
