"""BM25 over the candidates, and the terms it counts."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.ranking.rerank.bm25 import CandidateBm25, bm25_scores
from schemas.terms import telling_terms, terms
from tests.ranked_hits import a_context, a_hit, ids

VOCABULARY = ("vpn", "reset", "token", "menu", "lunch")
TEXTS = st.lists(st.lists(st.sampled_from(VOCABULARY), max_size=8).map(" ".join), max_size=12)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Reset the VPN-token, v2.3", ["reset", "the", "vpn", "token", "v2", "3"]),
        ("申请年假", ["申请", "请年", "年假"]),
        ("用VPN登录", ["用", "vpn", "登录"]),
        ("ＶＰＮ", ["vpn"]),
        ("???", []),
        ("  ", []),
    ],
)
def test_terms(text: str, expected: list[str]) -> None:
    assert list(terms(text)) == expected


def test_function_words_tell_nothing_unless_there_is_nothing_else() -> None:
    assert telling_terms("How do I reset the VPN, the VPN?") == ("reset", "vpn")
    assert telling_terms("who is it") == ("who", "is", "it")


def test_a_score_by_hand() -> None:
    """N = 2, n = 1, the term once in a text of two terms, average length 1.5."""
    idf = math.log(1 + (2 - 1 + 0.5) / (1 + 0.5))
    expected = idf * 1 / (1 + 1.2 * (1 - 0.75 + 0.75 * 2 / 1.5))
    assert bm25_scores(["vpn"], ["vpn token", "menu"]) == [pytest.approx(expected), 0.0]


def test_two_candidates_order_as_two_hundred_do() -> None:
    two = ["reset vpn vpn", "vpn menu lunch"]
    filler = [f"menu {number}" for number in range(198)]
    few, many = bm25_scores(["vpn"], two), bm25_scores(["vpn"], two + filler)
    assert few[0] > few[1] > 0
    assert many[0] > many[1] > 0
    assert not any(many[2:])


@given(TEXTS, st.lists(st.sampled_from(VOCABULARY), max_size=4))
def test_scores_are_positive_exactly_where_a_term_occurs(
    texts: list[str], query: list[str]
) -> None:
    scores = bm25_scores(query, texts)
    assert len(scores) == len(texts)
    for text, score in zip(texts, scores, strict=True):
        assert math.isfinite(score)
        assert (score > 0) is bool(set(query) & set(text.split()))


@given(st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=8), st.integers(0, 7))
def test_one_more_occurrence_in_place_of_another_word_never_lowers_a_score(
    words: list[str], place: int
) -> None:
    place %= len(words)
    more = [*words[:place], "vpn", *words[place + 1 :]]
    before = bm25_scores(["vpn"], [" ".join(words), "vpn"])[0]
    assert bm25_scores(["vpn"], [" ".join(more), "vpn"])[0] >= before


async def test_the_strategy_keeps_the_score_beside_the_engine_s_and_the_order() -> None:
    hits = [a_hit("a", "lunch menu", scores={"bm25": 7.0}), a_hit("b", "reset the vpn")]
    kept = await CandidateBm25().apply(a_context(), hits)
    assert ids(kept) == ["a", "b"]
    assert kept[0].scores["bm25"] == 7.0
    assert kept[0].scores["bm25_local"] == 0.0 < kept[1].scores["bm25_local"]
    assert [one.score for one in kept] == [one.score for one in hits]


async def test_title_headings_and_keywords_count() -> None:
    titled = a_hit("a", "press the button", title="VPN")
    headed = a_hit("b", "press the button", heading=("Guide", "VPN"))
    keyed = a_hit("c", "press the key")
    kept = await CandidateBm25().apply(a_context("vpn", keywords=("key",)), [titled, headed, keyed])
    assert all(one.scores["bm25_local"] > 0 for one in kept)
