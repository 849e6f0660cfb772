"""Ranking metrics, as trec_eval defines them (through pytrec_eval).

`R@k` is recall, `hit@k` whether anything right is among the first k, `MAP@k` average precision
over the number of relevant ones, `MRR@k` the reciprocal rank of the first right one, `nDCG@k`
with gain 1 per relevant one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytrec_eval

METRICS = ("R@4", "R@10", "MAP@10", "MRR@10", "hit@5", "nDCG@10")

_MEASURES = {"R": "recall", "hit": "success", "MAP": "map_cut", "nDCG": "ndcg_cut"}


def ranking_scores(
    ranked: Sequence[str], relevant: frozenset[str], metrics: Sequence[str] = METRICS
) -> dict[str, float]:
    """The metrics of one ranking, best first; repeated ids count at their first place.

    Nothing found scores 0; `relevant` may not be empty.
    """
    if not relevant:
        raise ValueError("a ranking is scored against at least one relevant id")
    unique = list(dict.fromkeys(ranked))
    return {name: _score(name, unique, relevant) for name in metrics}


def _score(name: str, ranked: Sequence[str], relevant: frozenset[str]) -> float:
    kind, cut = name.split("@")
    if kind == "MRR":
        return _measured("recip_rank", "recip_rank", ranked[: int(cut)], relevant)
    measure = _MEASURES[kind]
    return _measured(f"{measure}.{cut}", f"{measure}_{cut}", ranked, relevant)


def _measured(measure: str, key: str, ranked: Sequence[str], relevant: frozenset[str]) -> float:
    if not ranked:
        return 0.0
    judgements = {"q": dict.fromkeys(relevant, 1)}
    run = {"q": {id_: float(len(ranked) - place) for place, id_ in enumerate(ranked)}}
    found: Mapping[str, Mapping[str, float]] = pytrec_eval.RelevanceEvaluator(
        judgements, {measure}
    ).evaluate(run)
    return found["q"][key]
