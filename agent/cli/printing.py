"""Plans, results and answers as plain text for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from schemas.answers import SearchResult
from schemas.plan import Plan, PlanOutcome

SNIPPET = 240


def plan_text(plan: Plan) -> str:
    """The plan in words, one line a fact."""
    lines = [
        f"outcome    {plan.outcome}",
        f"search for {plan.query or '(everything that matches)'}",
    ]
    lines.append(f"filter     {plan.text or '(none)'}")
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


def search_text(result: SearchResult) -> str:
    """Ranked passages below the filter in words."""
    lines = [filter_text(result.filter.model_dump(mode="json"))]
    for hit in result.hits:
        lines.append(f"\n[{hit.number}] {hit.title}   {hit.score:.3f}   {hit.source}")
        lines.append(f"    {about(hit.metadata)}")
        lines.append(f"    {snippet(hit.text)}")
    if result.explain is not None:
        lines += ["", *_explained(result.explain)]
    return "\n".join(lines)


def filter_text(block: Mapping[str, Any]) -> str:
    """The filter block of an answer, in two or three lines."""
    nothing = "(no condition)" if block["plan"] != PlanOutcome.FAILED else "(planning failed)"
    lines = [f"Filter: {block['text'] or nothing}   [{block['plan']}, {block['result']}]"]
    lines += [f"Loosened: {step['words']}" for step in block["loosened"]]
    lines += [f"Note: {problem['message']}" for problem in block["dropped"]]
    return "\n".join(lines)


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


def _explained(explain: Mapping[str, Any]) -> list[str]:
    lines = [f"expression: {explain['expression'] or '(none)'}"]
    lines += [
        f"  {number:2}. {one['score']:.3f}  "
        + " ".join(f"{name}={score:.3f}" for name, score in one["scores"].items())
        + f"  {one['title']} ({one['id']})"
        for number, one in enumerate(explain["found"], start=1)
    ]
    removed = ", ".join(f"{name} {count}" for name, count in explain["removed"].items())
    lines.append(f"removed by: {removed or 'nothing'}")
    took = ", ".join(f"{name} {ms:.1f}" for name, ms in explain["timings_ms"].items())
    lines.append(f"milliseconds: {took}")
    return lines
