"""The strategies and the chain."""

from __future__ import annotations

import datetime as dt

import pytest

from agent.ranking.chain import StrategyChain
from agent.ranking.diversity import Diversity
from agent.ranking.hard_filter import HardFilter
from agent.ranking.packing import Packing
from agent.ranking.strategy import RankingContext
from graph.ports import Wanted
from schemas.filters import EVERYTHING
from schemas.hits import Hit
from schemas.policy import Policy
from tests.conftest import passage

WANTED = Wanted(question="q", query="q", filter=EVERYTHING, today=dt.date(2026, 3, 1))
CONTEXT = RankingContext(WANTED, Policy())


def hit(name: str, text: str = "some words of text that are long enough") -> Hit:
    """`A1` is the first passage of document A."""
    found = passage(0, text).model_copy(update={"id": name, "doc_id": name[0], "whole": False})
    return Hit(passage=found, score=1.0)


def names(hits: object) -> list[str]:
    return [one.passage.id for one in hits]  # type: ignore[attr-defined] # a sequence of hits


@pytest.mark.parametrize(
    ("given", "per_source", "expected"),
    [
        ("A1 A2 A3 B1 B2 C1", 2, "A1 B1 C1 A2 B2 A3"),
        ("A1 A2 A3", 2, "A1 A2 A3"),
        ("B1 A1 A2", 1, "B1 A1 A2"),
        ("", 2, ""),
    ],
)
async def test_diversity(given: str, per_source: int, expected: str) -> None:
    hits = [hit(name) for name in given.split()]
    assert names(await Diversity(per_source).apply(CONTEXT, hits)) == expected.split()


async def test_packing_keeps_the_first_and_skips_what_does_not_fit() -> None:
    hits = [hit("A1", "x" * 90), hit("B1", "x" * 50), hit("C1", "x" * 10), hit("D1", "x")]
    assert names(await Packing(3, 100).apply(CONTEXT, hits)) == ["A1", "C1"]
    assert names(await Packing(3, 20).apply(CONTEXT, hits)) == ["A1"]
    assert names(await Packing(2, 1000).apply(CONTEXT, hits)) == ["A1", "B1"]


async def test_the_hard_filter_counts_what_is_not_white_space() -> None:
    hits = [hit("A1", "a b c"), hit("B1", "abcde")]
    assert names(await HardFilter(5).apply(CONTEXT, hits)) == ["B1"]


async def test_the_chain_runs_by_stage_and_counts_what_each_step_took() -> None:
    chain = StrategyChain([Packing(1, 1000), Diversity(2), HardFilter(5)])
    ranking = await chain.rank(WANTED, [hit("A1", "abc"), hit("A2"), hit("B1")])
    assert names(ranking.hits) == ["A2"]
    assert dict(ranking.removed) == {"hard_filter": 1, "diversity": 0, "packing": 1}
    assert not ranking.fallback


async def test_where_everything_is_taken_away_the_nearest_come_back_marked() -> None:
    chain = StrategyChain([HardFilter(1000)], fallback=2)
    ranking = await chain.rank(WANTED, [hit("A1"), hit("B1"), hit("C1")])
    assert names(ranking.hits) == ["A1", "B1"]
    assert ranking.fallback
    assert not (await chain.rank(WANTED, [])).fallback
