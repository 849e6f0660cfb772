"""Titles and running text are what a question asks for, not what it filters by."""

from __future__ import annotations

import pytest

from agent.planning.prose import is_free_text, is_prose
from schemas.collection import Collection, Field, FieldType, Profile
from tests.planning_cases import link


def texts(name: str, *values: str, rows: int | None = None, distinct: int | None = None) -> Field:
    profile = Profile(
        rows=len(values) if rows is None else rows,
        distinct=len(values) if distinct is None else distinct,
        complete=True,
    )
    return Field(name=name, type=FieldType.STRING, values=values, profile=profile)


TITLES = ("财务部差旅管理制度", "人事部考勤制度", "研发部代码规范", "Onboarding checklist")
CONTENT = ("差旅费用标准", "上下班打卡要求", "代码评审要求", "first day at work")
COMPANY = Collection(
    name="company",
    version="1",
    fields=(
        texts("标题", *TITLES),
        texts("内容", *CONTENT),
        texts("部门", "财务部", "人事部", "研发部", rows=4),
        texts("type", "checklist", "制度", rows=4),
        texts("主题", "差旅", "考勤", rows=4),
    ),
)
LONG = ("A robust watch for runners", "An elegant watch for the office", "A light laptop to carry")
SOURCES = ("The Independent - Life", "The Age of Home Goods", "BBC News of the World")


@pytest.mark.parametrize(
    ("field", "free", "prose"),
    [
        (texts("title", *TITLES), True, False),
        (texts("Document Title", *TITLES), True, False),
        (texts("内容", *CONTENT), True, True),
        (texts("short_description", *CONTENT), True, True),
        (texts("blurb", *LONG), True, False),
        (texts("owner", "Ada", "Grace", "Alan"), False, False),
        (texts("title", "Draft", "Final", rows=9), False, False),
        (texts("content", "video", "audio", rows=9), False, False),
        (texts("source", *SOURCES, rows=30), False, False),
        (texts("title", "Only one", "Another"), False, False),
        (Field(name="title", type=FieldType.STRING, values=TITLES), False, False),
        (texts("subtitle", *map(str, range(30))), False, False),
        (texts("notes", *(f"what was said on day {n}" for n in range(30))), True, True),
        (Field(name="title", type=FieldType.STRING), False, False),
    ],
)
def test_what_no_two_documents_share_is_free_text(field: Field, free: bool, prose: bool) -> None:
    assert (is_free_text(field), is_prose(field)) == (free, prose)


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("差旅费用标准是什么", []),
        ("代码评审要求", []),
        ("财务部的制度", [("财务部", "部门"), ("制度", "type")]),
        ("差旅的制度", [("差旅", "主题"), ("制度", "type")]),
        ("who wrote the onboarding checklist?", [("checklist", "type")]),
        ("人事部考勤制度", [("人事部考勤制度", "标题")]),
    ],
)
def test_neither_titles_nor_texts_offer_their_parts(
    question: str, found: list[tuple[str, str]]
) -> None:
    mentions = link(question, COMPANY)
    assert [(m.words, m.choices[0].field) for m in mentions] == found
