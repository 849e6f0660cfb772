"""`eval answers`: one answer judged, and many summed up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import Field as Attribute
from pydantic import JsonValue

from evals.runs import Record
from evals.scorers.citations import is_declined, is_supported, markers, sentences
from evals.scorers.rates import mean, percentile, rate, share
from schemas.model import Shape


class Answered(Shape):
    """What came out: the text, the passages that its markers count, and what it took."""

    text: str
    passages: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    writer: str | None = None
    ms: float = 0.0
    detail: Mapping[str, JsonValue] = Attribute(default_factory=dict)
    calls: tuple[Mapping[str, JsonValue], ...] = ()


def judge(answerable: bool | None, got: Answered) -> dict[str, JsonValue]:
    """Counts of markers and sentences; sentences only of answers that do not decline."""
    declined = is_declined(got.text)
    said = () if declined else sentences(got.text)
    cited = [one for one in said if one.cites]
    numbers = markers(got.text)
    return {
        "answerable": answerable,
        "declined": declined,
        "markers": len(numbers),
        "valid": sum(1 <= number <= len(got.passages) for number in numbers),
        "sentences": len(said),
        "cited": len(cited),
        "supported": sum(is_supported(one, got.passages) for one in said),
    }


def summarise(records: Sequence[Record]) -> dict[str, Any]:
    """The figures of one model."""
    ms: list[Any] = [record.result["ms"] for record in records]
    figures = _figures(records)
    tags = dict.fromkeys(tag for record in records for tag in record.tags)
    return {
        **figures,
        "latency_ms": {"p50": percentile(ms, 50), "p95": percentile(ms, 95)},
        "sentences_mean": mean([_count([record], "sentences") for record in records]),
        "by_tag": {tag: _figures([r for r in records if tag in r.tags]) for tag in tags},
    }


def _figures(records: Sequence[Record]) -> dict[str, Any]:
    return {
        "cases": len(records),
        "citations_valid": share(_count(records, "valid"), _count(records, "markers")),
        "cited_sentences": share(_count(records, "cited"), _count(records, "sentences")),
        "supported_sentences": share(_count(records, "supported"), _count(records, "sentences")),
        "declined_unanswerable": rate(_declined(records, answerable=False)),
        "declined_answerable": rate(_declined(records, answerable=True)),
    }


def _declined(records: Iterable[Record], *, answerable: bool) -> list[bool]:
    return [
        bool(record.scores["declined"])
        for record in records
        if record.scores["answerable"] is answerable
    ]


def _count(records: Iterable[Record], name: str) -> int:
    counts: list[Any] = [record.scores[name] for record in records]
    return sum(counts)
