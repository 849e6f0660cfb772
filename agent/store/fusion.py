"""Scores of the two legs of a hybrid search brought together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

Scores = Mapping[str, float]
"""Scores of one leg by id."""


class Method(StrEnum):
    WEIGHTED = "weighted"
    RRF = "rrf"


@dataclass(frozen=True)
class Fusion:
    """How the legs are weighed. `rrf_k` is the constant of Cormack, Clarke and Buettcher (2009).

    Weighted scores are (1 + cosine) / 2, and the square of BM25's share of the highest sum found:
    the 2/pi * atan(BM25) of Milvus' WeightedRanker is close to 1 for any hit with two or three
    terms, so that full text could hardly tell them apart; and the square keeps hits with a few
    common words behind those with most of them (docs/benchmarks.md compares).
    """

    method: Method = Method.WEIGHTED
    text: float = 0.05
    vector: float = 0.95
    rrf_k: int = 60

    def fuse(self, dense: Scores, bm25: Scores | None) -> dict[str, dict[str, float]]:
        """Parts and `fused` (0..1) by id, best first. Scores are cosines and BM25 sums; an id
        without one counts as having no similarity there, `bm25=None` as no such leg at all.
        """
        match self.method:
            case Method.WEIGHTED:
                fused = self._weighted(dense, bm25)
            case Method.RRF:
                fused = self._reciprocal([dense] if bm25 is None else [dense, bm25])
            case _ as never:
                assert_never(never)
        order = sorted(fused, key=lambda id_: (-fused[id_], id_))
        return {id_: _parts(id_, dense, bm25, fused[id_]) for id_ in order}

    def _weighted(self, dense: Scores, bm25: Scores | None) -> dict[str, float]:
        text = 0.0 if bm25 is None else self.text
        terms = bm25 or {}
        highest = max(terms.values(), default=0.0) or 1.0
        return {
            id_: (
                self.vector * (1 + dense.get(id_, -1.0)) / 2
                + text * (terms.get(id_, 0.0) / highest) ** 2
            )
            / (text + self.vector)
            for id_ in {**dense, **terms}
        }

    def _reciprocal(self, legs: Sequence[Scores]) -> dict[str, float]:
        best = len(legs) / (self.rrf_k + 1)
        fused: dict[str, float] = {}
        for leg in legs:
            for rank, id_ in enumerate(_ranked(leg), start=1):
                fused[id_] = fused.get(id_, 0.0) + 1 / (self.rrf_k + rank) / best
        return fused


def _ranked(leg: Scores) -> Sequence[str]:
    return sorted(leg, key=lambda id_: (-leg[id_], id_))


def _parts(id_: str, dense: Scores, bm25: Scores | None, fused: float) -> dict[str, float]:
    parts = {"fused": fused}
    if id_ in dense:
        parts["dense"] = dense[id_]
    if bm25 is not None:
        parts["bm25"] = bm25.get(id_, 0.0)
    return parts
