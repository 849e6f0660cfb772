"""Rerankers without a server: rules, six factors, embeddings."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.ranking.rerank.authority import Authority
from agent.ranking.rerank.closeness import closeness
from agent.ranking.rerank.coverage import coverage
from agent.ranking.rerank.embedding import EmbeddingReranker, cosine
from agent.ranking.rerank.freshness import Freshness
from agent.ranking.rerank.rule import RuleFactors, RuleReranker
from agent.ranking.rerank.selection import reranker_of
from agent.ranking.rerank.six_factor import (
    SixFactorReranker,
    SixFactors,
    length_factor,
    source_bonus,
)
from agent.ranking.strategy import Strategy
from agent.sections import RerankSettings
from schemas.collection import Collection, Field, FieldType
from schemas.errors import ModelError, ModelUnavailable, SettingsError
from schemas.hits import Hit
from schemas.policy import Policy
from tests.ranked_hits import SHELF, TODAY, a_context, a_hit, ids, many_hits


@dataclass
class Letters:
    """Vectors count a, b and c; None in place of one is left out."""

    fault: Exception | None = None
    short: int = 0
    asked: list[str] = field(default_factory=list)

    async def embed_query(self, text: str) -> list[float]:
        if self.fault is not None:
            raise self.fault
        return self._vector(text)

    async def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        self.asked += texts
        return [self._vector(text) for text in texts][: len(texts) - self.short]

    def _vector(self, text: str) -> list[float]:
        return [float(text.count(letter)) for letter in "abc"]


RULE = RuleReranker(RerankSettings(rule_results=50))
RERANKERS: dict[str, Strategy] = {
    "rule": RULE,
    "six_factor": SixFactorReranker(),
    "embedding": EmbeddingReranker(Letters()),
}


@pytest.mark.parametrize("name", RERANKERS)
@given(hits=many_hits(), limit=st.integers(1, 12))
async def test_reranking_permutes_with_finite_scores_and_always_alike(
    name: str, hits: list[Hit], limit: int
) -> None:
    reranker = RERANKERS[name]
    context = a_context(policy=Policy(rerank_enabled=True, rerank_candidate_limit=limit))
    ranked = await reranker.apply(context, hits)
    head = len(hits) if name == "rule" else min(limit, len(hits))
    assert sorted(ids(ranked)) == sorted(ids(hits))
    assert list(ranked[head:]) == hits[head:]
    assert all(0 <= one.score <= 1 for one in ranked)
    assert all(math.isfinite(score) for one in ranked for score in one.scores.values())
    assert [one.score for one in ranked[:head]] == sorted(
        (one.score for one in ranked[:head]), reverse=True
    )
    assert await reranker.apply(context, hits) == ranked


@pytest.mark.parametrize("name", RERANKERS)
@given(hits=many_hits(), data=st.data())
async def test_the_order_of_candidates_decides_nothing(
    name: str, hits: list[Hit], data: st.DataObject
) -> None:
    context = a_context(policy=Policy(rerank_enabled=True, rerank_candidate_limit=50))
    shuffled = data.draw(st.permutations(hits))
    ranked = await RERANKERS[name].apply(context, hits)
    assert ids(await RERANKERS[name].apply(context, shuffled)) == ids(ranked)


@pytest.mark.parametrize("name", RERANKERS)
async def test_engine_scores_stay_beside_the_new_one(name: str) -> None:
    hits = [a_hit("a", "reset vpn", 0.8, scores={"fused": 0.8, "dense": 0.7})]
    (ranked,) = await RERANKERS[name].apply(a_context(), hits)
    assert (ranked.scores["fused"], ranked.scores["dense"]) == (0.8, 0.7)
    assert ranked.scores["rerank"] == ranked.score


@pytest.mark.parametrize("name", RERANKERS)
async def test_reranking_is_off_unless_the_policy_asks_for_it(name: str) -> None:
    assert not RERANKERS[name].supports(a_context(policy=Policy()))
    assert RERANKERS[name].supports(a_context())


@pytest.mark.parametrize(
    ("factors", "expected"),
    [
        (RuleFactors(1, 1, 1, 1), 1.0),
        (RuleFactors(1, 0, 0, 0), 0.5),
        (RuleFactors(0, 1, 0, 0), 0.2),
        (RuleFactors(0, 0, 1, 0), 0.2),
        (RuleFactors(0, 0, 0, 1), 0.1),
        (RuleFactors(0.8, 0.5, 0.9, 1), 0.78),
        (RuleFactors(0, 0, 0, 0), 0.0),
    ],
)
def test_the_weights_of_the_rules(factors: RuleFactors, expected: float) -> None:
    assert factors.total == pytest.approx(expected)


@pytest.mark.parametrize(
    ("near", "words", "date", "official", "better"),
    [
        (0.9, "reset vpn", "2026-03-01", True, "similarity"),
        (0.5, "reset vpn vpn", "2026-03-01", True, "coverage"),
        (0.5, "reset vpn", "2026-03-01", True, "freshness"),
        (0.5, "reset vpn", "2016-03-01", True, "authority"),
    ],
)
async def test_each_rule_lifts_the_passage_that_has_it(
    near: float, words: str, date: str, official: bool, better: str
) -> None:
    poor: dict[str, Any] = {"publish_date": date, "is_official": official}
    worse = {
        "similarity": a_hit("a", words, scores={"dense": 0.2}, metadata=poor),
        "coverage": a_hit("a", "menu", scores={"dense": near}, metadata=poor),
        "freshness": a_hit(
            "a", words, scores={"dense": near}, metadata={**poor, "publish_date": "2018-01-01"}
        ),
        "authority": a_hit(
            "a", words, scores={"dense": near}, metadata={**poor, "is_official": False}
        ),
    }[better]
    good = a_hit("b", words, scores={"dense": near}, metadata=poor)
    first, second = await RULE.apply(a_context(), [worse, good])
    assert first.passage.id == "b"
    assert first.scores[f"rerank.{better}"] > second.scores[f"rerank.{better}"]


ALIKE = Policy(rerank_enabled=True, duplicates_enabled=False)


async def test_fifty_go_into_the_rules_and_eight_come_out() -> None:
    hits = [a_hit(f"d{n:02}", "vpn" if n >= 49 else "menu", 1 - n / 1000) for n in range(60)]
    ranked = await RuleReranker(RerankSettings()).apply(a_context("vpn", policy=ALIKE), hits)
    assert ids(ranked) == ["d49", *(f"d{n:02}" for n in range(7))]
    asked = await RuleReranker(RerankSettings()).apply(a_context("vpn", top=12, policy=ALIKE), hits)
    assert len(asked) == 12
    few = RerankSettings(rule_candidates=3, rule_results=1)
    assert ids(await RuleReranker(few).apply(a_context("vpn", top=4, policy=ALIKE), hits))[3:] == [
        "d03",
        "d04",
    ]


@pytest.mark.parametrize("removed", [True, False])
async def test_near_duplicates_take_no_place_among_the_eight(removed: bool) -> None:
    hits = [a_hit(f"same{n}", "vpn reset token", 0.9) for n in range(9)]
    hits += [a_hit(f"other{word}", f"menu {word * 9}", 0.5) for word in "abcdefghi"]
    policy = Policy(rerank_enabled=True, duplicates_enabled=removed)
    ranked = await RuleReranker(RerankSettings()).apply(a_context("vpn", policy=policy), hits)
    texts = {hit.passage.text for hit in ranked}
    assert len(texts) == (8 if removed else 1)
    assert len(ranked) == (16 if removed else 8)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-03-01", 1.0),
        ("2099-01-01", 1.0),
        ("2021-03-03", 0.5),
        ("2016-03-03", 0.0),
        ("1970-01-01", 0.0),
        ("2026-03-01T00:00:00", 1.0),
        ("2026-03-01T00:00:00+09:00", 1.0),
        ("2026-03", 1.0),
        (None, None),
        ("", None),
        ("n/a", None),
        ("2024-13-01", None),
        (["2024-01-01"], None),
    ],
)
def test_freshness(value: Any, expected: float | None) -> None:
    found = Freshness({"shelf": SHELF}, TODAY).of(
        a_hit("a", metadata={"publish_date": value}).passage
    )
    assert found == (None if expected is None else pytest.approx(expected, abs=1e-3))


@given(st.dates(), st.dates())
def test_freshness_stays_within_bounds_on_any_two_days(published: dt.date, today: dt.date) -> None:
    passage = a_hit("a", metadata={"publish_date": published.isoformat()}).passage
    found = Freshness({"shelf": SHELF}, today).of(passage)
    assert found is not None
    assert 0 <= found <= 1
    assert (found == 1) is (published >= today)


@pytest.mark.parametrize(
    ("fields", "metadata", "dated"),
    [
        ("created publish_date", {"publish_date": "2026-03-01"}, True),
        ("created publish_date", {"created": "2026-03-01"}, False),
        ("发布日期 created", {"发布日期": "2026-03-01"}, True),
        ("deadline", {"deadline": "2026-03-01"}, True),
        ("deadline birthday", {"deadline": "2026-03-01"}, False),
        ("", {"publish_date": "2026-03-01"}, False),
    ],
)
def test_the_date_is_found_by_the_name_of_its_field(
    fields: str, metadata: dict[str, str], dated: bool
) -> None:
    made = tuple(Field(name=name, type=FieldType.DATE) for name in fields.split())
    fresh = Freshness({"shelf": Collection(name="shelf", fields=made)}, TODAY)
    assert (fresh.of(a_hit("a", metadata=metadata).passage) == 1.0) is dated
    named = Freshness({}, TODAY, "seen")
    assert named.of(a_hit("a", metadata={"seen": "2026-03-01"}).passage) == 1.0


@pytest.mark.parametrize(
    ("metadata", "source", "expected"),
    [
        ({"is_official": True}, "blog/a.md", 1.0),
        ({"is_official": "yes"}, "blog/a.md", 1.0),
        ({"is_official": False}, "handbook/a.md", 0.8),
        ({}, "handbook/law/a.md", 0.9),
        ({"is_official": "perhaps"}, "blog/a.md", 0.0),
    ],
)
def test_authority(metadata: dict[str, Any], source: str, expected: float) -> None:
    authority = Authority({"shelf": SHELF}, {"handbook/*": 0.8, "handbook/law/*": 0.9})
    assert authority.of(a_hit("a", metadata=metadata, source=source).passage) == expected


def test_the_field_for_official_may_be_named() -> None:
    passage = a_hit("a", metadata={"approved": True, "is_official": False}).passage
    assert Authority({"shelf": SHELF}, {}, "approved").of(passage) == 1.0
    assert Authority({"shelf": SHELF}, {}).of(passage) == 0.0


@pytest.mark.parametrize(
    ("query", "text", "expected"),
    [
        (("reset", "vpn"), "Reset the VPN", 1.0),
        (("reset", "vpn"), "a vpn", 0.5),
        (("申请", "年假"), "年假制度", 0.5),
        ((), "anything", 0.0),
        (("vpn",), "", 0.0),
    ],
)
def test_coverage(query: tuple[str, ...], text: str, expected: float) -> None:
    assert coverage(query, text) == expected


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([{"similarity": 0.9, "dense": 0.1}, {"similarity": 0.3}], [0.9, 0.3]),
        ([{"similarity": 0.9}, {"dense": 0.8}], [0.9, 0.0]),
        ([{"dense": 0.8}, {"bm25": 12.0}], [0.8, 0.0]),
        ([{"dense": -0.2}, {"dense": math.nan}], [0.0, 0.0]),
        ([{"fused": 0.033}, {"fused": 0.0165}], [1.0, 0.5]),
        ([{}, {}], [0.0, 0.0]),
    ],
)
def test_closeness_is_one_measure_for_all(
    scores: list[dict[str, float]], expected: list[float]
) -> None:
    hits = [a_hit(str(n), score=one.get("fused", 0.0), scores=one) for n, one in enumerate(scores)]
    assert closeness(hits) == [pytest.approx(one) for one in expected]


def test_a_worked_total_of_one() -> None:
    """0.36 + 0.15 + 0.10 + 0.12 + 0.25 + 0.02 = 1.000: the raw sum is not the best there is. The
    weights, said to be shares of one whole, sum to 1.15, so a sum of 1 is 0.870 of the highest;
    the ceiling of 1 that the weights suggest would make everything above it equal.
    """
    one = SixFactors(similarity=0.9, bm25=0.75, length=1, density=0.8, coverage=1, sources=2)
    assert one.raw == pytest.approx(1.000, abs=5e-4)
    assert one.total == pytest.approx(1.000 / 1.15, abs=5e-4)


def test_a_worked_total_of_0_627() -> None:
    """0.300 + 0.087 + 0.050 + 0.090 + 0.100 + 0 = 0.627, of a text of 2000 characters."""
    one = SixFactors(
        similarity=0.75,
        bm25=0.435,
        length=length_factor(2000),
        density=0.6,
        coverage=0.4,
        sources=1,
    )
    assert one.raw == pytest.approx(0.627, abs=5e-4)
    assert one.total == pytest.approx(0.627 / 1.15, abs=5e-4)


def test_the_highest_raw_total_is_the_sum_of_the_weights() -> None:
    best = SixFactors(similarity=1, bm25=1, length=1, density=1, coverage=1, sources=99)
    assert best.raw == pytest.approx(1.15)
    assert best.total == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("characters", "expected"),
    [(0, 0.0), (50, 0.5), (99, 0.99), (100, 1.0), (1000, 1.0), (2000, 0.5), (10_000, 0.1)],
)
def test_the_length_factor(characters: int, expected: float) -> None:
    assert length_factor(characters) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("sources", "expected"),
    [(0, 0.0), (1, 0.0), (2, 0.02), (3, 0.03), (5, 0.05), (6, 0.05), (100, 0.05)],
)
def test_the_source_bonus(sources: int, expected: float) -> None:
    assert source_bonus(sources) == pytest.approx(expected)


async def test_the_six_factors_of_hits() -> None:
    long = "Reset the vpn token. " + "Every word here is another one than before " * 3
    hits = [
        a_hit("a#0", long.strip(), scores={"dense": 0.8}),
        a_hit("a#1", "reset", scores={"dense": 0.6}),
        a_hit("b#0", "menu " * 10, scores={"dense": 0.7, "bm25": 3.0}),
    ]
    ranked = await SixFactorReranker().apply(a_context(), hits)
    parts = {hit.passage.id: hit.scores for hit in ranked}
    assert ids(ranked)[0] == "a#0"
    assert parts["a#0"]["rerank.similarity"] == 0.8
    assert parts["a#0"]["rerank.coverage"] == 1.0
    assert parts["a#1"]["rerank.coverage"] == 0.5
    assert parts["a#0"]["rerank.length"] == 1.0
    assert parts["a#1"]["rerank.length"] == 0.05
    assert (parts["a#0"]["rerank.sources"], parts["b#0"]["rerank.sources"]) == (2, 1)
    assert parts["b#0"]["rerank.density"] == 0.0
    assert max(one["rerank.bm25"] for one in parts.values()) == 1.0
    for one in parts.values():
        assert one["rerank"] == pytest.approx(one["rerank.raw"] / 1.15)


async def test_embeddings_order_by_the_cosine_with_the_whole_question() -> None:
    embedder = Letters()
    hits = [a_hit("x", "aaa"), a_hit("y", "ab"), a_hit("z", "b", title="bb", heading=("bb", "b"))]
    context = a_context("a", question="bb")
    ranked = await EmbeddingReranker(embedder).apply(context, hits)
    assert ids(ranked) == ["z", "y", "x"]
    assert [one.score for one in ranked] == pytest.approx([1.0, (1 + 0.5**0.5) / 2, 0.5])
    assert embedder.asked == ["aaa", "ab", "bb\nb\nb"]


async def test_words_may_weigh_beside_the_embedding() -> None:
    hits = [a_hit("x", "bb cc"), a_hit("y", "b bbb")]
    context = a_context("bb?")
    plain = await EmbeddingReranker(Letters()).apply(context, hits)
    assert ids(plain) == ["y", "x"]
    mixed = await EmbeddingReranker(Letters(), term_weight=0.3).apply(context, hits)
    assert ids(mixed) == ["x", "y"]
    assert mixed[0].score == pytest.approx(0.7 * (1 + 0.5**0.5) / 2 + 0.3)
    assert [one.scores["rerank.coverage"] for one in mixed] == [1.0, 0.0]


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [([1, 0], [2, 0], 1.0), ([1, 0], [0, 1], 0.0), ([1, 0], [-3, 0], -1.0), ([0, 0], [1, 0], 0.0)],
)
def test_cosine(left: list[float], right: list[float], expected: float) -> None:
    assert cosine(left, right) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("left", "right"), [([1.0], [1.0, 2.0]), ([math.nan], [1.0]), ([math.inf], [1.0])]
)
def test_vectors_that_cannot_be_compared(left: list[float], right: list[float]) -> None:
    with pytest.raises(ModelError):
        cosine(left, right)


async def test_what_the_embedder_raises_rises() -> None:
    with pytest.raises(ModelUnavailable, match="gone"):
        await EmbeddingReranker(Letters(fault=ModelUnavailable("gone"))).apply(
            a_context(), [a_hit("a", "a")]
        )
    with pytest.raises(ModelError, match="1 passages gave 0"):
        await EmbeddingReranker(Letters(short=1)).apply(a_context(), [a_hit("a", "a")])
    nothing: list[Hit] = []
    broken = EmbeddingReranker(Letters(fault=ModelUnavailable("gone")))
    assert await broken.apply(a_context(), nothing) == nothing


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (Policy(), None),
        (Policy(rerank_enabled=True), "RuleReranker"),
        (Policy(rerank_enabled=True, reranker="six_factor"), "SixFactorReranker"),
        (Policy(rerank_enabled=True, reranker="embedding"), "EmbeddingReranker"),
        (Policy(rerank_enabled=True, reranker="cross_encoder"), "CrossEncoder"),
    ],
)
def test_the_policy_chooses(policy: Policy, expected: str | None) -> None:
    settings = RerankSettings(url="http://127.0.0.1:9/rerank")
    found = reranker_of(policy, settings=settings, embedder=Letters())
    assert (type(found).__name__ if found else None) == expected


@pytest.mark.parametrize(
    ("reranker", "word"),
    [("embedding", "rag.filter.reranker"), ("cross_encoder", "rag.rerank.url")],
)
def test_a_reranker_without_what_it_works_with_names_the_setting(reranker: str, word: str) -> None:
    policy = Policy.model_validate({"rerank_enabled": True, "reranker": reranker})
    with pytest.raises(SettingsError, match=word):
        reranker_of(policy, settings=RerankSettings())
