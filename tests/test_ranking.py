"""The chain: what runs, what fails, what is told, and what never happens."""

from __future__ import annotations

import datetime as dt
import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from agent.ranking.chain import StrategyChain
from agent.ranking.diversity import Diversity
from agent.ranking.hard_filter import HardFilter
from agent.ranking.merging import merged
from agent.ranking.packing import Packing
from agent.ranking.policy import chain_of
from agent.ranking.registry import Tools, registered
from agent.ranking.strategy import RankingContext, Strategy
from graph.ports import Wanted
from schemas.filters import EVERYTHING
from schemas.hits import Hit
from schemas.policy import Overrides, Policy
from tests.ranked_hits import a_hit, ids

TOOLS = Tools(embedding="use-multilingual-v3")
NAMES = tuple(strategy.name for strategy in registered(TOOLS, ()).strategies)
TEXTS = (
    "Remote days are agreed with the line manager and entered in the team calendar.",
    "Invoices have to show the tax number of the buyer, otherwise they are sent back.",
    "To reset a VPN token, open the service portal and choose a new one under Network.",
    "The canteen serves lunch until one o'clock, and there is a vegetarian counter.",
    "数据库备份每天凌晨两点执行，恢复到生产环境必须由运维组组长批准，并记录在日志中。",
    "Badges that were lost are reported to the reception, which blocks them at once.",
)


def wanted(query: str = "reset vpn", **parts: Any) -> Wanted:
    given_: dict[str, Any] = {"question": query, "query": query, "filter": EVERYTHING}
    return Wanted(**(given_ | {"today": dt.date(2026, 3, 1)} | parts))


def shelf(count: int = 6, kb: str = "shelf", near: float = 0.6) -> list[Hit]:
    """Hits of different documents with falling scores, the first `near` to the question."""
    return [
        a_hit(
            f"{kb}{n}",
            TEXTS[n % len(TEXTS)],
            0.9 - n / 100,
            kb=kb,
            scores={"dense": near - n / 100},
        )
        for n in range(count)
    ]


@dataclass
class Failing:
    """Fails in the place of another strategy."""

    name: str
    stage: int
    where: str = "apply"

    def supports(self, context: RankingContext) -> bool:
        if self.where == "supports":
            raise KeyError("supports")
        return True

    async def apply(self, context: RankingContext, hits: Sequence[Hit]) -> Sequence[Hit]:
        raise RuntimeError("out of order")


@dataclass
class Giving:
    """Gives the same hits, whatever it is given."""

    hits: Sequence[Any]
    name: str = "giving"
    stage: int = 22

    def supports(self, context: RankingContext) -> bool:
        return True

    async def apply(self, context: RankingContext, hits: Sequence[Hit]) -> Sequence[Hit]:
        return self.hits


def chain(**options: Any) -> StrategyChain:
    return chain_of(Policy.model_validate(options), TOOLS, plugins=())


async def test_the_chain_runs_by_stage_and_counts_what_each_step_took() -> None:
    policy = Policy(max_retrieval_results=1, min_document_length=5, min_information_density=0)
    steps = StrategyChain([Packing(), Diversity(), HardFilter()], policy=policy)
    ranking = await steps.rank(wanted(), [a_hit("A1", "abc"), a_hit("A2", "abcde"), a_hit("B1")])
    assert ids(ranking.hits) == ["A2"]
    assert dict(ranking.removed) == {"hard_filter": 2, "diversity": 0, "packing": 0}
    assert [*ranking.timings_ms] == ["hard_filter", "diversity", "packing"]
    assert not ranking.fallback
    assert not ranking.problems


async def test_the_stages_of_the_built_in_strategies() -> None:
    steps = {one.name: one.stage for one in registered(TOOLS, ()).strategies}
    assert steps == {
        **{"scoring": 5, "hard_filter": 10, "similarity": 20, "bm25": 24, "rerank": 25},
        **{"boosts": 27, "near_duplicates": 28, "diversity": 30, "packing": 40},
    }


@pytest.mark.parametrize("name", NAMES)
async def test_every_strategy_may_be_switched_off(name: str) -> None:
    ranking = await chain(disabled_strategies=[name]).rank(wanted(), shelf())
    assert ranking.hits
    assert name not in ranking.removed
    assert not ranking.problems


async def test_a_policy_that_is_off_still_packs() -> None:
    ranking = await chain(enabled=False).rank(wanted(), [a_hit("a", "x"), *shelf()])
    assert ids(ranking.hits) == ["a", "shelf0", "shelf1", "shelf2", "shelf3"]
    assert [*ranking.removed] == ["packing"]


@pytest.mark.parametrize("where", ["apply", "supports"])
@pytest.mark.parametrize("name", NAMES)
async def test_every_strategy_may_fail(
    name: str, where: str, caplog: pytest.LogCaptureFixture
) -> None:
    steps = [
        Failing(one.name, one.stage, where) if one.name == name else one
        for one in registered(TOOLS, ()).strategies
    ]
    with caplog.at_level(logging.WARNING):
        ranking = await StrategyChain(steps).rank(wanted(), shelf(4, near=0.6))
    assert ids(ranking.hits) == ["shelf0", "shelf1", "shelf2", "shelf3"]
    (problem,) = ranking.problems
    assert problem.code == ("rerank_degraded" if name == "rerank" else "strategy_failed")
    assert problem.value == name
    assert ranking.removed[name] == 0
    assert name in caplog.text
    told = [one for one in ranking.statistics["strategies"] if "fault" in one]  # type: ignore[union-attr, operator]  # a list of objects
    assert [one["strategy"] for one in told] == [name]  # type: ignore[index, call-overload]  # likewise


@pytest.mark.parametrize("place", range(len(NAMES)))
async def test_the_stage_decides_and_not_the_order_of_registration(place: int) -> None:
    steps = registered(TOOLS, ()).strategies
    turned = (*steps[place:], *steps[:place])
    first = await StrategyChain(turned).rank(wanted(), shelf())
    assert ids(first.hits) == ids((await StrategyChain(steps).rank(wanted(), shelf())).hits)
    assert [*first.removed] == [name for name in NAMES if name in first.removed]


async def test_strategies_in_other_stages_still_flow() -> None:
    steps = registered(TOOLS, ()).strategies
    for number, one in enumerate(reversed(steps)):
        one.stage = number
    ranking = await StrategyChain(steps).rank(wanted(), shelf())
    assert ranking.hits
    assert not ranking.problems


@pytest.mark.parametrize(
    "strange",
    [
        [a_hit("stranger", "-")],
        [a_hit("shelf0", "-", kb="other")],
        [*shelf(1), *shelf(1)],
        ["no hit"],
    ],
)
async def test_hits_that_no_search_found_do_not_pass(strange: list[Any]) -> None:
    steps: list[Strategy] = [Giving(strange), Packing()]
    ranking = await StrategyChain(steps).rank(wanted(), shelf(2))
    assert ids(ranking.hits) == ["shelf0", "shelf1"]
    assert [problem.code for problem in ranking.problems] == ["strategy_failed"]


async def test_where_everything_is_taken_away_the_nearest_come_back_marked() -> None:
    ranking = await chain(min_document_length=1000).rank(wanted(), shelf())
    assert ids(ranking.hits) == ["shelf0", "shelf1"]
    assert ranking.fallback
    (problem,) = ranking.problems
    assert (problem.code, problem.value) == ("all_removed", "hard_filter")
    assert ranking.statistics["emptied_by"] == ["hard_filter"]
    assert ranking.statistics["fallback"] is True
    assert not (await chain().rank(wanted(), [])).fallback


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"fallback_top_k": 3}, ["shelf0", "shelf1", "shelf2"]),
        ({"fallback_top_k": 0}, []),
        ({"fallback_enabled": False}, []),
    ],
)
async def test_the_fallback_is_as_large_as_the_policy_says(
    options: dict[str, Any], expected: list[str]
) -> None:
    ranking = await chain(min_document_length=1000, **options).rank(wanted(), shelf())
    assert ids(ranking.hits) == expected
    assert ranking.problems[0].value == "hard_filter"


async def test_statistics_tell_what_each_step_did() -> None:
    far = a_hit("far", "The menu of the canteen changes every single week of it.", kb="shelf")
    hits = [*shelf(2), far.model_copy(update={"scores": {"dense": -0.1}})]
    ranking = await chain(rerank_enabled=True).rank(wanted(), hits)
    told = ranking.statistics
    assert told["dropped"] == {"far": "similarity"}
    assert told["dropped_scores"]["far"]["similarity"] == 0  # type: ignore[index, call-overload]  # an object
    assert {*told["rerank_scores"]} == {"shelf0", "shelf1"}  # type: ignore[misc]  # an object
    assert [one["out"] for one in told["strategies"] if one["strategy"] == "similarity"] == [2]  # type: ignore[union-attr, index, call-overload]  # objects
    quiet = await chain(statistics_enabled=False).rank(wanted(), hits)
    assert not quiet.statistics
    assert quiet.removed["similarity"] == 1


async def test_a_call_overrides_single_values() -> None:
    asked = wanted(top=3)
    assert len((await chain().rank(asked, shelf())).hits) == 3
    asked = wanted(policy=Overrides(max_retrieval_results=1))
    assert len((await chain().rank(asked, shelf())).hits) == 1
    asked = wanted(policy=Overrides(min_document_length=1000))
    assert (await chain().rank(asked, shelf())).fallback
    many = [a_hit(f"d{n}", f"{n} {TEXTS[n % 6]} " * 20, scores={"dense": 0.5}) for n in range(14)]
    off = Overrides(min_information_density=0, duplicates_enabled=False)
    assert len((await chain().rank(wanted(top=10, policy=off), many)).hits) == 10


GRAFANA = {"knowledge_profiles": {"grafana-guide": {"min_document_length": 1000}}}


async def test_each_knowledge_base_is_ranked_by_its_own_profile() -> None:
    hits = [*shelf(2, "Grafana-Guide"), *shelf(2, "other")]
    ranking = await chain(**GRAFANA).rank(wanted(), hits)
    assert ids(ranking.hits) == ["other0"] or ids(ranking.hits) == ["other0", "other1"]
    assert not ranking.fallback
    assert ranking.statistics["emptied_by"] == ["hard_filter"]
    assert not ranking.problems
    ranking = await chain(**GRAFANA).rank(wanted(), shelf(2, "Grafana-Guide"))
    assert ranking.fallback


async def test_the_reranker_of_one_knowledge_base_leaves_the_others_alone() -> None:
    profiles = {"b": {"rerank_enabled": True, "reranker": "six_factor"}}
    told = await chain(knowledge_profiles=profiles).rank(
        wanted(), [*shelf(3, "a"), *(hit for hit in shelf(6, "b")[3:])]
    )
    reranked = {hit.passage.kb for hit in told.hits if "rerank" in hit.scores}
    assert reranked == {"b"}
    assert {hit.passage.kb for hit in told.hits} == {"a", "b"}


def scored(*named: tuple[str, float]) -> list[Hit]:
    return [a_hit(name, "-", score) for name, score in named]


@pytest.mark.parametrize(
    ("groups", "comparable", "expected"),
    [
        ([[("a", 0.1), ("c", 0.9)], [("b", 0.5)]], False, "a b c"),
        ([[("c", 0.9), ("a", 0.1)], [("b", 0.5)]], True, "c b a"),
        ([[("c", 0.9), ("a", 0.5)], [("b", 0.9)]], True, "b c a"),
        ([[("c", 0.9), ("a", 0.1)], [("b", 0.5)]], False, "c b a"),
        ([[("c", 0.1), ("a", 0.9)], [("b", 0.5)]], True, "c b a"),
        ([[("b", 0.1), ("a", 0.9)], []], True, "b a"),
        ([], True, ""),
    ],
)
def test_groups_are_brought_together(
    groups: list[list[tuple[str, float]]], comparable: bool, expected: str
) -> None:
    given_ = scored(("a", 0), ("b", 0), ("c", 0))
    found = merged(given_, [scored(*group) for group in groups], comparable=comparable)
    assert ids(found) == expected.split()


async def test_a_call_that_switches_off_what_is_not_there_is_told() -> None:
    call = Overrides(disabled_strategies=("boosts", "bosts"))
    ranking = await chain().rank(wanted(policy=call), shelf())
    assert [(problem.code, problem.value) for problem in ranking.problems] == [
        ("unknown_strategy", "bosts")
    ]
    assert "boosts" not in ranking.timings_ms


class Lazy:
    """Gives its hits one by one, the first with another score."""

    name = "lazy"
    stage = 22

    def __init__(self, score: float) -> None:
        self._score = score

    def supports(self, context: RankingContext) -> bool:
        return True

    async def apply(self, context: RankingContext, hits: Sequence[Hit]) -> Any:
        scores = [self._score, *(hit.score for hit in hits[1:])]
        pairs = zip(hits, scores, strict=True)
        return (hit.model_copy(update={"score": score}) for hit, score in pairs)


@pytest.mark.parametrize(
    ("score", "problems"),
    [(0.95, []), (math.nan, ["strategy_failed"]), (math.inf, ["strategy_failed"])],
)
async def test_hits_may_come_one_by_one_but_not_with_a_score_that_is_no_number(
    score: float, problems: list[str]
) -> None:
    ranking = await StrategyChain([Lazy(score), Packing()]).rank(wanted(), shelf(3))
    assert [problem.code for problem in ranking.problems] == problems
    assert ids(ranking.hits) == ["shelf0", "shelf1", "shelf2"]
    assert all(math.isfinite(hit.score) for hit in ranking.hits)
