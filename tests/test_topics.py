"""Talks that turn from one kind of thing to another."""

from __future__ import annotations

import pytest

from agent.planning.topics import still_meant
from schemas.collection import Collection, Field, FieldType
from tests.planning_cases import link


def nothing(word: str) -> bool:
    return False


@pytest.mark.parametrize(
    ("history", "question", "expected"),
    [
        (("a cheap hotel in Leeds",), "now find me a restaurant there", (False,)),
        (("a cheap hotel in Leeds",), "find one with parking", (True,)),
        (("a cheap hotel in Leeds",), "I want a hotel with a pool", (True,)),
        (("找一家高档酒店", "周边有什么景点？"), "酒店的电话是多少", (True, True)),
        (("找一家高档酒店", "电话是多少"), "再帮我找一个免费的景点", (False, False)),
        (("想吃火锅，推荐餐馆", "找个景点玩"), "回头推荐一家餐馆吧", (True, False)),
        (("what do the HR policies say?",), "and the Finance ones?", (True,)),
        ((), "find a hotel", ()),
    ],
)
def test_what_still_holds(
    history: tuple[str, ...], question: str, expected: tuple[bool, ...]
) -> None:
    assert still_meant(history, question, nothing) == expected


def test_a_kind_that_is_a_value_is_a_condition_like_any_other() -> None:
    history = ("reports about hotels of 2023",)
    assert still_meant(history, "find those about restaurants", nothing) == (False,)
    known = {"hotels", "restaurants"}
    assert still_meant(history, "find those about restaurants", known.__contains__) == (True,)


def test_conditions_of_the_thing_before_are_gone() -> None:
    places = Collection(
        name="places",
        fields=(Field(name="price", type=FieldType.NUMBER, description="Price per head"),),
    )
    history = ("a hotel with a price below 90",)
    assert [m.words for m in link("any with parking?", places, history=history)] == ["90"]
    assert link("find me a restaurant", places, history=history) == ()
