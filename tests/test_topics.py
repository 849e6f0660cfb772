"""Talks that turn from one kind of thing to another."""

from __future__ import annotations

import pytest

from agent.planning.topics import kind_of, only_kind, still_meant
from schemas.collection import Collection, Field, FieldType
from tests.planning_cases import link, plan, whole


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


@pytest.mark.parametrize(
    ("history", "question", "expected"),
    [
        (("a hotel in Leeds", "what is the weather in York?"), "with parking", (True, False)),
        (("the weather in York", "a hotel in Leeds"), "with parking", (False, True)),
        (("a hotel in Leeds",), "find me a restaurant", (False,)),
        (("something cheap",), "with parking", (True,)),
    ],
)
def test_the_talk_comes_back_to_what_the_collection_is_about(
    history: tuple[str, ...], question: str, expected: tuple[bool, ...]
) -> None:
    hotels = only_kind((Field(name="hotel_name", type=FieldType.STRING),))
    assert still_meant(history, question, nothing, hotels) == expected


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (("hotel_name", "price"), kind_of("hotel")),
        (("title", "genre"), None),
        (("hotel_name", "restaurant_name"), None),
        (("酒店名称", "周边餐馆"), kind_of("酒店")),
    ],
)
def test_the_kind_of_a_collection(names: tuple[str, ...], kind: int | None) -> None:
    assert only_kind([Field(name=name, type=FieldType.STRING) for name in names]) == kind


def test_a_kind_that_is_a_value_is_a_condition_like_any_other() -> None:
    history = ("reports about hotels of 2023",)
    assert still_meant(history, "find those about restaurants", nothing) == (False,)
    known = {"hotels", "restaurants"}
    assert still_meant(history, "find those about restaurants", known.__contains__) == (True,)


@pytest.mark.parametrize(
    ("last", "question", "kept"),
    [
        ("what is the weather like there?", "any with parking?", True),
        ("thanks", "any with parking?", True),
        ("thanks", "find me a restaurant", False),
    ],
)
def test_an_aside_leaves_what_is_in_force(last: str, question: str, kept: bool) -> None:
    hotels = Collection(
        name="hotels",
        fields=(
            Field(name="hotel_name", type=FieldType.STRING),
            Field(name="price", type=FieldType.NUMBER, description="Price per head"),
        ),
    )
    first = "a hotel with a price below 90"
    before = plan(first, collection=hotels)
    found = link(
        question,
        hotels,
        history=(first, last),
        previous=before.conditions,
        filter=whole(before),
    )
    assert bool([m for m in found if m.turn < 0]) is kept


def test_conditions_of_the_thing_before_are_gone() -> None:
    places = Collection(
        name="places",
        fields=(Field(name="price", type=FieldType.NUMBER, description="Price per head"),),
    )
    history = ("a hotel with a price below 90",)
    assert [m.words for m in link("any with parking?", places, history=history)] == ["90"]
    assert link("find me a restaurant", places, history=history) == ()
