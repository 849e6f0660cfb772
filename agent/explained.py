"""Why a search found what it found, as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from graph.context import Context
from graph.state import State
from schemas.enhanced import Enhanced
from schemas.hits import HitRef

EXPLAINED = 20
"""Passages explained: the first that the search found."""

STAGES: Mapping[str, tuple[str, ...]] = {
    "filter": ("introspect", "link", "validate"),
    "model": ("plan",),
    "enrichment": ("enhance",),
    "search": ("search", "listing"),
    "rerank": ("rank",),
    "loosening": ("loosen",),
}
"""The nodes that each stage of a search is made of."""


def explained(
    state: State, context: Context, counterfactuals: Sequence[Mapping[str, JsonValue]]
) -> dict[str, JsonValue]:
    """The first passages found and what became of each, what every ranking step did, the
    engine's expression, milliseconds by stage, what was added to the question, and what each
    condition costs.
    """
    statistics = state.get("statistics", {})
    return {
        "expression": state.get("expression", ""),
        "found": _found(state, context),
        "found_total": len(state.get("found", ())),
        "removed": dict(state.get("removed", {})),
        "strategies": statistics.get("strategies", []),
        "problems": [problem.message for problem in state.get("ranking_problems", ())],
        "enhanced": _enhanced(state.get("enhanced") or Enhanced()),
        "counterfactuals": [dict(one) for one in counterfactuals],
        "stages_ms": _stages(state.get("timings", {})),
        "timings_ms": dict(state.get("timings", {})),
    }


def _found(state: State, context: Context) -> list[JsonValue]:
    kept = {(ref.kb, ref.id): (place, ref) for place, ref in enumerate(state.get("hits", ()), 1)}
    return [
        told
        for rank, ref in enumerate(state.get("found", ())[:EXPLAINED], start=1)
        if (told := _one(rank, ref, kept.get((ref.kb, ref.id)), state, context)) is not None
    ]


def _one(
    rank: int, ref: HitRef, kept: tuple[int, HitRef] | None, state: State, context: Context
) -> dict[str, JsonValue] | None:
    """`rank` is the place that the search gave it, `kept` its place in the result; `removed_by`
    the step that took it away, None where it was kept or stands behind the last place.
    """
    passage = context.passage(ref)
    if passage is None:
        return None
    statistics = state.get("statistics", {})
    scores: dict[str, JsonValue] = dict(ref.scores)
    reranked = _at(statistics.get("rerank_scores"), ref.id)
    if reranked is not None:
        scores["rerank"] = reranked
    if kept is not None:
        scores |= kept[1].scores
    return {
        "rank": rank,
        "id": ref.id,
        "kb": ref.kb,
        "title": passage.title,
        "heading": list(passage.heading),
        "score": ref.score if kept is None else kept[1].score,
        "scores": scores,
        "kept": None if kept is None else kept[0],
        "removed_by": None if kept is not None else _at(statistics.get("dropped"), ref.id),
        "metadata": dict(context.shown(passage).metadata),
    }


def _at(table: JsonValue, key: str) -> JsonValue:
    return table.get(key) if isinstance(table, dict) else None


def _enhanced(added: Enhanced) -> dict[str, JsonValue]:
    parts: Mapping[str, Sequence[str]] = {
        "keywords": added.keywords,
        "translations": added.translations,
        "tags": added.tags,
        "entities": added.entities,
        "problems": [problem.message for problem in added.problems],
    }
    return {name: list(words) for name, words in parts.items() if words}


def _stages(timings: Mapping[str, float]) -> dict[str, JsonValue]:
    return {
        name: round(sum(timings[node] for node in nodes if node in timings), 3)
        for name, nodes in STAGES.items()
        if any(node in timings for node in nodes)
    }
