"""`eval retrieval`: one ranking judged, and many summed up."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from evals.arms.planned import PLANNED
from evals.arms.retrieved import Retrieved
from evals.runs import Record
from evals.scorers.execution import selected
from evals.scorers.ranking import METRICS, ranking_scores
from evals.scorers.rates import Z95, mean, percentile, rate, share
from evals.suites import Case
from schemas.filters import EVERYTHING, Filter

Named = Sequence[tuple[str, Mapping[str, JsonValue]]]
"""What the suite calls each document, with its metadata."""


def judge(case: Case, got: Retrieved, rows: Named) -> dict[str, JsonValue]:
    """The metrics; `relevant` counts the right documents, `lost` those that the filter shuts out
    that was searched under, `lost_by_plan` those that the filter as planned would, `wronged` those
    of the first that a right filter lets through.
    """
    relevant = frozenset(case.relevant)
    scores: dict[str, JsonValue] = {**ranking_scores(got.ranked, relevant)}

    def shut_out(f: Filter) -> frozenset[str]:
        kept = relevant if f == EVERYTHING else selected(f, rows, case.collection)
        return relevant - kept

    lost = shut_out(got.effective)
    return {
        **scores,
        "relevant": len(relevant),
        "lost": len(lost),
        "lost_by_plan": len(shut_out(got.filter)),
        "wronged": min(len(lost - shut_out(one.filter)) for one in case.gold.all),
    }


def summarise(records: Sequence[Record]) -> dict[str, Any]:
    """The figures of one arm: means over the cases, with a normal 95 % interval each."""
    ms = [_number(record.result["ms"]) for record in records]
    values = {name: [_number(record.scores[name]) for record in records] for name in METRICS}
    return {
        **{name: mean(found) for name, found in values.items()},
        "cases": len(records),
        "ci95": {name: interval(found) for name, found in values.items()},
        "latency_ms": {"p50": percentile(ms, 50), "p95": percentile(ms, 95)},
    }


def losses(records: Sequence[Record]) -> dict[str, Any]:
    """What the planned filters cost: right documents that they shut out, of those of all cases,
    with and without loosening, in how many cases a wrong filter did it, and how often a filter had
    to be loosened.
    """
    planned = [record for record in records if record.arm == PLANNED]
    relevant = _total(planned, "relevant")
    return {
        "lost_by_filter": share(_total(planned, "lost"), relevant),
        "lost_by_plan": share(_total(planned, "lost_by_plan"), relevant),
        "wronged": rate(bool(record.scores["wronged"]) for record in planned),
        "loosened": rate(bool(record.result["loosened"]) for record in planned),
        "filtered": rate(record.result["outcome"] == "planned" for record in planned),
    }


def interval(values: Sequence[float]) -> list[float] | None:
    """Of a mean, by the normal approximation; None below two values."""
    n = len(values)
    if n < 2:
        return None
    centre = sum(values) / n
    spread = math.sqrt(sum((value - centre) ** 2 for value in values) / (n - 1) / n)
    return [round(centre - Z95 * spread, 4), round(centre + Z95 * spread, 4)]


def _total(records: Sequence[Record], name: str) -> int:
    return sum(int(_number(record.scores[name])) for record in records)


def _number(value: JsonValue) -> float:
    if not isinstance(value, int | float):
        raise TypeError(f"{value!r} is not a number")
    return float(value)
