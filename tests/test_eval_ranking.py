"""Ranking metrics against tables made by hand and against a second implementation."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.scorers.ranking import METRICS, ranking_scores

LOG3 = 1 / math.log2(3)


@pytest.mark.parametrize(
    ("ranked", "relevant", "expected"),
    [
        ("abcd", "a", {"R@4": 1, "R@10": 1, "MAP@10": 1, "MRR@10": 1, "hit@5": 1, "nDCG@10": 1}),
        ("xayb", "ab", {"R@4": 1, "MAP@10": 0.5, "MRR@10": 0.5}),
        ("xayb", "abc", {"R@4": 2 / 3, "MAP@10": (1 / 2 + 2 / 4) / 3, "MRR@10": 0.5, "hit@5": 1}),
        ("xyzwva", "a", {"R@4": 0, "R@10": 1, "MAP@10": 1 / 6, "MRR@10": 1 / 6, "hit@5": 0}),
        ("xa", "ab", {"nDCG@10": LOG3 / (1 + LOG3)}),
        ("0123456789a", "a", {"R@10": 0, "MAP@10": 0, "MRR@10": 0, "nDCG@10": 0}),
        ("", "a", dict.fromkeys(METRICS, 0)),
        ("aaaab", "ab", {"R@4": 1, "MAP@10": 1}),
    ],
)
def test_against_hand_made_tables(ranked: str, relevant: str, expected: dict[str, float]) -> None:
    scores = ranking_scores(list(ranked), frozenset(relevant))
    assert {name: scores[name] for name in expected} == pytest.approx(expected)


IDS = [f"d{number}" for number in range(15)]


@given(st.permutations(IDS), st.integers(0, 15), st.sets(st.sampled_from(IDS), min_size=1))
def test_against_a_second_implementation(order: list[str], found: int, relevant: set[str]) -> None:
    ranked, right = order[:found], frozenset(relevant)
    scores = ranking_scores(ranked, right)
    gains = [1.0 if one in right else 0.0 for one in ranked[:10]]
    places = [place for place, gain in enumerate(gains, start=1) if gain]
    precisions = [sum(gains[:place]) / place for place in places]
    dcg = sum(gain / math.log2(k + 2) for k, gain in enumerate(gains))
    ideal = sum(1 / math.log2(k + 2) for k in range(min(10, len(right))))
    expected = {
        "R@4": sum(gains[:4]) / len(right),
        "R@10": sum(gains) / len(right),
        "hit@5": float(any(gains[:5])),
        "MRR@10": 1 / places[0] if places else 0.0,
        "MAP@10": sum(precisions) / len(right),
        "nDCG@10": dcg / ideal,
    }
    assert scores == pytest.approx(expected)


def test_a_ranking_without_anything_relevant_has_no_score() -> None:
    with pytest.raises(ValueError, match="at least one"):
        ranking_scores(["a"], frozenset())
