"""Plans, results and answers as plain text for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agent.cli.explained import explained_text
from schemas.answers import SearchResult
from schemas.language import language_of
from schemas.listing import Listing
from schemas.plan import Plan, PlanOutcome, ResultOutcome

SNIPPET = 240


def plan_text(plan: Plan) -> str:
    """The plan in words, one line a fact."""
    lines = [
        f"outcome    {plan.outcome}",
        f"search for {plan.query or '(everything that matches)'}",
    ]
    lines.append(f"filter     {plan.text or '(none)'}")
    if plan.listing is not None:
        lines.append(f"listing    {listing_words(plan.listing)}")
    for condition in plan.conditions:
        value = "" if condition.value is None else f" {condition.value!r}"
        because = f"   because of {condition.words!r}" if condition.words else ""
        lines.append(f"  - {condition.field} {condition.op}{value} ({condition.origin}){because}")
    for number, branch in enumerate(plan.branches, start=1):
        if len(plan.branches) > 1:
            lines.append(f"branch {number}   {branch.query or '(everything that matches)'}")
    lines += [f"problem    {problem.message}" for problem in plan.problems]
    if plan.expression:
        lines.append(f"expression {plan.expression}")
    took = ", ".join(f"{name} {ms:.0f} ms" for name, ms in plan.timings_ms.items())
    lines.append(f"model      {plan.model or '(none)'}, {plan.model_calls} call(s); {took}")
    return "\n".join(lines)


def listing_words(listing: Listing) -> str:
    """What is listed, such as `group by department` or `list by pages, descending, 3`."""
    told: list[str] = [listing.kind.value]
    if listing.group:
        told.append(f"by {listing.unit or listing.group}")
    if listing.sort is not None:
        way = "descending" if listing.sort.descending else "ascending"
        told.append(f"in order of {listing.sort.field or 'size'}, {way}")
    if listing.limit is not None:
        told.append(f"first {listing.limit}")
    return "; ".join(told)


def search_text(result: SearchResult) -> str:
    """Ranked passages below the filter in words; of a listing, its answer."""
    lines = [filter_text(result.filter.model_dump(mode="json"))]
    if result.plan.listing is not None:
        lines += ["", result.text]
        return "\n".join(lines + _why(result))
    if result.explain is None:
        lines += problems_text(problem.message for problem in result.problems)
    if result.filter.result is ResultOutcome.FALLBACK:
        lines.append("\nNothing is close enough to the question; the nearest:")
    for hit in result.hits:
        lines.append(f"\n[{hit.number}] {hit.title}   {hit.score:.3f}   {hit.source}")
        lines.append(f"    {about(hit.metadata)}")
        lines.append(f"    {snippet(hit.text)}")
    if result.nearest:
        lines.append("\nOutside these conditions, nearest:")
        lines += [f"  - {one.title} ({one.source})" for one in result.nearest]
    return "\n".join(lines + _why(result))


def _why(result: SearchResult) -> list[str]:
    if result.explain is None:
        return []
    return ["", *explained_text(result.explain, language_of(result.question))]


def filter_text(block: Mapping[str, Any]) -> str:
    """The filter block of an answer, in two or three lines."""
    nothing = "(no condition)" if block["plan"] != PlanOutcome.FAILED else "(planning failed)"
    lines = [f"Filter: {block['text'] or nothing}   [{block['plan']}, {block['result']}]"]
    lines += [f"Loosened: {step['words']}" for step in block["loosened"]]
    lines += [f"Note: {problem['message']}" for problem in block["dropped"]]
    return "\n".join(lines)


def problems_text(messages: Iterable[str]) -> list[str]:
    """What failed after planning, a line each."""
    return [f"Note: {message}" for message in messages]


def references_text(references: Sequence[Mapping[str, Any]], cited: Sequence[int]) -> str:
    """The cited passages with what is known of them."""
    lines = []
    for reference in references:
        if reference["number"] in cited:
            lines.append(f"[{reference['number']}] {reference['title']} ({reference['source']})")
            lines.append(f"    {about(reference['metadata'])}")
    return "\n".join(lines)


def about(metadata: Mapping[str, Any]) -> str:
    """Metadata in one line, long values cut."""
    return "; ".join(f"{name}: {_short(value)}" for name, value in metadata.items())


def snippet(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= SNIPPET else f"{flat[:SNIPPET]}…"


def _short(value: Any) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= 80 else f"{text[:80]}…"
