"""Fields that do not matter, and what is found to be too much."""

from __future__ import annotations

import pytest

from schemas.collection import Collection, Field, FieldType
from tests.planning_cases import HANDBOOK, plan, said, whole

FILMS = Collection(
    name="films",
    fields=(
        Field(name="title", type=FieldType.STRING, description="Title of the movie"),
        Field(name="genre", type=FieldType.STRING, description="Genre of the movie"),
        Field(name="year", type=FieldType.INT, description="Year"),
    ),
)
CANTEENS = Collection(
    name="餐馆",
    fields=(
        Field(name="菜系", type=FieldType.STRING, values=("川菜", "粤菜")),
        Field(name="价格", type=FieldType.STRING, values=("便宜", "偏贵")),
    ),
)


@pytest.mark.parametrize(
    ("question", "fields"),
    [
        ("the department does not matter, final ones", {"category", "status"}),
        ("any department is fine, but final ones", {"category", "status"}),
        ("I don't care which category it is", {"department"}),
        ("the department matters", {"department", "category"}),
        ("which of those don't care about pages?", {"department", "category"}),
    ],
)
def test_a_field_that_does_not_matter_is_given_up(question: str, fields: set[str]) -> None:
    proposal = plan(question, history=("HR guides",))
    assert {condition.field for condition in proposal.conditions} == fields


@pytest.mark.parametrize(
    ("question", "fields"),
    [
        ("价格无所谓", {"菜系"}),
        ("菜系都可以", {"价格"}),
        ("要粤菜，价格不限", {"菜系"}),
    ],
)
def test_in_chinese(question: str, fields: set[str]) -> None:
    proposal = plan(question, collection=CANTEENS, history=("找一家便宜的川菜馆",))
    assert {condition.field for condition in proposal.conditions} == fields


def test_a_condition_in_force_is_given_up() -> None:
    before = plan("HR guides")
    after = plan(
        "the department does not matter, final ones",
        history=("HR guides",),
        previous=before.conditions,
        filter=whole(before),
    )
    assert {condition.field for condition in after.conditions} == {"category", "status"}


def test_what_did_not_matter_earlier_stays_given_up() -> None:
    history = ("HR guides", "any department is fine")
    assert {c.field for c in plan("final ones", history=history).conditions} == {
        "category",
        "status",
    }


def test_a_value_beside_a_field_that_one_does_not_mind_is_a_wish() -> None:
    proposal = plan("I don't mind the year 2001", collection=FILMS)
    assert said(proposal) == {"op": "eq", "field": "year", "value": 2001}


@pytest.mark.parametrize(
    ("history", "question", "pages"),
    [
        (("HR guides of 90 pages",), "90 pages is too long", []),
        (("HR guides of 90 pages", "90 pages is too long"), "final ones", []),
        (("HR guides of 90 pages",), "90 pages is fine", [90]),
        (("HR guides of 90 pages",), "90 pages are too many, of 20 pages", [20]),
    ],
)
def test_what_is_too_much_is_not_asked_for(
    history: tuple[str, ...], question: str, pages: list[int]
) -> None:
    proposal = plan(question, collection=HANDBOOK, history=history)
    assert [c.value for c in proposal.conditions if c.field == "pages"] == pages


@pytest.mark.parametrize(
    ("question", "op"),
    [
        ("something not very pricey", "ne"),
        ("one that is not too pricey", "ne"),
        ("something very pricey", "eq"),
    ],
)
def test_not_very(question: str, op: str) -> None:
    shops = Collection(
        name="shops",
        fields=(
            Field(name="price_range", type=FieldType.STRING, values=("cheap", "pricey", "fair")),
        ),
    )
    assert {c.op.value for c in plan(question, collection=shops).conditions} == {op}
