"""The two legs of a hybrid search: nearest vectors, and BM25 over terms.

They are two calls rather than one `hybrid_search`: that returns only the fused score, ignores a
`filter` argument in silence, and on Lite reports BM25 with the wrong sign.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from agent.store.bases import Bases
from agent.store.targets import Row, Target


@dataclass
class Candidates:
    """Scores and rows by id. `depth` is how many were asked of each leg; `bm25` is None where
    there is no such leg.
    """

    depth: int
    dense: dict[str, float] = field(default_factory=dict)
    bm25: dict[str, float] | None = None
    rows: dict[str, Row] = field(default_factory=dict)
    timings_ms: dict[str, float] = field(default_factory=dict)
    found: dict[str, int] = field(default_factory=dict)

    @property
    def exhausted(self) -> bool:
        """True if asking deeper cannot find more."""
        return all(number < self.depth for number in self.found.values())


async def search_legs(
    bases: Bases,
    target: Target,
    expression: str,
    *,
    terms: str,
    vector: Sequence[float],
    depth: int,
) -> Candidates:
    """Both legs at once, each under the whole expression; the cosines of hits that only BM25
    found come from their vectors, so that every candidate has one. `terms` are a question's as
    the BM25 index takes them.
    """
    found = Candidates(depth)
    legs = [_dense(bases, target, expression, vector, found)]
    if target.sparse is not None and terms:
        legs.append(_bm25(bases, target, expression, found, terms=terms, vector=vector))
    await asyncio.gather(*legs)
    return found


async def _dense(
    bases: Bases, target: Target, expression: str, vector: Sequence[float], found: Candidates
) -> None:
    rows = await _leg(bases, target, expression, found, name="dense", data=[list(vector)])
    found.dense.update((id_, similarity(distance, target.metric)) for id_, distance in rows)


async def _bm25(
    bases: Bases,
    target: Target,
    expression: str,
    found: Candidates,
    *,
    terms: str,
    vector: Sequence[float],
) -> None:
    """Vectors come with the rows: a look-up of their own would cost another call."""
    rows = await _leg(bases, target, expression, found, name="bm25", data=[terms])
    # Lite reports BM25 negated.
    found.bm25 = {id_: abs(distance) for id_, distance in rows}
    with_vectors = [found.rows[id_] for id_, _ in rows if target.dense in found.rows[id_]]
    for id_, cosine in similarities(vector, with_vectors, target).items():
        found.dense.setdefault(id_, cosine)


async def _leg(
    bases: Bases,
    target: Target,
    expression: str,
    found: Candidates,
    *,
    name: str,
    data: list[Any],
) -> list[tuple[str, float]]:
    started = time.perf_counter()
    is_dense = name == "dense"
    results = await bases.read(
        "search",
        target.chunks,
        data=data,
        anns_field=target.dense if is_dense else target.sparse,
        filter=expression,
        limit=found.depth,
        output_fields=[
            *target.outputs,
            *([] if is_dense or target.dense is None else [target.dense]),
        ],
        search_params={"params": {"ef": max(found.depth, 128)}} if is_dense else {},
    )
    scores: list[tuple[str, float]] = []
    for hit in results[0]:
        row = {**hit["entity"], target.key: hit[target.key]}
        found.rows[target.id_of(row)] = row
        scores.append((target.id_of(row), float(hit["distance"])))
    found.found[name] = len(scores)
    found.timings_ms[name] = (time.perf_counter() - started) * 1000
    return scores


def similarities(
    vector: Sequence[float], rows: Sequence[Row], target: Target
) -> Mapping[str, float]:
    """By row id, what the engine's own search would tell of these rows with their vectors."""
    if not rows or target.dense is None:
        return {}
    asked = np.asarray(vector, np.float64)
    stored = np.asarray([row[target.dense] for row in rows], np.float64)
    match target.metric:
        case "L2":
            distances = ((stored - asked) ** 2).sum(axis=1)
        case "IP":
            distances = stored @ asked
        case _:
            sizes = np.linalg.norm(stored, axis=1) * np.linalg.norm(asked)
            distances = np.divide(stored @ asked, sizes, out=np.zeros(len(rows)), where=sizes > 0)
    return {
        target.id_of(row): similarity(float(distance), target.metric)
        for row, distance in zip(rows, distances, strict=True)
    }


def similarity(distance: float, metric: str) -> float:
    """A distance as a similarity of at most 1: cosine as it is, inner product cut, L2 (which
    Milvus gives squared) inverted.
    """
    if metric == "L2":
        return 1 / (1 + distance) * 2 - 1
    return max(-1.0, min(1.0, distance))
