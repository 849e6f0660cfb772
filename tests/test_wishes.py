"""Wishes, exclusions and comparisons by the words around them."""

from __future__ import annotations

import pytest

from agent.planning.cues import Direction, date_direction, negated, negations, preferred, wished
from agent.planning.use import MAYBE_NOT
from tests.planning_cases import link, plan, said


@pytest.mark.parametrize(
    ("text", "words", "wish"),
    [
        ("最好是官方的报告", "官方", True),
        ("最好是官方的报告", "报告", False),
        ("最好不要草稿", "草稿", True),
        ("最好在2023年以后", "2023", True),
        ("最好的报告", "报告", False),
        ("最好吃的川菜", "川菜", False),
        ("HR的文档，优先公开的", "公开", True),
        ("财务部的报告，官方优先", "官方", True),
        ("财务部的报告，官方的更好", "官方", True),
        ("财务部的报告，官方的更好", "财务部", False),
        ("优先级高的工单", "高", False),
        ("尽可能是2024年的", "2024", True),
        ("guides, preferably official", "official", True),
        ("guides, official if possible", "official", True),
        ("guides, official ones preferred", "official", True),
        ("HR guides, official if possible", "HR", False),
        ("I'd prefer guides", "guides", True),
        ("the preferred guides", "guides", False),
    ],
)
def test_a_wish_is_told_from_a_condition(text: str, words: str, wish: bool) -> None:
    start = text.index(words)
    assert (preferred(text, start) or wished(text, start)) is wish


def test_a_chinese_wish_stays_out_of_the_filter() -> None:
    proposal = plan("最好是官方的政策", {"官方": "official is true"})
    assert [(c.field, c.hard) for c in proposal.conditions] == [
        ("official", False),
        ("category", True),
    ]
    assert said(proposal) == {"op": "eq", "field": "category", "value": "policy"}


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("HR but not guides", 1),
        ("HR but nothing from 2024", 1),
        ("not HR, but not Legal either", 2),
        ("类别是报告", 0),
        ("各级别的性别统计", 0),
        ("不管哪个部门", 0),
        ("非洲的无线设备", 0),
        ("不同于财务部的", 1),
        ("别给我草稿", 1),
        ("非官方", 1),
    ],
)
def test_words_that_exclude_are_counted_once(text: str, count: int) -> None:
    assert negations(text) == count


def test_what_stands_before_but_not_is_not_excluded() -> None:
    wanted = next(m for m in link("HR but not guides") if m.words == "HR")
    assert MAYBE_NOT not in wanted.hint.split()


@pytest.mark.parametrize(
    ("text", "words", "direction"),
    [
        ("published > 2023", "2023", Direction.AFTER),
        ("published >= 2023", "2023", Direction.SINCE),
        ("published<2023", "2023", Direction.BEFORE),
        ("发布日期≤2023年", "2023年", Direction.UNTIL),
        ("发布日期大于等于2023年", "2023年", Direction.SINCE),
    ],
)
def test_signs_compare_dates(text: str, words: str, direction: Direction) -> None:
    start = text.index(words)
    assert date_direction(text, start, start + len(words)) is direction


@pytest.mark.parametrize(
    ("text", "excluded"),
    [
        ("tickets not closed in 2025", True),
        ("tickets that weren't updated in 2025", True),
        ("tickets closed in 2025", False),
        ("not archived, from 2025", False),
    ],
)
def test_what_was_not_done_in_a_year_excludes_it(text: str, excluded: bool) -> None:
    assert negated(text, text.index("2025"), text.index("2025") + 4) is excluded
