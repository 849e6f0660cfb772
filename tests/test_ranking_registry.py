"""Strategies of installed packages join the chain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint

import pytest

from agent.ranking.policy import chain_of
from agent.ranking.registry import BUILT_IN, Tools
from agent.ranking.strategy import RankingContext, Strategy
from schemas.hits import Hit
from schemas.policy import Policy
from tests.ranked_hits import ids
from tests.test_ranking import NAMES, TOOLS, shelf, wanted


@dataclass
class Reversed:
    """Turns the order round, and takes nothing away."""

    name: str = "reversed"
    stage: int = 22

    def supports(self, context: RankingContext) -> bool:
        return True

    async def apply(self, context: RankingContext, hits: Sequence[Hit]) -> Sequence[Hit]:
        return [*reversed(hits)]


def plugin(name: str, value: str) -> EntryPoint:
    return EntryPoint(name, value, "facetwise.strategies")


def make_reversed(tools: Tools) -> Reversed:
    return Reversed()


def make_namesake(tools: Tools) -> Reversed:
    return Reversed(name="diversity")


def make_nameless(tools: Tools) -> Reversed:
    return Reversed(name="")


def make_nothing(tools: Tools) -> str:
    return tools.embedding


async def test_a_new_strategy_joins_without_a_change_to_the_chain() -> None:
    mine = plugin("mine", f"{__name__}:make_reversed")
    ranking = await chain_of(Policy(), TOOLS, plugins=[mine]).rank(wanted(), shelf(3))
    assert ids(ranking.hits) == ["shelf2", "shelf1", "shelf0"]
    off = Policy(disabled_strategies=("reversed",))
    ranking = await chain_of(off, TOOLS, plugins=[mine]).rank(wanted(), shelf(3))
    assert ids(ranking.hits) == ["shelf0", "shelf1", "shelf2"]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("no_such_module:thing", "ModuleNotFoundError"),
        (f"{__name__}:no_such_name", "AttributeError"),
        (f"{__name__}:make_nothing", "name, stage, supports and apply"),
        (f"{__name__}:make_nameless", "name, stage, supports and apply"),
        (f"{__name__}:make_namesake", "'diversity' is taken"),
        (f"{__name__}:NAMES", "TypeError"),
    ],
)
async def test_a_broken_plug_in_is_told_and_does_no_harm(value: str, words: str) -> None:
    broken = chain_of(Policy(), TOOLS, plugins=[plugin("broken", value)])
    ranking = await broken.rank(wanted(), shelf(3))
    assert ids(ranking.hits) == ["shelf0", "shelf1", "shelf2"]
    (problem,) = ranking.problems
    assert problem.code == "strategy_unusable"
    assert problem.value == "broken"
    assert words in problem.message


def test_every_built_in_strategy_is_a_strategy() -> None:
    assert all(isinstance(make(TOOLS), Strategy) for make in BUILT_IN)
    assert len(set(NAMES)) == len(NAMES)
