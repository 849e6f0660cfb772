"""Boosts: what they add, and what they may not do."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given

from agent.ranking.boosts.boosts import Boosts
from agent.ranking.boosts.words import overlap, pagerank
from agent.sections import BoostSettings, RerankSettings
from schemas.collection import Collection
from schemas.hits import Hit
from schemas.operators import Op
from schemas.plan import Condition
from schemas.policy import Policy
from tests.ranked_hits import SHELF, a_context, a_hit, ids, many_hits

OFFICIAL = Condition(field="is_official", op=Op.EQ, value=True, words="official", hard=False)
RECENT = Condition(field="publish_date", op=Op.GE, value="2025-01-01", words="recent", hard=False)
WISHES: dict[str, Any] = {"boosts": (OFFICIAL, RECENT), "tags": ("vpn",), "entities": ("Acme",)}


def boosts(limit: float = 0.1, **weights: Any) -> Boosts:
    """Only the boosts that are given weigh anything."""
    names = ("wishes", "tags", "entities", "pagerank", "freshness", "authority")
    given = {**dict.fromkeys(names, 0.0), "limit": limit, **weights}
    return Boosts(BoostSettings(**given), RerankSettings(authority={"handbook/*": 0.5}))


@pytest.mark.parametrize(
    ("name", "wanted", "metadata", "share"),
    [
        ("wishes", {"boosts": (OFFICIAL,)}, {"is_official": True}, 1.0),
        ("wishes", {"boosts": (OFFICIAL, RECENT)}, {"is_official": True}, 0.5),
        ("wishes", {"boosts": (OFFICIAL,)}, {"is_official": False}, 0.0),
        ("wishes", {"boosts": (OFFICIAL,)}, {}, 0.0),
        ("tags", {"tags": ("VPN", "travel")}, {"tags": ["vpn", "other"]}, 0.5),
        ("tags", {"tags": ("vpn",)}, {"tags": "VPN"}, 1.0),
        ("tags", {}, {"tags": ["vpn"]}, 0.0),
        ("entities", {"entities": ("Acme",)}, {"entities": ["ACME", "Zeta"]}, 1.0),
        ("pagerank", {}, {"pagerank": 50}, 0.5),
        ("freshness", {}, {"publish_date": "2026-03-01"}, 1.0),
        ("freshness", {}, {"publish_date": "n/a"}, 0.0),
        ("authority", {}, {"is_official": True}, 1.0),
    ],
)
async def test_a_boost_is_its_weight_by_how_far_it_holds(
    name: str, wanted: dict[str, Any], metadata: dict[str, Any], share: float
) -> None:
    hit = a_hit("a", "text", 0.5, metadata=metadata)
    (boosted,) = await boosts(**{name: 0.04}).apply(a_context(**wanted), [hit])
    assert boosted.score == pytest.approx(0.5 + 0.04 * share)
    assert boosted.scores.get(f"boost.{name}", 0.0) == pytest.approx(0.04 * share)
    assert len(boosted.scores) == (1 if share else 0)


async def test_a_wish_orders_near_equals_and_removes_nothing() -> None:
    hits = [
        a_hit("draft", score=0.71, metadata={"is_official": False}),
        a_hit("official", score=0.70, metadata={"is_official": True}),
        a_hit("unrelated", score=0.40, metadata={"is_official": True}),
    ]
    ranked = await boosts(wishes=0.06).apply(a_context(boosts=(OFFICIAL,)), hits)
    assert ids(ranked) == ["official", "draft", "unrelated"]


async def test_all_boosts_together_stay_below_the_limit_in_proportion() -> None:
    hit = a_hit("a", score=0.5, metadata={"is_official": True, "tags": ["vpn"]})
    context = a_context(boosts=(OFFICIAL,), tags=("vpn",))
    (boosted,) = await boosts(limit=0.1, wishes=0.3, tags=0.1).apply(context, [hit])
    assert boosted.scores["boost.wishes"] == pytest.approx(0.075)
    assert boosted.scores["boost.tags"] == pytest.approx(0.025)


@given(many_hits())
async def test_boosts_permute_and_never_lift_over_a_clearly_better_hit(hits: list[Hit]) -> None:
    hits.sort(key=lambda hit: -hit.score)
    settings = BoostSettings(wishes=1, tags=1, entities=1, pagerank=1, freshness=1, authority=1)
    stage = Boosts(settings, RerankSettings())
    ranked = await stage.apply(a_context(**WISHES), hits)
    assert sorted(ids(ranked)) == sorted(ids(hits))
    assert all(0 <= one.score <= 1 for one in ranked)
    assert all(math.isfinite(part) for one in ranked for part in one.scores.values())
    before = {hit.passage.id: hit.score for hit in hits}
    place = {hit.passage.id: number for number, hit in enumerate(ranked)}
    for one in hits:
        for other in hits:
            if before[one.passage.id] > before[other.passage.id] + settings.limit + 1e-9:
                assert place[one.passage.id] < place[other.passage.id]
    assert await stage.apply(a_context(**WISHES), hits) == ranked


@given(many_hits())
async def test_without_wishes_the_order_stays_whatever_the_scores_are(hits: list[Hit]) -> None:
    ranked = await boosts(wishes=0.1, tags=0.1, entities=0.1).apply(a_context(), hits)
    assert list(ranked) == hits


async def test_a_hit_behind_on_another_scale_comes_forward_by_its_boost_only() -> None:
    reranked = [a_hit("a", score=0.3), a_hit("b", score=0.25)]
    behind = [a_hit("c", score=0.9), a_hit("d", score=0.8, metadata={"is_official": True})]
    ranked = await boosts(wishes=0.06).apply(a_context(boosts=(OFFICIAL,)), [*reranked, *behind])
    assert ids(ranked) == ["d", "a", "b", "c"]


async def test_a_wish_counts_only_where_the_knowledge_base_has_the_field() -> None:
    bare = Collection(name="bare", fields=())
    hits = [
        a_hit("a", score=0.5, kb="bare", metadata={"is_official": True}),
        a_hit("b", score=0.5, metadata={"is_official": True}),
        a_hit("c", score=0.5, kb="unknown", metadata={"is_official": True}),
    ]
    context = a_context(boosts=(OFFICIAL,), collections={"shelf": SHELF, "bare": bare})
    ranked = await boosts(wishes=0.06).apply(context, hits)
    assert ids(ranked) == ["b", "a", "c"]
    assert [len(one.scores) for one in ranked] == [1, 0, 0]


async def test_a_knowledge_base_may_have_a_pagerank() -> None:
    hits = [a_hit("a", kb="x"), a_hit("b"), a_hit("c", metadata={"pagerank": 10})]
    ranked = await boosts(pagerank=0.1, pageranks={"shelf": 50}).apply(a_context(), hits)
    assert ids(ranked) == ["b", "c", "a"]


async def test_the_field_of_tags_may_have_another_name() -> None:
    stage = Boosts(BoostSettings(), RerankSettings(), tag_field="标签")
    (boosted,) = await stage.apply(
        a_context(tags=("vpn",)), [a_hit("a", metadata={"标签": ["VPN"], "tags": []})]
    )
    assert boosted.scores == {"boost.tags": pytest.approx(0.03)}


def test_boosts_can_be_switched_off() -> None:
    assert boosts().supports(a_context(policy=Policy()))
    assert not boosts().supports(a_context(policy=Policy(boosts_enabled=False)))


@pytest.mark.parametrize(
    ("value", "default", "expected"),
    [
        (100, 0, 1.0),
        (1e9, 0, 1.0),
        (-5, 0, 0.0),
        ("25", 0, 0.25),
        ("many", 30, 0.3),
        (None, 0, 0.0),
    ],
)
def test_pagerank(value: Any, default: float, expected: float) -> None:
    assert pagerank(value, default) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("wanted", "value", "expected"),
    [
        (("a", "b"), ["A"], 0.5),
        (("新能源",), ["新能源"], 1.0),
        (("a",), None, 0.0),
        (("a",), [1, None], 0.0),
        (("", " "), ["a"], 0.0),
        ((), ["a"], 0.0),
    ],
)
def test_overlap(wanted: tuple[str, ...], value: Any, expected: float) -> None:
    assert overlap(wanted, value) == expected
