"""What went wrong elsewhere between search and answer, by the id under which it is kept."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from pydantic import ValidationError

from agent.ranking.policy import chain_of
from agent.ranking.registry import Tools
from agent.ranking.rerank.bm25 import bm25_scores
from agent.ranking.rerank.rule import RuleReranker
from agent.ranking.rerank.six_factor import SixFactorReranker
from agent.sections import RerankSettings
from graph.ports import Ranking
from graph.tokens import tokens_of
from schemas.hits import Hit
from schemas.policy import Policy
from schemas.terms import telling_terms, terms
from tests.ranked_hits import a_context, a_hit, ids
from tests.rerank_server import RerankScript, serving

EMBEDDING = "use-multilingual-v3"
LOOSE: dict[str, Any] = {
    "min_document_length": 0,
    "min_information_density": 0,
    "duplicates_enabled": False,
    "max_per_source": 50,
}
"""Options under which only what a test is about takes anything away."""

BARE = Policy.model_validate({**LOOSE, "similarity_threshold": 0, "min_confidence_threshold": 0})


def ranked(
    policy: Policy, hits: Sequence[Hit], query: str, rerank: RerankSettings | None = None
) -> Ranking:
    tools = Tools(embedding=EMBEDDING, rerank=rerank or RerankSettings())
    context = a_context(query)
    return asyncio.run(chain_of(policy, tools, plugins=()).rank(context.wanted, hits))


def test_rr_02_a_cutoff_meets_the_similarity_and_no_other_score() -> None:
    """Scores of reciprocal rank fusion are far below every cutoff; the cosines are not."""
    policy = Policy.model_validate({**LOOSE, "similarity_threshold": 0.2, "rerank_enabled": True})
    hits = [
        a_hit("near", "the token", 0.033, scores={"fused": 0.033, "dense": 0.6}),
        a_hit("less", "the lunch", 0.016, scores={"fused": 0.016, "dense": 0.3}),
        a_hit("far", "the menu", 0.032, scores={"fused": 0.032, "dense": -0.2}),
    ]
    ranking = ranked(policy, hits, "vpn")
    assert set(ids(ranking.hits)) == {"near", "less"}
    assert ranking.removed["similarity"] == 1


@pytest.mark.parametrize("threshold", [0.033, 0.016, -0.1, 1.5, math.nan])
def test_rr_02_a_cutoff_for_another_scale_is_refused_at_the_start(threshold: float) -> None:
    with pytest.raises(ValidationError, match="similarity_threshold"):
        Policy(similarity_threshold=threshold)


def test_rr_04_bm25_of_a_tiny_candidate_set() -> None:
    texts = ["reset vpn token", "reset vpn token", "cafeteria menu"]
    first, second, menu = bm25_scores(telling_terms("reset vpn"), texts)
    assert first == second > menu == 0
    assert all(score > 0 for score in bm25_scores(telling_terms("reset vpn"), texts[:2]))
    one, other = bm25_scores(telling_terms("reset vpn"), texts[1:])
    assert one > other == 0


@pytest.mark.parametrize("texts", [[], ["", "  ", "!!!"], ["", "reset"]])
@pytest.mark.parametrize("query", ["???", "", "   "])
def test_rr_05_bm25_with_nothing_to_score(texts: list[str], query: str) -> None:
    assert bm25_scores(telling_terms(query), texts) == [0.0] * len(texts)
    assert bm25_scores(telling_terms("reset"), texts)[:1] in ([0.0], [])


@pytest.mark.parametrize("query", ["???", "reset vpn"])
def test_rr_05_the_order_stays_where_there_is_nothing_to_score(query: str) -> None:
    policy = BARE.model_copy(update={"rerank_enabled": True, "reranker": "six_factor"})
    hits = [a_hit(name, text) for name, text in zip("abc", ["!!!", "???", "..."], strict=True)]
    context = a_context(query, policy=policy)
    assert ids(asyncio.run(SixFactorReranker().apply(context, hits))) == ["a", "b", "c"]
    assert asyncio.run(SixFactorReranker().apply(context, [])) == []


def test_rr_05_chinese_without_spaces_is_more_than_one_term() -> None:
    query = "如何重置密码"
    assert len(list(terms(query))) == 5
    right, wrong = bm25_scores(telling_terms(query), ["在登录页重置密码即可", "食堂今日菜单"])
    assert right > wrong == 0


@pytest.fixture
def late_server() -> Iterator[RerankScript]:
    with serving(RerankScript(late=0.5)) as served:
        yield served


def test_rr_06_a_reranker_that_times_out_is_told_and_the_order_stays(
    late_server: RerankScript,
) -> None:
    policy = BARE.model_copy(
        update={"rerank_enabled": True, "reranker": "cross_encoder", "boosts_enabled": False}
    )
    settings = RerankSettings(url=f"{late_server.url}/tei", timeout_s=0.05)
    hits = [
        a_hit(name, "reset the vpn", 0.9 - n / 10, scores={"dense": 0.8 - n / 10})
        for n, name in enumerate("cab")
    ]
    ranking = ranked(policy, hits, "reset vpn", settings)
    assert ids(ranking.hits) == ["c", "a", "b"]
    assert [hit.score for hit in ranking.hits] == [hit.score for hit in hits]
    assert not any("rerank" in name for hit in ranking.hits for name in hit.scores)
    assert [problem.code for problem in ranking.problems] == ["rerank_degraded"]
    assert "did not answer within 0.05 s" in ranking.problems[0].message
    assert not ranking.fallback


def test_rr_07_a_step_that_removes_everything_is_named_and_the_nearest_are_kept() -> None:
    policy = Policy.model_validate({**LOOSE, "similarity_threshold": 0.99, "fallback_top_k": 1})
    hits = [a_hit(f"d{n}", "the menu", 0.5 - n / 100, scores={"dense": 0.0}) for n in range(8)]
    ranking = ranked(policy, hits, "reset vpn")
    assert ids(ranking.hits) == ["d0"]
    assert ranking.fallback
    assert ranking.removed["similarity"] == 8
    assert [(problem.code, problem.value) for problem in ranking.problems] == [
        ("all_removed", "similarity")
    ]


def test_rr_07_without_a_floor_the_result_is_empty_and_says_why() -> None:
    policy = Policy.model_validate(
        {**LOOSE, "similarity_threshold": 0.99, "fallback_enabled": False}
    )
    ranking = ranked(policy, [a_hit("d", "menu", scores={"dense": 0.0})], "reset vpn")
    assert ranking.hits == ()
    assert not ranking.fallback
    assert [problem.code for problem in ranking.problems] == ["all_removed"]


def prose(tokens: int, extra: str = "") -> str:
    """Sentences of about so many tokens, as they are guessed; `extra` stands in the middle."""
    sentence = "The canteen is open at noon on most days of the week. "
    text = ""
    while tokens_of(text + sentence) < tokens // 2:
        text += sentence
    first, text = text, ""
    while tokens_of(first + extra + text + sentence) < tokens:
        text += sentence
    return (first + extra + text).strip()


def test_rr_09_a_first_passage_above_the_budget_is_trimmed_around_the_match() -> None:
    policy = BARE.model_copy(update={"max_total_tokens": 800, "boosts_enabled": False})
    texts = [prose(1500, "Reset the VPN with a token. "), prose(200), prose(300)]
    hits = [a_hit(f"d{n}", text, 0.9 - n / 10) for n, text in enumerate(texts)]
    ranking = ranked(policy, hits, "reset vpn")
    assert ids(ranking.hits) == ["d0", "d1", "d2"]
    first, *others = (hit.passage.text for hit in ranking.hits)
    assert first in texts[0]
    assert "Reset the VPN with a token." in first
    assert first.startswith(("The", "Reset"))
    assert first.endswith(".")
    assert others == texts[1:]
    assert tokens_of("\n\n".join([first, *others])) <= 800


DATES = {"1": None, "2": "2099-01-01", "3": "2024-01-01T00:00:00+09:00", "4": "n/a"}


@pytest.mark.parametrize("strategy", [RuleReranker(RerankSettings()), SixFactorReranker()])
def test_rr_11_missing_and_future_dates_leave_every_factor_in_bounds(strategy: Any) -> None:
    hits = [
        a_hit(id_, "reset the vpn", scores={"dense": 0.5}, metadata={"publish_date": date})
        for id_, date in DATES.items()
    ]
    reranked = asyncio.run(strategy.apply(a_context(), hits))
    assert sorted(ids(reranked)) == ["1", "2", "3", "4"]
    for hit in reranked:
        factors = [
            value
            for name, value in hit.scores.items()
            if name.startswith("rerank.") and name not in ("rerank.sources", "rerank.raw")
        ]
        assert factors
        assert all(0 <= factor <= 1 for factor in [hit.score, *factors])


def test_rr_11_the_undated_stand_between_the_newer_and_the_older_by_id() -> None:
    """A document without a date has the mean freshness of the others: it neither gains nor loses,
    and the weights of the other factors stay as they are.
    """
    hits = [
        a_hit(id_, "reset the vpn", scores={"dense": 0.5}, metadata={"publish_date": date})
        for id_, date in reversed(DATES.items())
    ]
    reranked = asyncio.run(RuleReranker(RerankSettings()).apply(a_context(), hits))
    assert ids(reranked) == ["2", "1", "4", "3"]
    newest, undated, other, older = (hit.scores["rerank.freshness"] for hit in reranked)
    assert newest == 1.0
    assert undated == other == pytest.approx((newest + older) / 2)
    assert reranked[1].score == pytest.approx(0.5 * 0.5 + 0.2 + 0.2 * undated)


def test_rr_11_where_nothing_is_dated_freshness_decides_nothing() -> None:
    hits = [a_hit(id_, "reset the vpn", scores={"dense": 0.5}) for id_ in "ba"]
    reranked = asyncio.run(RuleReranker(RerankSettings()).apply(a_context(), hits))
    assert ids(reranked) == ["a", "b"]
    assert [hit.scores["rerank.freshness"] for hit in reranked] == [0.0, 0.0]


def test_rr_11_dates_play_no_part_in_the_six_factors() -> None:
    hits = [
        a_hit(id_, "reset the vpn", scores={"dense": 0.5}, metadata={"publish_date": date})
        for id_, date in reversed(DATES.items())
    ]
    reranked = asyncio.run(SixFactorReranker().apply(a_context(), hits))
    assert ids(reranked) == ["1", "2", "3", "4"]
    assert len({hit.score for hit in reranked}) == 1
