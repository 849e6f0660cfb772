"""From questions to mentions."""

from __future__ import annotations

import datetime as dt
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.planning.dated import Calendar
from agent.planning.linking import Linker
from schemas.collection import Collection, Field, FieldType
from schemas.mentions import MentionKind
from tests.planning_cases import HANDBOOK, link


@pytest.mark.parametrize(
    ("question", "words", "field", "value"),
    [
        ("HR documents", "HR", "department", "HR"),
        ("what does the people team say", "people team", "department", "HR"),
        ("human resources documents", "human resources", "department", "HR"),
        ("人力资源部的文档", "人力资源部", "department", "HR"),
        ("财务的文档", "财务", "department", "Finance"),
        ("研发中心2024年的文档", "研发中心", "department", "研发中心"),
        ("研发的文档", "研发", "department", "研发中心"),
        ("finanse documents", "finanse", "department", "Finance"),
        ("all policies", "policies", "category", "policy"),
        ("drafts, please", "drafts", "status", "Draft"),
        ("只看草案", "草案", "status", "Draft"),
        ("被否决的文档", "否决", "status", "Rejected"),
        ("ideas that were turned down", "turned down", "status", "Rejected"),
        ("by Guido van Rossum", "Guido van Rossum", "authors", "Guido van Rossum"),
        ("what Guido wrote", "Guido", "authors", "Guido van Rossum"),
        ("Konstantin Schutze on wheels", "Konstantin Schutze", "authors", "Konstantin Schütze"),
        ("Guido van Rossum's guides", "Guido van Rossum's", "authors", "Guido van Rossum"),
        ("关于远程办公的规定", "远程办公", "tags", "远程办公"),
        ("remote work rules", "remote work", "tags", "远程办公"),
    ],
)
def test_a_known_value_is_found_however_it_is_written(
    question: str, words: str, field: str, value: str
) -> None:
    mention = next(m for m in link(question) if m.words == words)
    assert mention.kind is MentionKind.VALUE
    assert [(c.field, c.value) for c in mention.choices] == [(field, value)]


def test_a_part_of_two_names_offers_both() -> None:
    (mention,) = (m for m in link("guides by Ada") if m.words == "Ada")
    assert {c.value for c in mention.choices} == {"Ada Lovelace", "Ada Palmer"}


@pytest.mark.parametrize(
    "question", ["How does the @final decorator work?", "it is what it is", "who are we?"]
)
def test_code_and_grammar_are_no_values(question: str) -> None:
    assert link(question) == ()


@pytest.mark.parametrize(
    ("question", "hint", "value"),
    [
        ("guides above 20 pages", "after", 20),
        ("guides with at least 20 pages", "since", 20),
        ("guides with fewer than 20 pages", "before", 20),
        ("20 pages or less", "until", 20),
        ("pages between 5 and 9", "in", [5, 9]),
        ("页数pages不少于20", "since", 20),
        ("pages在5到9之间", "in", [5, 9]),
    ],
)
def test_a_number_knows_its_comparison(question: str, hint: str, value: object) -> None:
    mention = next(m for m in link(question) if m.kind is MentionKind.NUMBER)
    assert hint in mention.hint.split()
    assert [(c.field, c.value) for c in mention.choices] == [("pages", value)]


def test_a_number_of_something_else_is_no_condition() -> None:
    kinds = {m.kind for m in link("guides with more than 500 GitHub stars")}
    assert MentionKind.NUMBER not in kinds


@pytest.mark.parametrize(
    ("question", "hint"),
    [
        ("official guides", ""),
        ("unofficial guides", "not"),
        ("guides that are not official", "not"),
        ("官方指南", ""),
        ("非官方指南", "not"),
    ],
)
def test_a_yes_or_no_field_is_found_by_its_words(question: str, hint: str) -> None:
    mention = next(m for m in link(question) if m.choices[0].field == "official")
    assert (hint in mention.hint.split()) if hint else "not" not in mention.hint.split()


@pytest.mark.parametrize(
    "question",
    ["guides without a department", "guides that have no department", "没有部门的"],
)
def test_presence_is_found(question: str) -> None:
    mention = next(m for m in link(question) if m.kind is MentionKind.PRESENCE)
    assert (mention.choices[0].field, mention.hint.split()[0]) == ("department", "missing")


@pytest.mark.parametrize(
    ("question", "value", "hint"),
    [
        ('title starts with "Adding"', "Adding", "starts_with"),
        ('guides with "async" in the title', "async", "contains"),
        ("title contains the word wheel", "wheel", "contains"),
        ("a guide that has \\x in its title", "\\x", "contains"),
        ("title以“新”开头的指南", "新", "starts_with"),
    ],
)
def test_marked_text_goes_to_the_field_it_stands_by(question: str, value: str, hint: str) -> None:
    mention = next(m for m in link(question) if m.kind is MentionKind.SPAN)
    assert hint in mention.hint.split()
    assert (mention.choices[0].field, mention.choices[0].value) == ("title", value)


TABLE = Collection(
    name="games",
    fields=(
        Field(name="Venue", type=FieldType.STRING),
        Field(name="Home Team", type=FieldType.STRING),
        Field(name="Pick #", type=FieldType.NUMBER),
        Field(name="Score", type=FieldType.STRING),
        Field(name="grade", type=FieldType.STRING, description="A finished, B running, C open"),
        Field(name="price", type=FieldType.NUMBER, description="ticket price（免费为 0）"),
    ),
)


@pytest.mark.parametrize(
    ("question", "words", "field", "value"),
    [
        ("What week was the venue the Western Oval?", "Western Oval", "Venue", "Western Oval"),
        ("Which venue when Fitzroy was the home team?", "Fitzroy", "Home Team", "Fitzroy"),
        ("players with a Pick # less than 200", "200", "Pick #", 200),
        ("the score was 37–21–12", "37–21–12", "Score", "37–21–12"),
        ("which games are running", "running", "grade", "B"),
        ("免费的比赛", "免费", "price", 0),
    ],
)
def test_values_that_nobody_listed_are_spans_of_the_question(
    question: str, words: str, field: str, value: object
) -> None:
    mention = next(m for m in link(question, TABLE) if m.words == words)
    assert (mention.choices[0].field, mention.choices[0].value) == (field, value)


@pytest.mark.parametrize(
    ("question", "values", "expected"),
    [
        ("summarise chapter 001", ("001", "1"), "001"),
        ("summarise chapter 1", ("001", "1"), "1"),
        ("summarise chapter one", ("001", "1"), "1"),
        ("what is the requirement in 10765?", ("10765", "10766"), "10765"),
    ],
)
def test_identifiers_stay_texts(question: str, values: tuple[str, ...], expected: str) -> None:
    chapter = Field(name="chapter", type=FieldType.STRING, values=values)
    (mention,) = link(question, Collection(name=repr(values), fields=(chapter,)))
    assert [choice.value for choice in mention.choices] == [expected]


def test_all_spellings_of_a_value_are_meant() -> None:
    spellings = ("Engineering", "ENGINEERING ", "engineering-ops")
    dept = Field(name="dept", type=FieldType.STRING, values=spellings)
    (mention,) = link("guide of the engineering team", Collection(name="s", fields=(dept,)))
    assert {choice.value for choice in mention.choices} == set(spellings[:2])


def test_many_values_are_searched_by_index() -> None:
    values = tuple(f"{first}{n} Person{n}" for n in range(20_000) for first in ("Ana", "Bob"))
    field = Field(name="author", type=FieldType.STRING, values=values)
    linker = Linker(Collection(name="large", fields=(field,)))
    calendar = Calendar(dt.date(2026, 1, 1))
    for text in ("by Ana777 Person777", "by ana777 person777", "by Bob19999 Person19999?"):
        (mention,) = linker.link(text, calendar, frozenset({"author"}))
        assert mention.choices[0].value in values


@given(st.text(max_size=80))
@settings(max_examples=60, deadline=None)
def test_mentions_stand_in_the_text_and_do_not_overlap(text: str) -> None:
    linker = Linker(HANDBOOK)
    mentions = linker.link(text, Calendar(dt.date(2026, 3, 15)), frozenset(HANDBOOK.by_name))
    for mention in mentions:
        assert text[mention.start : mention.end] == mention.words
        assert mention.choices
    for first, second in pairwise(mentions):
        assert first.end <= second.start


NAMED = Collection(
    name="named",
    version="1",
    fields=(
        Field(
            name="department",
            type=FieldType.STRING,
            aliases=("unit", "所属单位"),
            values=("HR", "Legal"),
            default="unassigned",
        ),
        Field(name="office", type=FieldType.STRING, values=("HR", "Oslo")),
    ),
)


@pytest.mark.parametrize("question", ["documents whose unit is HR", "所属单位是HR的文档"])
def test_an_alias_names_its_field(question: str) -> None:
    (mention,) = (m for m in link(question, NAMED) if m.words == "HR")
    assert mention.choices[0].field == "department"


def test_the_word_for_missing_values_is_known() -> None:
    (mention,) = link("unassigned documents", NAMED)
    assert [(c.field, c.value) for c in mention.choices] == [("department", "unassigned")]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("15万以内的车", ("price(万元)", 15)),
        ("4.5分以上的车", ("评分", 4.5)),
        ("cars below 2 million", ("turnover", 2)),
        ("cars below 90000 km", ("km", 90000)),
        ("under 1500 euros", ("price_eur", 1500)),
        ("不超过200欧元", ("price_eur", 200)),
        ("lighter than 3 kilos", ("weight_kg", 3)),
        ("under two hundred euros", ("price_eur", 200)),
        ("under a thousand euros", ("price_eur", 1000)),
    ],
)
def test_a_number_takes_the_unit_of_its_field(question: str, expected: tuple[str, float]) -> None:
    cars = Collection(
        name="cars",
        fields=(
            Field(name="price(万元)", type=FieldType.NUMBER),
            Field(name="评分", type=FieldType.NUMBER),
            Field(name="turnover", type=FieldType.NUMBER, description="in millions"),
            Field(name="km", type=FieldType.INT),
            Field(name="price_eur", type=FieldType.NUMBER),
            Field(name="weight_kg", type=FieldType.NUMBER),
        ),
    )
    (mention,) = (m for m in link(question, cars) if m.kind is MentionKind.NUMBER)
    assert expected in [(choice.field, choice.value) for choice in mention.choices]
