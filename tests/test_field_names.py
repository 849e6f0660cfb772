"""Fields called by figures, comparisons before their names, and what their values are."""

from __future__ import annotations

import datetime as dt

import pytest

from agent.planning.dated import Calendar
from agent.planning.linking import Linker
from schemas.collection import Collection, Field, FieldType
from schemas.mentions import Mention

CALENDAR = Calendar(dt.date(2026, 3, 1), 1, None)


def found(question: str, **fields: FieldType) -> tuple[Mention, ...]:
    """The mentions of a question over fields without known values; `__` in a name is a space."""
    collection = Collection(
        name="things",
        fields=tuple(Field(name=n.replace("__", " "), type=t) for n, t in fields.items()),
    )
    return Linker(collection).link(question, CALENDAR, frozenset(collection.by_name))


def best(question: str, names: dict[str, FieldType]) -> list[tuple[str, str]]:
    """Words and the first field of each mention."""
    collection = Collection(
        name="things", fields=tuple(Field(name=n, type=t) for n, t in names.items())
    )
    linked = Linker(collection).link(question, CALENDAR, frozenset(names))
    return [(m.words, m.choices[0].field) for m in linked]


TEXT, NUMBER = FieldType.STRING, FieldType.NUMBER


@pytest.mark.parametrize(
    ("question", "names", "expected"),
    [
        ("plans with a Tier-3 of 40", {"Tier-3": NUMBER, "Seats": NUMBER}, [("40", "Tier-3")]),
        (
            "sites with a 20m depth below 7",
            {"Depth (20m)": NUMBER, "Width": NUMBER},
            [("7", "Depth (20m)")],
        ),
        (
            "regions with budget 2021 over 9 and 12 in 2022 budget",
            {"2021 budget": NUMBER, "2022 budget": NUMBER, "2023 budget": NUMBER},
            [("9", "2021 budget"), ("12", "2022 budget")],
        ),
        ("lots where the 2019 is above 8", {"2019": NUMBER, "2020": NUMBER}, [("8", "2019")]),
    ],
)
def test_figures_in_a_fields_name_are_no_values(
    question: str, names: dict[str, FieldType], expected: list[tuple[str, str]]
) -> None:
    assert best(question, names) == expected


@pytest.mark.parametrize(
    ("question", "hint"),
    [
        ("results after round 4", "after"),
        ("results later than round 4", "after"),
        ("results before round 4", "before"),
        ("a round less than 4", "before"),
        ("results of round 4", ""),
    ],
)
def test_a_comparison_may_stand_before_the_fields_name(question: str, hint: str) -> None:
    (mention,) = found(question, Round=NUMBER)
    assert [w for w in mention.hint.split() if w in ("before", "after")] == hint.split()


@pytest.mark.parametrize(
    ("question", "hint"),
    [("the year is less than 1988", "before"), ("a year greater than 1988", "after")],
)
def test_years_are_compared_like_figures(question: str, hint: str) -> None:
    (mention,) = found(question, Year=NUMBER)
    assert hint in mention.hint.split()


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("Which visit had a score of 7.12 (54)?", "7.12 (54)"),
        ("show it where the score is 6–2, 7–5", "6–2, 7–5"),
        ("the one with a score of Meyer : 25 and low costs", "Meyer : 25"),
        ("what is the day when the score is the ← tie?", "← tie"),
    ],
)
def test_a_labelled_text_with_marks_stays_whole(question: str, value: str) -> None:
    (mention,) = found(question, Score=TEXT, Host=TEXT)
    assert [(c.field, c.value) for c in mention.choices] == [("Score", value)]


@pytest.mark.parametrize(
    "question",
    ["a score of 5, above average", "the score is over 9, and 7"],
)
def test_plain_figures_and_grammar_are_not_labelled_texts(question: str) -> None:
    values = [c.value for m in found(question, Score=TEXT, Host=TEXT) for c in m.choices]
    assert not [v for v in values if isinstance(v, str) and " " in v]


@pytest.mark.parametrize(
    ("question", "field"),
    [
        ("the fee for Norwood Field?", "Ground"),
        ("people from Lakeshore State University", "School"),
        ("dates at Baltic Harbour Conference?", "Conference"),
        ("orders by Brightwater Ltd.", "Supplier"),
        ("with Elmsworth as the guest", "Guest"),
    ],
)
def test_names_go_to_the_field_whose_kind_they_end_in(question: str, field: str) -> None:
    names = ("Rank", "Nation", "Guest", "Ground", "School", "Conference", "Supplier")
    (mention,) = found(question, **dict.fromkeys(names, TEXT))
    assert mention.choices[0].field == field


def test_names_do_not_go_to_fields_of_figures() -> None:
    (mention,) = found("the total for Norway?", Rank=TEXT, Nation=TEXT, Total=NUMBER)
    assert [c.field for c in mention.choices] == ["Nation"]


@pytest.mark.parametrize(
    ("question", "field"),
    [('where is "in the long run" played', "Song"), ('the airport "BQK"', "Code")],
)
def test_quoted_titles_and_codes_go_to_fields_that_hold_them(question: str, field: str) -> None:
    (mention,) = found(question, Singer=TEXT, Song=TEXT, Code=TEXT)
    assert mention.choices[0].field == field


def test_a_state_is_no_statement() -> None:
    question = (
        "What is the total number of points of all of them, when the country is "
        '"United States", and when the guest is "Lee Ward"?'
    )
    mentions = found(question, country=TEXT, guest=TEXT, points=NUMBER)
    assert [m.choices[0].value for m in mentions] == ["United States", "Lee Ward"]


@pytest.mark.parametrize(
    ("question", "field", "op", "value"),
    [
        ("tickets whose summary mentions router", "summary", "contains", "router"),
        ("标题里有预算的文件", "标题", "contains", "预算"),
        ("内容包含发票的文件", "内容", "contains", "发票"),
        ("客户是华为的工单", "客户", "", "华为"),
    ],
)
def test_what_follows_a_fields_name_is_its_value(
    question: str, field: str, op: str, value: str
) -> None:
    mentions = found(question, summary=TEXT, 标题=TEXT, 内容=TEXT, 客户=TEXT, 负责人=TEXT)
    best = next(m for m in mentions if m.words == value)
    assert best.choices[0].field == field
    assert op in best.hint.split() or not op
    assert not any(m.words == "工单" for m in mentions)
