from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from schemas.check import bind
from schemas.collection import Collection, Field, FieldType
from schemas.compile.text import field_words, to_text
from schemas.filters import Filter, parse_filter
from tests.strategies import FILTERS

KB = Collection(
    name="kb",
    fields=(
        Field(name="department", type=FieldType.STRING),
        Field(name="publish_date", type=FieldType.DATE),
        Field(name="seen", type=FieldType.DATETIME),
        Field(name="year", type=FieldType.INT),
        Field(name="score", type=FieldType.NUMBER),
        Field(name="tags", type=FieldType.STRING_LIST),
        Field(name="open", type=FieldType.BOOL),
    ),
)


def leaf(field: str, op: str, value: Any = None) -> dict[str, Any]:
    return {"op": op, "field": field} | ({} if value is None else {"value": value})


def both(*of: Any) -> Any:
    return {"op": "and", "of": list(of)}


def either(*of: Any) -> Any:
    return {"op": "or", "of": list(of)}


def no(of: Any) -> Any:
    return {"op": "not", "of": of}


HR = leaf("department", "eq", "HR")
CASES = [
    (both(HR, leaf("publish_date", "ge", "2024-01-01")),
     "department is HR and publish date from 2024-01-01",
     "department 为 HR 且 publish date 从 2024-01-01 起"),
    (both(leaf("publish_date", "ge", "2024-01-01"), leaf("publish_date", "lt", "2025-01-01")),
     "publish date from 2024-01-01 to 2024-12-31",
     "publish date 从 2024-01-01 到 2024-12-31"),
    (both(leaf("publish_date", "le", "2024-05"), HR, leaf("publish_date", "gt", "2023")),
     "publish date from 2024-01-01 to 2024-05-31 and department is HR",
     "publish date 从 2024-01-01 到 2024-05-31 且 department 为 HR"),
    (both(leaf("seen", "ge", "2024-01-01T00:00:00Z"), leaf("seen", "lt", "2024-02-01T00:00:00Z")),
     "seen from 2024-01-01 to 2024-01-31", "seen 从 2024-01-01 到 2024-01-31"),
    (both(leaf("seen", "gt", "2024-01-01T00:00:00Z"), leaf("seen", "lt", "2024-02-01")),
     "seen after 2024-01-01T00:00:00Z and seen before 2024-02-01",
     "seen 晚于 2024-01-01T00:00:00Z 且 seen 早于 2024-02-01"),
    (leaf("publish_date", "le", "2024-05"), "publish date until 2024-05",
     "publish date 截至 2024-05"),
    (leaf("publish_date", "eq", 2024), "publish date is 2024", "publish date 为 2024"),
    (both(leaf("year", "ge", 2020), leaf("year", "lt", 2024)), "year from 2020 to 2023",
     "year 从 2020 到 2023"),
    (both(leaf("score", "gt", 1.5), leaf("score", "lt", 2)),
     "score is above 1.5 and score is below 2", "score 大于 1.5 且 score 小于 2"),
    (both(leaf("year", "ge", 2024), leaf("year", "lt", 2020)),
     "year is at least 2024 and year is below 2020", "year 不小于 2024 且 year 小于 2020"),
    (leaf("year", "gt", 2020), "year is above 2020", "year 大于 2020"),
    (no(leaf("year", "gt", 2020)), "year is at most 2020", "year 不大于 2020"),
    (no(leaf("tags", "gt", "m")), "not (tags is above m)", "非（tags 大于 m）"),
    (leaf("tags", "eq", "a"), "tags contains a", "tags 包含 a"),
    (leaf("department", "in", ["HR", "IT"]), "department is one of HR, IT",
     "department 属于 HR、IT"),
    (leaf("department", "not_in", ["HR", "R&D, labs"]), 'department is none of HR, "R&D, labs"',
     'department 不属于 HR、"R&D, labs"'),
    (leaf("department", "in", []), "department is one of no value", "department 属于 无值"),
    (leaf("department", "in", list("abcdefghij")),
     "department is one of a, b, c, d, e, f, g, h and 2 more",
     "department 属于 a、b、c、d、e、f、g、h 等（另有 2 个）"),
    (leaf("department", "empty"), "department is missing", "department 为空"),
    (no(leaf("department", "empty")), "department is present", "department 不为空"),
    (leaf("open", "eq", True), "open is true", "open 为 是"),
    (leaf("score", "eq", 2.0), "score is 2", "score 为 2"),
    (leaf("department", "eq", "rock and roll"), 'department is "rock and roll"',
     'department 为 "rock and roll"'),
    (leaf("department", "eq", "a\nb"), 'department is "a b"', 'department 为 "a b"'),
    (both(HR, either(leaf("year", "eq", 1), leaf("tags", "eq", "x"))),
     "department is HR and (year is 1 or tags contains x)",
     "department 为 HR 且 （year 为 1 或 tags 包含 x）"),
    (either(HR, both(leaf("year", "eq", 1), leaf("open", "eq", False))),
     "department is HR or (year is 1 and open is false)",
     "department 为 HR 或 （year 为 1 且 open 为 否）"),
    (no(both(HR, leaf("year", "eq", 1))), "not (department is HR and year is 1)",
     "非（department 为 HR 且 year 为 1）"),
    (both(), "everything", "全部"),
    (either(), "nothing", "无"),
]  # fmt: skip


@pytest.mark.parametrize(("f", "english", "chinese"), CASES)
def test_words(f: Any, english: str, chinese: str) -> None:
    parsed = parse_filter(f)
    assert to_text(parsed, KB) == english
    assert to_text(parsed, KB, "zh") == chinese


def test_dates_are_known_by_their_form_without_a_collection() -> None:
    f = parse_filter(both(HR, leaf("publish_date", "ge", "2024-01-01")))
    assert to_text(f) == "department is HR and publish date from 2024-01-01"
    assert to_text(parse_filter(leaf("code", "ge", "2024"))) == "code is at least 2024"


def test_bound_periods_read_as_ranges() -> None:
    bound = bind(parse_filter(leaf("publish_date", "eq", "2024-Q1")), KB)
    assert to_text(bound.root, KB) == "publish date from 2024-01-01 to 2024-03-31"


def test_field_words() -> None:
    assert field_words("publish_date") == "publish date"
    assert field_words("Pick #") == "Pick #"
    assert field_words("_") == "_"
    assert field_words("部门") == "部门"


@given(FILTERS)
def test_every_filter_has_words_on_one_line(f: Filter) -> None:
    for text in (to_text(f), to_text(f, lang="zh")):
        assert text
        assert "\n" not in text
