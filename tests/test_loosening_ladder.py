"""The changes to one condition: which there are, in which order, and what they keep."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

from schemas.check import bind, check
from schemas.collection import Collection, Field, FieldType, Profile
from schemas.compile.predicate import to_predicate
from schemas.compile.text import to_text
from schemas.filters import Filter, all_of, parse_filter
from schemas.ladder import Tier, ladder, tier
from schemas.ladder_words import Beside, told
from schemas.loosen import ACTIONS, units
from schemas.normalise import normalise
from tests.strategies import WORLDS, World

COMPLETE = Profile(complete=True)
SHELF = Collection(
    name="shelf",
    fields=(
        Field(
            name="department",
            type=FieldType.STRING,
            values=("HR", "Finance", "Finance Operations", "人力资源部", "广场部"),
        ),
        Field(
            name="published",
            type=FieldType.DATE,
            values=("2023-03-01", "2021-05-01", "2025-02-03"),
            profile=COMPLETE,
        ),
        Field(name="changed", type=FieldType.DATETIME),
        Field(name="year", type=FieldType.INT, values=(2020, 2023), profile=COMPLETE),
        Field(name="pages", type=FieldType.INT, values=(5, 20, 28, 40)),
        Field(name="score", type=FieldType.NUMBER),
        Field(name="author", type=FieldType.STRING, values=("user-e", "Lee", "Jane Lee")),
        Field(name="tags", type=FieldType.STRING_LIST, values=("travel rules", "公开")),
        Field(name="final", type=FieldType.BOOL),
        Field(name="access", type=FieldType.STRING),
        Field(name="作者", type=FieldType.STRING),
        Field(
            name="serial",
            type=FieldType.STRING,
            profile=Profile(rows=100, distinct=99, complete=True),
        ),
    ),
)


def leaf(field: str, op: str, value: Any = None) -> dict[str, Any]:
    return {"field": field, "op": op, "value": value}


def between(field: str, start: str, end: str) -> dict[str, Any]:
    return {"op": "and", "of": [leaf(field, "ge", start), leaf(field, "lt", end)]}


@pytest.mark.parametrize(
    ("filter_", "expected"),
    [
        (
            between("published", "2024-01-01", "2025-01-01"),
            [
                "nearest published from 2023-01-01 to 2023-12-31",
                "nearest published from 2025-01-01 to 2025-12-31",
                "nearest published from 2021-01-01 to 2021-12-31",
                "widen published from 2023-01-01 to 2025-12-31",
            ],
        ),
        (
            leaf("published", "eq", "2024-05"),
            [
                "nearest published from 2025-02-01 to 2025-02-28",
                "nearest published from 2023-03-01 to 2023-03-31",
                "nearest published from 2021-05-01 to 2021-05-31",
                "widen published from 2024-04-01 to 2024-06-30",
                "widen published from 2024-01-01 to 2024-12-31",
                "widen published from 2023-01-01 to 2025-12-31",
            ],
        ),
        (
            between("changed", "2024-02-05", "2024-02-12"),
            [
                "nearest changed from 2024-01-29 to 2024-02-04",
                "nearest changed from 2024-02-12 to 2024-02-18",
                "nearest changed from 2024-01-22 to 2024-01-28",
                "nearest changed from 2024-02-19 to 2024-02-25",
                "widen changed from 2024-02-01 to 2024-02-29",
                "widen changed from 2024-01-01 to 2024-03-31",
                "widen changed from 2024-01-01 to 2024-12-31",
                "widen changed from 2023-01-01 to 2025-12-31",
            ],
        ),
        (
            leaf("published", "gt", "2026-06-15"),
            [
                "nearest published from 2025-02-03",
                "nearest published from 2023-03-01",
                "nearest published from 2021-05-01",
                "widen published from 2026-06-01",
                "widen published from 2026-04-01",
                "widen published from 2026-01-01",
                "widen published from 2025-01-01",
            ],
        ),
        (leaf("changed", "ge", "2024-01-01T10:30:00Z"), []),
        (
            leaf("year", "eq", 2024),
            ["nearest year is 2023", "nearest year is 2020", "widen year from 2023 to 2025"],
        ),
        (
            leaf("pages", "gt", 30),
            [
                "nearest pages is at least 28",
                "nearest pages is at least 20",
                "nearest pages is at least 5",
                "widen pages is at least 27",
            ],
        ),
        (
            {"op": "and", "of": [leaf("pages", "ge", 6), leaf("pages", "le", 16)]},
            [
                "nearest pages from 5 to 16",
                "nearest pages from 6 to 20",
                "nearest pages from 6 to 28",
                "nearest pages from 6 to 40",
                "widen pages from 5 to 17",
            ],
        ),
        (leaf("score", "ge", 0.5), ["widen score is at least 0.45"]),
        (leaf("score", "ge", 0), []),
        (
            leaf("department", "eq", "Finanse"),
            ["nearest department is Finance", "widen department contains Finanse"],
        ),
        (
            leaf("department", "eq", "Finance"),
            ["nearest department is Finance Operations", "widen department contains Finance"],
        ),
        (
            leaf("department", "eq", "人力资源"),
            ["nearest department is 人力资源部", "widen department contains 人力资源"],
        ),
        (leaf("department", "contains", "市场部"), []),
        (leaf("department", "eq", "HR"), []),
        (leaf("tags", "contains", "travel"), []),
        (leaf("tags", "contains", "travel policy"), []),
        (leaf("tags", "contains", "travel rules abroad"), ["nearest tags contains travel rules"]),
        (leaf("author", "eq", "user-d"), ["widen author contains user-d"]),
        (leaf("author", "contains", "user-d"), []),
        (leaf("serial", "eq", "7-1"), []),
        (leaf("final", "eq", True), []),
        (leaf("pages", "empty"), []),
        (leaf("pages", "ne", 20), []),
        ({"op": "not", "of": leaf("pages", "gt", 20)}, []),
        ({"op": "or", "of": [leaf("pages", "gt", 20), leaf("year", "eq", 2024)]}, []),
    ],
)
def test_the_ladder_goes_from_the_smallest_change_to_none_at_all(
    filter_: object, expected: list[str]
) -> None:
    (unit,) = units(parse_filter(filter_))
    rungs = ladder(unit, SHELF)
    assert [f"{r.action} {to_text(r.filter, SHELF)}" for r in rungs[:-2]] == expected
    assert [rung.action for rung in rungs[-2:]] == ["boost", "drop"]
    order = [ACTIONS.index(rung.action) for rung in rungs]
    assert order == sorted(order)


@pytest.mark.parametrize("action", ACTIONS)
def test_only_the_changes_that_are_allowed_are_made(action: Any) -> None:
    (unit,) = units(parse_filter(leaf("published", "eq", "2024")))
    rungs = ladder(unit, SHELF, (action,))
    assert {rung.action for rung in rungs} == {action}


@pytest.mark.parametrize(
    ("filter_", "expected"),
    [
        (leaf("department", "eq", "HR"), Tier.WANTED),
        (leaf("author", "contains", "user-d"), Tier.NAMED),
        (leaf("作者", "eq", "李雷"), Tier.NAMED),
        (leaf("serial", "eq", "7-1"), Tier.NAMED),
        (leaf("author", "ne", "user-d"), Tier.EXCLUDED),
        (leaf("pages", "not_in", [1, 2]), Tier.EXCLUDED),
        ({"op": "not", "of": leaf("pages", "gt", 20)}, Tier.EXCLUDED),
        (leaf("access", "eq", "public"), Tier.NEVER),
        ({"op": "or", "of": [leaf("access", "eq", "a"), leaf("pages", "gt", 2)]}, Tier.NEVER),
    ],
)
def test_names_give_way_after_facets_exclusions_last_and_access_never(
    filter_: object, expected: Tier
) -> None:
    (unit,) = units(parse_filter(filter_))
    assert tier(unit, SHELF) is expected


@pytest.mark.parametrize(
    ("filter_", "others", "options", "english", "chinese"),
    [
        (
            leaf("year", "eq", 2024),
            [leaf("department", "eq", "HR")],
            {},
            "no HR document of 2024; showing 2023",
            "没有2024年的HR文档，改为显示2023年",
        ),
        (
            leaf("year", "eq", 2024),
            [leaf("pages", "gt", 3)],
            {},
            "no document of 2024 that meets the other conditions; showing 2023",
            "没有2024年、且满足其他条件的文档，改为显示2023年",
        ),
        (
            leaf("year", "eq", 2024),
            [],
            {"more": True},
            "no document of 2024 that meets the other conditions; showing 2023",
            "没有2024年、且满足其他条件的文档，改为显示2023年",
        ),
        (
            leaf("pages", "gt", 30),
            [],
            {"before": 2},
            "only 2 documents where pages is above 30; showing pages is at least 28",
            "满足“pages 大于 30”的文档只有2篇，改为显示“pages 不小于 28”",
        ),
    ],
)
def test_a_change_is_told_in_the_language_of_the_question(
    filter_: object, others: list[object], options: Any, english: str, chinese: str
) -> None:
    (unit,) = units(parse_filter(filter_))
    beside = Beside(SHELF, tuple(u for o in others for u in units(parse_filter(o))), **options)
    first = ladder(unit, SHELF)[0]
    assert told(first, beside, "en") == english
    assert told(first, beside, "zh") == chinese


def test_of_several_calendar_fields_the_one_that_is_meant_is_named() -> None:
    (unit,) = units(parse_filter(leaf("published", "eq", "2024-Q3")))
    widened = next(rung for rung in ladder(unit, SHELF) if rung.action == "widen")
    assert told(widened, Beside(SHELF), "en") == (
        "no document of Q3 2024 (published); widened to 2024 (published)"
    )
    assert told(widened, Beside(SHELF), "zh") == (
        "没有2024年第三季度（published）的文档，已放宽到2024年（published）"
    )


def known(world: World) -> Collection:
    """The world's collection with some values of its rows known."""
    fields = []
    for made in world.made:
        flat = [v for row in made.rows for v in (row if isinstance(row, list) else [row])]
        values = tuple(v for v in flat if isinstance(v, str | int | float))
        fields.append(made.field.model_copy(update={"values": values}))
    return world.collection.model_copy(update={"fields": tuple(fields)})


def matching(world: World, filter_: Filter, collection: Collection) -> set[int]:
    holds = to_predicate(bind(filter_, collection))
    return {number for number, row in enumerate(world.rows) if holds(row)}


@settings(max_examples=100)
@given(WORLDS)
def test_every_change_but_another_value_keeps_all_that_the_filter_kept(world: World) -> None:
    collection = known(world)
    filter_ = normalise(world.filter)
    if check(filter_, collection).problems:
        return
    before = matching(world, filter_, collection)
    parts = units(filter_)
    for unit in parts[:6]:
        others = tuple(other for other in parts if other != unit)
        for rung in ladder(unit, collection):
            weaker = all_of(*(part for other in others for part in other.parts), rung.filter)
            assert check(weaker, collection).problems == ()
            if rung.action != "nearest":
                assert before <= matching(world, weaker, collection)
            for language in ("en", "zh"):
                assert told(rung, Beside(collection, others), language)
