"""`eval filters`: one case judged, and many summed up."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from evals.arms.arm import Attempt
from evals.runs import Record
from evals.scorers.conditions import Judged, compare, is_false_filter, is_missed_filter
from evals.scorers.execution import Rows, is_same_selection, selection_f1
from evals.scorers.rates import mean, percentile, rate, share
from evals.scorers.structure import is_accepted, is_exact
from evals.suites import Case


def judge(case: Case, attempt: Attempt, rows: Rows | None) -> dict[str, JsonValue]:
    """`said` and `meant` are conditions as [field, op, found on the other side]; `execution` is
    None without rows. A plan that failed is never right, not even where no filter is.
    """
    said, gold, collection = attempt.filter, case.gold, case.collection
    valid = not attempt.invalid
    conditions = compare(said, gold, collection)
    return {
        "exact": valid and is_exact(said, gold, collection),
        "accept": valid and is_accepted(said, gold, collection),
        "execution": None
        if rows is None
        else valid and is_same_selection(said, gold, rows, collection),
        "selection_f1": None
        if rows is None
        else round(selection_f1(said, gold, rows, collection), 4)
        if valid
        else 0.0,
        "false_filter": is_false_filter(said, gold),
        "missed_filter": is_missed_filter(said, gold),
        "said": [_plain(one) for one in conditions.said],
        "meant": [_plain(one) for one in conditions.meant],
    }


def summarise(records: Sequence[Record]) -> dict[str, Any]:
    """The figures of one arm with one model."""
    summary = _figures(records)
    summary["by_field"] = _by_field(records)
    summary["by_operator"] = _by_operator(records)
    tags = dict.fromkeys(tag for record in records for tag in record.tags)
    summary["by_tag"] = {
        tag: _rates([record for record in records if tag in record.tags]) for tag in tags
    }
    suites = dict.fromkeys(record.suite for record in records)
    if len(suites) > 1:
        summary["by_suite"] = {
            suite: _figures([record for record in records if record.suite == suite])
            for suite in suites
        }
    return summary


def _figures(records: Sequence[Record]) -> dict[str, Any]:
    said = _judged(records, "said")
    meant = _judged(records, "meant")
    ms = [_number(record, "ms") for record in records]
    figures = _rates(records)
    if all(record.scores["execution"] is None for record in records):
        del figures["execution"], figures["selection_f1"]
    return {
        **figures,
        "condition_precision": share(sum(one.hit for one in said), len(said)),
        "condition_recall": share(sum(one.hit for one in meant), len(meant)),
        "false_filter_rate": rate(_flags(records, "false_filter")),
        "missed_filter_rate": rate(_flags(records, "missed_filter")),
        "invalid": rate(bool(record.result["invalid"]) for record in records),
        "errors": sum(_has_error(record) for record in records),
        "model_calls_mean": mean([_number(record, "model_calls") for record in records]),
        "prompt_tokens_mean": mean([_number(record, "prompt_tokens") for record in records]),
        "output_tokens_mean": mean([_number(record, "output_tokens") for record in records]),
        "latency_ms": {"p50": percentile(ms, 50), "p95": percentile(ms, 95)},
        "seconds": round(sum(ms) / 1000, 1),
    }


def _rates(records: Sequence[Record]) -> dict[str, Any]:
    return {
        "cases": len(records),
        "exact": rate(_flags(records, "exact")),
        "accept": rate(_flags(records, "accept")),
        "execution": rate(_flags(records, "execution")),
        "selection_f1": mean(_measured(records, "selection_f1")),
    }


def _by_field(records: Sequence[Record]) -> dict[str, Any]:
    """`exact`: of the cases in which a field is asked for or used, those in which all of its
    conditions are right.
    """
    exact: dict[str, list[bool]] = defaultdict(list)
    for record in records:
        judged = (*_judged([record], "said"), *_judged([record], "meant"))
        for field in dict.fromkeys(one.field for one in judged):
            exact[field].append(all(one.hit for one in judged if one.field == field))
    counted = _counted(records, lambda one: one.field)
    return {field: {"exact": rate(exact[field]), **counted[field]} for field in sorted(exact)}


def _by_operator(records: Sequence[Record]) -> dict[str, Any]:
    return _counted(records, lambda one: one.op)


def _counted(records: Sequence[Record], of: Callable[[Judged], str]) -> dict[str, Any]:
    said, meant = _judged(records, "said"), _judged(records, "meant")
    names = sorted({of(one) for one in (*said, *meant)})
    return {
        name: {
            "precision": rate(one.hit for one in said if of(one) == name),
            "recall": rate(one.hit for one in meant if of(one) == name),
        }
        for name in names
    }


def _judged(records: Iterable[Record], side: str) -> list[Judged]:
    found: list[Judged] = []
    for record in records:
        listed: Any = record.scores[side]
        found += [Judged(field, op, hit) for field, op, hit in listed]
    return found


def _flags(records: Iterable[Record], name: str) -> list[bool | None]:
    values: list[Any] = [record.scores[name] for record in records]
    return values


def _measured(records: Iterable[Record], name: str) -> list[float]:
    """The scores of the cases in which there is one."""
    values: list[Any] = [record.scores.get(name) for record in records]
    return [float(value) for value in values if value is not None]


def _number(record: Record, name: str) -> float:
    value: Any = record.result[name]
    return float(value)


def _has_error(record: Record) -> bool:
    detail: Any = record.result["detail"]
    return bool(detail.get("error"))


def _plain(one: Judged) -> list[JsonValue]:
    return [one.field, one.op, one.hit]


def merged(main: Mapping[str, Any], baselines: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The summary of the main arm with those of the baselines below it."""
    return {**main, "baselines": dict(baselines)}
