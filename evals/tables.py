"""Summaries as plain text for a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_RATES = (
    "exact",
    "accept",
    "execution",
    "condition_precision",
    "condition_recall",
    "false_filter_rate",
    "missed_filter_rate",
    "invalid",
)
_ANSWER_RATES = (
    "citations_valid",
    "cited_sentences",
    "supported_sentences",
    "declined_unanswerable",
    "declined_answerable",
)


def filters_text(summary: Mapping[str, Any]) -> str:
    """One column per arm and model, one line per figure; then tags, and where the run is."""
    columns = _columns(summary)
    width = max(12, *(len(name) for name in columns)) + 2
    lines = ["".join((" " * 20, *(f"{name:>{width}}" for name in columns)))]
    for name in _RATES:
        if any(name in column for column in columns.values()):
            lines.append(_line(name, [_rate(c.get(name)) for c in columns.values()], width))
    if any("selection_f1" in column for column in columns.values()):
        cells = [_plain(c.get("selection_f1")) for c in columns.values()]
        lines.append(_line("selection_f1", cells, width))
    for name in ("p50", "p95"):
        cells = [_plain(c["latency_ms"][name]) for c in columns.values()]
        lines.append(_line(f"ms {name}", cells, width))
    calls = [_plain(c["model_calls_mean"]) for c in columns.values()]
    lines.append(_line("model calls", calls, width))
    lines.append(_line("cases", [str(c["cases"]) for c in columns.values()], width))
    return "\n".join([*lines, "", *_groups(summary), f"run folder: {summary['folder']}"])


def retrieval_text(summary: Mapping[str, Any]) -> str:
    """One line per arm, one column per metric; then what filters cost."""
    arms = summary["arms"]
    names = [name for name in next(iter(arms.values())) if "@" in name]
    lines = ["".join((f"{'':<20}", *(f"{name:>10}" for name in names), f"{'ms p50':>10}"))]
    for arm, figures in arms.items():
        cells = [f"{figures[name]:.3f}" for name in names]
        cells.append(_plain(figures["latency_ms"]["p50"]))
        lines.append(_line(arm, cells, 10))
    lines += [
        "",
        f"cases {summary['cases']}, model {summary['model']}, {_fusion(summary['fusion'])}",
        *(
            f"{name:<20}{_rate(summary[name])}"
            for name in ("filtered", "lost_by_filter", "lost_by_plan", "wronged", "loosened")
        ),
        f"run folder: {summary['folder']}",
    ]
    return "\n".join(lines)


def answers_text(summary: Mapping[str, Any]) -> str:
    """One line per figure, one column per model."""
    models = summary.get("models", {summary["model"]: summary})
    width = max(20, *(len(name) + 2 for name in models))
    lines = ["".join((f"{'':<24}", *(f"{name:>{width}}" for name in models)))]
    for name in _ANSWER_RATES:
        lines.append(
            "".join((f"{name:<24}", *(f"{_rate(one[name]):>{width}}" for one in models.values())))
        )
    return "\n".join([*lines, f"cases {summary['cases']}", f"run folder: {summary['folder']}"])


def _fusion(weights: Mapping[str, Any]) -> str:
    """How text and vectors were weighed."""
    if weights["method"] == "rrf":
        return "reciprocal ranks"
    return f"text {weights['text']} : vector {weights['vector']}"


def _columns(summary: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    columns: dict[str, Mapping[str, Any]] = {}
    for model, one in summary.get("models", {summary["model"]: summary}).items():
        columns[f"planned {model}"] = one
        for arm, figures in one["baselines"].items():
            columns[f"{arm} {model}" if figures["model"] else arm] = figures
    return columns


def _groups(summary: Mapping[str, Any]) -> list[str]:
    """Suites and tags of the main arm."""
    lines = []
    for title in ("by_suite", "by_tag"):
        for name, one in summary.get(title, {}).items():
            lines.append(
                f"{name:<20}  exact {_rate(one['exact'])}  accept {_rate(one['accept'])}"
                f"  of {one['cases']}"
            )
    return [*lines, ""] if lines else []


def _line(name: str, cells: list[str], width: int) -> str:
    return "".join((f"{name:<20}", *(f"{cell:>{width}}" for cell in cells)))


def _rate(found: Mapping[str, Any] | None) -> str:
    if found is None or found["rate"] is None:
        return "-"
    low, high = found["ci95"]
    return f"{found['rate']:.3f} ±{(high - low) / 2:.3f}"


def _plain(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"
